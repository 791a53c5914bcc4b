import { equal, type JsonObject, Quantity } from 'riata/object';
import { metaOf, recordOf, textOf } from '../../../resource/metadata.js';
import { goQuote } from '../../../status/go-quote.js';
import { forbiddenWrite, type Refusal } from '../../../status/refusal.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { amountsOf } from '../quota/amounts.js';
import { podResources } from '../quota/pod-quota.js';
import { findObject, forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';

/** Refuses a resize that the Pod's node cannot fulfil (`PodResizeValidator`). */
export function podResizeValidator({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  return synchronousPlugin({
    name: 'PodResizeValidator',
    handles: ({ operation, resource, subresource }) =>
      operation === 'UPDATE' && resource.table === '/pods' && subresource === 'resize',
    check(pod, attributes) {
      const name = textOf(recordOf(pod.spec).nodeName);
      if (name === '' || equal(pod.spec ?? null, attributes.oldObject?.spec ?? null)) return;
      const node = findObject(storage, '/nodes', name);
      if (node === undefined) throw forbiddenRequest(attributes, `node ${goQuote(name)} not found`);
      const system = textOf(recordOf(metaOf(node).labels)['kubernetes.io/os']) || 'linux';
      if (system !== 'linux') {
        const why = `pod resize is only supported on linux nodes, node ${goQuote(name)} is ${goQuote(system)}`;
        throw refusal(attributes, why, 'UnsupportedPlatform');
      }
      const exceeded = exceededBy(pod, node);
      if (exceeded.length === 0) return;
      const why = `node didn't have enough allocatable resources: ${exceeded.join('; ')}`;
      throw refusal(attributes, why, 'NodeCapacity');
    },
  });
}

function exceededBy(pod: JsonObject, node: JsonObject): readonly string[] {
  const requests = podResources(pod, 'requests');
  const allocatable = amountsOf(recordOf(node.status).allocatable);
  const none = Quantity.of(0);
  const [cpu, most] = [requests.get('cpu') ?? none, allocatable.get('cpu') ?? none];
  const [memory, mostMemory] = [requests.get('memory') ?? none, allocatable.get('memory') ?? none];
  return [
    ...(cpu.compare(most) > 0 ? [`cpu, requested: ${cpu.milliValue()}, allocatable: ${most.milliValue()}`] : []),
    ...(memory.compare(mostMemory) > 0
      ? [`memory, requested: ${memory.value()}, allocatable: ${mostMemory.value()}`]
      : []),
  ];
}

function refusal({ resource, name }: AdmissionAttributes, why: string, reason: string): Refusal {
  return forbiddenWrite(resource, name, why, [{ reason }]);
}
