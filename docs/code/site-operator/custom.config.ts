import { deployment, operator } from '@riata/cli';
import { ResourceQuota } from 'riata/kinds';

export default operator({
  name: 'site-operator',
  image: 'registry.example.com/site-operator',
  run: () => import('./src/main.js'),
  objects: async (operator) => [
    ...(await deployment(operator, {
      replicas: 3,
      resources: { requests: { cpu: '100m', memory: '256Mi' }, limits: { memory: '512Mi' } },
      pod: { nodeSelector: { 'kubernetes.io/os': 'linux' }, priorityClassName: 'system-cluster-critical' },
    })),
    ResourceQuota({ metadata: { name: 'pods', namespace: operator.namespace }, spec: { hard: { pods: '10' } } }),
  ],
});
