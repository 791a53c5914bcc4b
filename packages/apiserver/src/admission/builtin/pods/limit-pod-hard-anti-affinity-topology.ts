import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import type { AdmissionPlugin } from '../../admission.js';
import { forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';

const hostname = 'kubernetes.io/hostname';

/** Refuses required anti-affinity beyond the node (`LimitPodHardAntiAffinityTopology`). */
export function limitPodHardAntiAffinityTopology(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'LimitPodHardAntiAffinityTopology',
    handles: ({ operation, resource, subresource }) =>
      resource.table === '/pods' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    check({ spec }, attributes) {
      const { podAntiAffinity } = recordOf(recordOf(spec).affinity);
      const terms = recordsOf(recordOf(podAntiAffinity).requiredDuringSchedulingIgnoredDuringExecution);
      const other = terms.map(({ topologyKey }) => textOf(topologyKey)).find((key) => key !== hostname);
      if (other === undefined) return;
      const what = 'affinity.PodAntiAffinity.RequiredDuringScheduling';
      throw forbiddenRequest(attributes, `${what} has TopologyKey ${other} but only key ${hostname} is allowed`);
    },
  });
}
