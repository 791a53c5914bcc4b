import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, textOf } from '../../../resource/metadata.js';
import { Refusal } from '../../../status/refusal.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionPlugin } from '../../admission.js';
import { creates, findObject, forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';

const annotation = 'scheduler.alpha.kubernetes.io/node-selector';

/** Adds the node selector in a namespace's annotation to its Pods (`PodNodeSelector`, without a configuration file). */
export function podNodeSelector({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  const selectorOf = (namespace: string) => {
    const { annotations } = metaOf(findObject(storage, '/namespaces', namespace) ?? {});
    return parseLabels(textOf(recordOf(annotations)[annotation]));
  };
  const conflicts = (spec: JsonObject, selector: JsonObject) => {
    const own = recordOf(spec.nodeSelector);
    return Object.entries(selector).some(([key, value]) => own[key] !== undefined && own[key] !== value);
  };
  const words = 'pod node label selector conflicts with its namespace node label selector';
  return synchronousPlugin({
    name: 'PodNodeSelector',
    handles: (attributes) => creates(attributes, '/pods'),
    change(pod, attributes) {
      const spec = recordOf(pod.spec);
      const selector = selectorOf(attributes.namespace);
      if (conflicts(spec, selector)) throw forbiddenRequest(attributes, words);
      const nodeSelector = { ...selector, ...recordOf(spec.nodeSelector) };
      return Object.keys(nodeSelector).length === 0 ? pod : { ...pod, spec: { ...spec, nodeSelector } };
    },
    check(pod, attributes) {
      if (conflicts(recordOf(pod.spec), selectorOf(attributes.namespace))) throw forbiddenRequest(attributes, words);
    },
  });
}

/** `a=b,c=d` (`labels.ConvertSelectorToLabelsMap`). */
function parseLabels(text: string): JsonObject {
  if (text === '') return {};
  const pairs = text.split(',').map((part) => part.split('='));
  const wrong = pairs.find((pair) => pair.length !== 2);
  if (wrong !== undefined) throw new Refusal(500, '', `invalid selector: ${wrong.join('=')}`);
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key.trim(), value.trim()]));
}
