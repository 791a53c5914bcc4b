import type { JsonObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import type { AdmissionPlugin } from '../../admission.js';
import { synchronousPlugin } from '../synchronous-plugin.js';

/** Adds tolerations for taints named after extended resources that a Pod requests (`ExtendedResourceToleration`). */
export function extendedResourceToleration(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'ExtendedResourceToleration',
    handles: ({ operation, resource, subresource }) =>
      resource.table === '/pods' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    change(pod) {
      const spec = recordOf(pod.spec);
      const containers = [...recordsOf(spec.containers), ...recordsOf(spec.initContainers)];
      const names = containers.flatMap(({ resources }) => Object.keys(recordOf(recordOf(resources).requests)));
      const added = [...new Set(names.filter(isExtended))].sort();
      if (added.length === 0) return pod;
      const tolerations = added.reduce(withToleration, recordsOf(spec.tolerations));
      return { ...pod, spec: { ...spec, tolerations } };
    },
  });
}

function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

function withToleration(all: readonly JsonObject[], key: string): readonly JsonObject[] {
  const added = { key, operator: 'Exists', effect: 'NoSchedule' };
  const isSame = (one: JsonObject) =>
    one.key === key && one.operator === added.operator && one.effect === added.effect && textOf(one.value) === '';
  // Replaces a toleration of the same taint, whatever its duration.
  return all.some(isSame) ? all.map((one) => (isSame(one) ? added : one)) : [...all, added];
}
