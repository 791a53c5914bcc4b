import { isJsonObject, type JsonObject } from 'riata/object';
import { qosClass } from '../../../kinds/pods/qos-class.js';
import { metaOf, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { Refusal } from '../../../status/refusal.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionPlugin } from '../../admission.js';
import { findObject, synchronousPlugin } from '../synchronous-plugin.js';
import { areCovered, mergeTolerations } from './merge-tolerations.js';

const defaults = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const allowed = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const memoryPressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

/**
 * Adds and restricts tolerations by annotations of the namespace (`PodTolerationRestriction`, without a configuration
 * file).
 */
export function podTolerationRestriction({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  const tolerationsOf = (namespace: string, key: string): readonly JsonObject[] => {
    const { annotations } = metaOf(findObject(storage, '/namespaces', namespace) ?? {});
    return parse(textOf(recordOf(annotations)[key]));
  };
  const check = ({ spec }: JsonObject, namespace: string) => {
    if (areCovered(recordsOf(recordOf(spec).tolerations), tolerationsOf(namespace, allowed))) return;
    const words = 'pod tolerations (possibly merged with namespace default tolerations)';
    throw new Refusal(500, '', `${words} conflict with its namespace whitelist`);
  };
  return synchronousPlugin({
    name: 'PodTolerationRestriction',
    handles: ({ operation, resource, subresource }) =>
      resource.table === '/pods' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    change(pod, { operation, namespace }) {
      const spec = recordOf(pod.spec);
      const extra = [
        ...(operation === 'CREATE' ? tolerationsOf(namespace, defaults) : []),
        ...(qosClass(pod) === 'BestEffort' ? [] : [memoryPressure]),
      ];
      const tolerations = mergeTolerations(recordsOf(spec.tolerations), extra);
      const made = extra.length === 0 ? pod : { ...pod, spec: { ...spec, tolerations } };
      check(made, namespace);
      return made;
    },
    check: (pod, { namespace }) => check(pod, namespace),
  });
}

function parse(text: string): readonly JsonObject[] {
  if (text === '') return [];
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list)) return list.filter(isJsonObject);
  } catch {
    // Reported below.
  }
  throw new Refusal(500, '', 'the tolerations in the annotations of the namespace must be a JSON list');
}
