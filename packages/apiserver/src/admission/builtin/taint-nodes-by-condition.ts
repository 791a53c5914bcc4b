import { recordOf, recordsOf } from '../../resource/metadata.js';
import type { AdmissionPlugin } from '../admission.js';
import { creates, synchronousPlugin } from './synchronous-plugin.js';

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** Keeps Pods away from new nodes until they are known to be ready (`TaintNodesByCondition`). */
export function taintNodesByCondition(): AdmissionPlugin {
  return synchronousPlugin({
    name: 'TaintNodesByCondition',
    handles: (attributes) => creates(attributes, '/nodes'),
    change(node) {
      const spec = recordOf(node.spec);
      const taints = recordsOf(spec.taints);
      if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return node;
      return { ...node, spec: { ...spec, taints: [...taints, notReady] } };
    },
  });
}
