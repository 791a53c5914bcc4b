import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { autoscalerFromV1, autoscalerToV1 } from './autoscaler-conversion.js';

const cpu = (averageUtilization: number) => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
});
const autoscaler = (spec: JsonObject): JsonObject => ({
  kind: 'HorizontalPodAutoscaler',
  apiVersion: 'autoscaling/v2',
  metadata: { name: 'a', annotations: { own: 'x' } },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3, ...spec },
  status: { desiredReplicas: 0, currentMetrics: null },
});
const metric = { name: 'm' };

test.each([
  ['one metric', { metrics: [cpu(50)] }],
  [
    'many metrics',
    {
      metrics: [
        { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '5' } } },
        { type: 'External', external: { metric, target: { type: 'Value', value: '5' } } },
        cpu(50),
      ],
    },
  ],
  ['rules', { metrics: [cpu(1)], behavior: { scaleUp: { policies: [{ type: 'Pods', value: 1, periodSeconds: 2 }] } } }],
])('an autoscaler with %s is the same after a way there and back', (_, spec) => {
  const object = autoscaler(spec);
  const old = autoscalerToV1(object);
  expect(old).toMatchObject({ apiVersion: 'autoscaling/v1', metadata: { annotations: { own: 'x' } } });
  expect(autoscalerFromV1(old)).toEqual(object);
});

test('an old one without a metric is given one, and notes that cannot be read are passed over', () => {
  const annotations = { 'autoscaling.alpha.kubernetes.io/metrics': '{' };
  const old = { ...autoscaler({}), apiVersion: 'autoscaling/v1', metadata: { name: 'a', annotations } };
  expect(autoscalerFromV1(old)).toMatchObject({ metadata: { name: 'a' }, spec: { metrics: [cpu(80)] } });
});
