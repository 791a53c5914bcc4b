import { equal, type JsonObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { goQuote } from '../../../status/go-quote.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { creates, findObject, forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';
import { mergeTolerations } from './merge-tolerations.js';

const otherOverhead = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** Gives Pods the overhead and the scheduling of their RuntimeClass (`RuntimeClass`). */
export function runtimeClass({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  const classOf = (spec: JsonObject, attributes: AdmissionAttributes): JsonObject => {
    if (spec.runtimeClassName === undefined) return {};
    const name = textOf(spec.runtimeClassName);
    const found = findObject(storage, 'node.k8s.io/runtimeclasses', name);
    if (found !== undefined) return found;
    throw forbiddenRequest(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`);
  };
  return synchronousPlugin({
    name: 'RuntimeClass',
    handles: (attributes) => creates(attributes, '/pods'),
    change(pod, attributes) {
      const spec = recordOf(pod.spec);
      const { overhead, scheduling } = classOf(spec, attributes);
      const { podFixed } = recordOf(overhead);
      const isSet = Object.keys(recordOf(spec.overhead)).length > 0;
      if (overhead !== undefined && isSet && !equal(podFixed ?? {}, spec.overhead)) {
        throw forbiddenRequest(attributes, otherOverhead);
      }
      const made = podFixed === undefined ? spec : { ...spec, overhead: podFixed };
      const whole = scheduling === undefined ? made : withScheduling(made, recordOf(scheduling), attributes);
      return whole === spec ? pod : { ...pod, spec: whole };
    },
    check(pod, attributes) {
      const spec = recordOf(pod.spec);
      const { overhead } = classOf(spec, attributes);
      if (overhead === undefined && spec.overhead !== undefined) {
        const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
        throw forbiddenRequest(attributes, why);
      }
      if (overhead !== undefined && !equal(recordOf(overhead).podFixed ?? {}, spec.overhead ?? {})) {
        throw forbiddenRequest(attributes, otherOverhead);
      }
    },
  });
}

function withScheduling(spec: JsonObject, scheduling: JsonObject, attributes: AdmissionAttributes): JsonObject {
  const [own, more] = [recordOf(spec.nodeSelector), recordOf(scheduling.nodeSelector)];
  for (const [key, value] of Object.entries(more)) {
    if (own[key] === undefined || own[key] === value) continue;
    const where = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`;
    throw forbiddenRequest(attributes, `conflict: ${where}`);
  }
  const nodeSelector = { ...own, ...more };
  const tolerations = mergeTolerations(recordsOf(spec.tolerations), recordsOf(scheduling.tolerations));
  return {
    ...spec,
    ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }),
    ...(tolerations.length === 0 ? {} : { tolerations }),
  };
}
