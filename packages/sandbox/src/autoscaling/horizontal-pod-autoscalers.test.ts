import { TestEnvironment } from '@riata/testing';
import { Deployment, Event, HorizontalPodAutoscaler, Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { clusterControllers, nodeControllers, workloadControllers } from '../controllers.js';
import { makeNodes } from '../node/nodes.js';
import type { MetricValues } from './metrics.js';

type Spec = HorizontalPodAutoscaler['spec'];

const key = { namespace: 'default', name: 'web' };
const labels = { app: 'web' };
const cpu: Spec['metrics'] = [
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
];

async function start(
  spec: Partial<Spec>,
  replicas = 2,
  usage: (pod: Pod) => MetricValues | undefined = () => undefined,
) {
  const env = await TestEnvironment.start();
  await makeNodes(env.client, 3);
  await env.run(...workloadControllers(), ...clusterControllers({ metrics: usage }), ...nodeControllers());
  const resources = { requests: { cpu: '200m', memory: '64Mi' } };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1', resources }] } };
  await env.client.create(
    Deployment({ metadata: key, spec: { replicas, selector: { matchLabels: labels }, template } }),
  );
  await env.settle();
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const rest = { scaleTargetRef, maxReplicas: 10, metrics: cpu, ...spec } as Spec;
  await env.client.create(HorizontalPodAutoscaler({ metadata: key, spec: rest }));
  await env.settle();
  const autoscaler = () => env.client.get(HorizontalPodAutoscaler, key);
  return {
    env,
    autoscaler,
    replicas: async () => (await env.client.get(Deployment, key)).spec.replicas,
    condition: async (type: string) => {
      const { status } = await autoscaler();
      const found = status.conditions?.find((condition) => condition.type === type);
      return `${found?.status} ${found?.reason}`;
    },
    tick: async (time: `${number}s` | `${number}m` = '15s') => {
      await env.advance(time);
      await env.settle();
    },
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

test('replicas follow the usage of Pods, at most doubling, and go down after five minutes', async () => {
  let used = '200m';
  await using run = await start({}, 3, () => ({ cpu: used }));
  // 100 % of what is requested, and 50 % is the target.
  expect(await run.replicas()).toBe(6);
  const { status } = await run.autoscaler();
  expect(status.currentMetrics).toEqual([
    { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 100, averageValue: '200m' } } },
  ]);
  expect(status).toMatchObject({ currentReplicas: 3, desiredReplicas: 6, lastScaleTime: expect.any(String) });
  await run.tick();
  expect(await run.replicas()).toBe(10);
  expect(await run.condition('ScalingLimited')).toBe('True TooManyReplicas');
  used = '100m';
  await run.tick('30s');
  expect(await run.replicas()).toBe(10);
  await run.env.expectConverged();
  used = '20m';
  await run.tick('2m');
  expect(await run.replicas()).toBe(10);
  expect(await run.condition('AbleToScale')).toBe('True ScaleDownStabilized');
  await run.tick('5m');
  expect(await run.replicas()).toBe(2);
  const { items } = await run.env.client.list(Event, { namespace: 'default' });
  const own = items.filter(({ involvedObject }) => involvedObject.kind === 'HorizontalPodAutoscaler');
  expect(own.map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      'New size: 6; reason: cpu resource utilization (percentage of request) above target',
      'New size: 2; reason: All metrics below target',
    ]),
  );
});

test('a tenth more or less is tolerated, or as much as the autoscaler says', async () => {
  let used = '109m';
  await using run = await start({}, 4, () => ({ cpu: used }));
  expect(await run.replicas()).toBe(4);
  used = '113m';
  await run.tick();
  expect(await run.replicas()).toBe(5);
  await using strict = await start({ behavior: { scaleUp: { tolerance: '0.01' } } }, 4, () => ({ cpu: '103m' }));
  expect(await strict.replicas()).toBe(5);
});

