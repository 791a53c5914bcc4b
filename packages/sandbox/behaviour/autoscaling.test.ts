import { Deployment, Event, HorizontalPodAutoscaler } from 'riata/kinds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeClusters, eventually } from './cluster.js';
import { serveMetrics } from './metrics-api.js';

type Spec = HorizontalPodAutoscaler['spec'];

const labels = { app: 'web' };
const name = 'web';

describeClusters(
  (cluster) => {
    let metrics: AsyncDisposable | undefined;
    beforeAll(async () => {
      if (process.env.RIATA_CONTROL_PLANE !== undefined) metrics = await serveMetrics(cluster().client);
    });
    afterAll(() => metrics?.[Symbol.asyncDispose]());

    /** A Deployment whose Pods all report the same usage, and an autoscaler for it. */
    async function start(spec: Partial<Spec>, replicas: number, usage: object | undefined) {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const key = { namespace, name };
      const resources = { requests: { cpu: '200m', memory: '64Mi' } };
      const annotations = usage && { 'sandbox.riata.dev/metrics': JSON.stringify(usage) };
      const template = {
        metadata: { labels, ...(annotations && { annotations }) },
        spec: { containers: [{ name, image: 'web:1', resources }], terminationGracePeriodSeconds: 1 },
      };
      await client.create(
        Deployment({ metadata: key, spec: { replicas, selector: { matchLabels: labels }, template } }),
      );
      await eventually(async () => expect((await client.get(Deployment, key)).status.readyReplicas).toBe(replicas));
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
      const target = { type: 'Utilization', averageUtilization: 50 };
      const usual = { metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] };
      const rest = { scaleTargetRef, maxReplicas: 10, ...usual, ...spec } as Spec;
      await client.create(HorizontalPodAutoscaler({ metadata: key, spec: rest }));
      const seen = async () => {
        const { status } = await client.get(HorizontalPodAutoscaler, key);
        const conditions = status.conditions
          ?.map((one) => `${one.type} ${one.status} ${one.reason}: ${one.message}`)
          .sort();
        const deployment = await client.get(Deployment, key);
        return { replicas: deployment.spec.replicas, conditions, metrics: status.currentMetrics };
      };
      return { key, seen };
    }

    describe.concurrent('autoscaling', () => {
      test('too much usage: more replicas, and an event', async () => {
        const { client } = cluster();
        const { key, seen } = await start({}, 2, { cpu: '150m', memory: '10Mi' });
        await eventually(async () => expect((await seen()).replicas).toBeGreaterThanOrEqual(3));
        await eventually(async () => {
          const { items } = await client.list(Event, { namespace: key.namespace });
          const own = items.filter(({ involvedObject }) => involvedObject.kind === 'HorizontalPodAutoscaler');
          expect(own.map(({ reason, message }) => `${reason}: ${message}`)).toContain(
            'SuccessfulRescale: New size: 3; reason: cpu resource utilization (percentage of request) above target',
          );
        });
      });

      test('usage within the tolerance: nothing changes', async () => {
        const { seen } = await start({}, 3, { cpu: '105m' });
        await eventually(async () =>
          expect(await seen()).toEqual({
            replicas: 3,
            conditions: [
              'AbleToScale True ReadyForNewScale: recommended size matches current size',
              'ScalingActive True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)',
              'ScalingLimited False DesiredWithinRange: the desired count is within the acceptable range',
            ],
            metrics: [
              {
                type: 'Resource',
                resource: { name: 'cpu', current: { averageUtilization: 52, averageValue: '105m' } },
              },
            ],
          }),
        );
      });

      test('little usage: fewer replicas only after a while, unless the behavior says otherwise', async () => {
        const patient = await start({}, 4, { cpu: '10m' });
        const behavior = {
          scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 600 }] },
        };
        const hasty = await start({ behavior }, 4, { cpu: '10m' });
        await eventually(async () => expect((await hasty.seen()).replicas).toBe(3));
        await eventually(async () => {
          const { conditions } = await hasty.seen();
          expect(conditions?.[2]).toBe(
            'ScalingLimited True ScaleDownLimit: the desired replica count is decreasing faster than the maximum scale rate',
          );
        });
        await eventually(async () => {
          const { replicas, conditions } = await patient.seen();
          expect(replicas).toBe(4);
          expect(conditions?.[0]).toBe(
            'AbleToScale True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation',
          );
        });
      });

      test('an amount as the target, and a maximum', async () => {
        const target = { type: 'AverageValue', averageValue: '10Mi' };
        const metrics = [{ type: 'Resource', resource: { name: 'memory', target } }];
        const { seen } = await start({ maxReplicas: 3, metrics }, 2, { memory: '64Mi' });
        await eventually(async () => expect((await seen()).replicas).toBe(3));
        await eventually(async () => {
          const { conditions, metrics: current } = await seen();
          expect(conditions?.slice(1)).toEqual([
            'ScalingActive True ValidMetricFound: the HPA was able to successfully calculate a replica count from memory resource',
            'ScalingLimited True TooManyReplicas: the desired replica count is more than the maximum replica count',
          ]);
          expect(current).toEqual([
            { type: 'Resource', resource: { name: 'memory', current: { averageValue: '64Mi' } } },
          ]);
        });
      });

      test('no metrics, and no target: conditions show it', async () => {
        const blind = await start({}, 1, undefined);
        const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'missing' };
        const lost = await start({ scaleTargetRef }, 1, undefined);
        await eventually(async () =>
          expect((await blind.seen()).conditions).toEqual([
            "AbleToScale True SucceededGetScale: the HPA controller was able to get the target's current scale",
            'ScalingActive False FailedGetResourceMetric: the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API',
          ]),
        );
        await eventually(async () =>
          expect((await lost.seen()).conditions).toEqual([
            `AbleToScale False FailedGetScale: the HPA controller was unable to get the target's current scale: deployments.apps "missing" not found`,
          ]),
        );
      });
    });
  },
  { controllers: ['horizontalpodautoscaling'] },
);
