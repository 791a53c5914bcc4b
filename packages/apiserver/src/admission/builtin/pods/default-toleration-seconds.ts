import { recordOf, recordsOf } from '../../../resource/metadata.js';
import type { AdmissionPlugin } from '../../admission.js';
import { synchronousPlugin } from '../synchronous-plugin.js';

const taints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/** Lets Pods stay for a while on a node that isn't ready or can't be reached (`DefaultTolerationSeconds`). */
export function defaultTolerationSeconds(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'DefaultTolerationSeconds',
    handles: ({ operation, resource, subresource }) =>
      resource.table === '/pods' && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
    change(pod) {
      const spec = recordOf(pod.spec);
      const tolerations = recordsOf(spec.tolerations);
      const missing = taints.filter(
        (taint) =>
          !tolerations.some(
            ({ key = '', effect = '' }) => (key === taint || key === '') && (effect === 'NoExecute' || effect === ''),
          ),
      );
      if (missing.length === 0) return pod;
      const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
      return { ...pod, spec: { ...spec, tolerations: [...tolerations, ...added] } };
    },
  });
}