test('policies limit how fast replicas come and go', async () => {
  let used = '1';
  const behavior: Spec['behavior'] = {
    scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] },
    scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Percent', value: 50, periodSeconds: 60 }] },
  };
  await using run = await start({ behavior }, 2, () => ({ cpu: used }));
  expect(await run.replicas()).toBe(4);
  expect(await run.condition('ScalingLimited')).toBe('True ScaleUpLimit');
  await run.tick('30s');
  expect(await run.replicas()).toBe(4);
  await run.tick('45s');
  expect(await run.replicas()).toBe(6);
  used = '1m';
  await run.tick('15s');
  expect(await run.replicas()).toBe(3);
  expect(await run.condition('ScalingLimited')).toBe('True ScaleDownLimit');
  await run.tick('30s');
  expect(await run.replicas()).toBe(3);
  const body = { spec: { behavior: { scaleDown: { selectPolicy: 'Disabled' } } } };
  await run.env.client.patch(HorizontalPodAutoscaler, key, { type: 'merge', body });
  await run.tick('5m');
  expect(await run.replicas()).toBe(3);
});

test('replicas stay within minimum and maximum; none at all switches the autoscaler off', async () => {
  await using run = await start({ minReplicas: 4 }, 2, () => ({ cpu: '1m' }));
  expect(await run.replicas()).toBe(4);
  const scale = async (replicas: number) => {
    await run.env.client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas } } });
    await run.env.settle();
    await run.tick();
  };
  await scale(20);
  expect(await run.replicas()).toBe(10);
  await scale(0);
  expect(await run.replicas()).toBe(0);
  expect(await run.condition('ScalingActive')).toBe('False ScalingDisabled');
});

test('metrics of Pods, objects and the outside; the one that asks for most decides', async () => {
  const metrics: Spec['metrics'] = [
    { type: 'Pods', pods: { metric: { name: 'rps' }, target: { type: 'AverageValue', averageValue: '10' } } },
    { type: 'External', external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '5' } } },
    {
      type: 'Object',
      object: {
        describedObject: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main' },
        ...{ metric: { name: 'hits' }, target: { type: 'Value', value: '100' } },
      },
    },
  ];
  await using run = await start({ metrics }, 3, () => ({ rps: 20 }));
  expect(await run.replicas()).toBe(6);
  expect(await run.condition('ScalingActive')).toBe('True ValidMetricFound');
  const annotations = { 'sandbox.riata.dev/metrics': JSON.stringify({ queue: 45, hits: '50' }) };
  await run.env.client.patch(HorizontalPodAutoscaler, key, { type: 'merge', body: { metadata: { annotations } } });
  await run.env.settle();
  await run.tick();
  expect(await run.replicas()).toBe(10);
  const { status } = await run.autoscaler();
  expect(status.currentMetrics?.map(({ pods, external, object }) => (pods ?? external ?? object)?.current)).toEqual([
    { averageValue: '20' },
    { averageValue: '4500m' },
    { value: '50' },
  ]);
});

test('does nothing without metrics or a target, and conditions show why', async () => {
  await using run = await start({});
  expect(await run.replicas()).toBe(2);
  expect(await run.condition('ScalingActive')).toBe('False FailedGetResourceMetric');
  await run.env.expectConverged();
  const missing = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'missing' };
  const body = { spec: { scaleTargetRef: missing } };
  await run.env.client.patch(HorizontalPodAutoscaler, key, { type: 'merge', body });
  await run.env.settle();
  expect(await run.condition('AbleToScale')).toBe('False FailedGetScale');
});

test('a Pod reports its usage by an annotation', async () => {
  await using run = await start({});
  const { items } = await run.env.client.list(Pod, { namespace: 'default' });
  for (const { metadata } of items) {
    const annotations = { 'sandbox.riata.dev/metrics': '{ "cpu": "150m" }' };
    await run.env.client.patch(Pod, metadata, { type: 'merge', body: { metadata: { annotations } } });
  }
  await run.tick();
  expect(await run.replicas()).toBe(3);
});
