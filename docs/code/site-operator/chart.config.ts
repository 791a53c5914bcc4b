import { chart, deployment, onlyIf, operator } from '@riata/cli';
import { ResourceQuota } from 'riata/kinds';
import { z } from 'zod';

const siteOperator = operator({
  name: 'site-operator',
  image: 'registry.example.com/site-operator',
  run: () => import('./src/main.js'),
});
export default siteOperator;

export const siteChart = chart(siteOperator, {
  values: z.object({
    replicas: z.int().default(2).describe('Pods at once.'),
    image: z.object({ repository: z.string().default(siteOperator.image), tag: z.string().default('1.0.0') }),
    nodeSelector: z.record(z.string(), z.string()).optional(),
    quota: z.boolean().default(false).describe('Limits the Pods of the namespace.'),
  }),
  objects: async (v, { release: { namespace } }) => [
    ...(await deployment(siteOperator, {
      namespace,
      replicas: v.replicas,
      image: `${v.image.repository}:${v.image.tag}`,
      pod: { nodeSelector: v.nodeSelector },
    })),
    ...onlyIf(v.quota, [ResourceQuota({ metadata: { name: 'pods', namespace }, spec: { hard: { pods: '10' } } })]),
  ],
});
