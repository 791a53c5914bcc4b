import type { PodFate } from '@riata/sandbox';
import { isTooManyRequests } from 'riata';
import { DaemonSet, Deployment, Event, Pod, PodDisruptionBudget } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { describeClusters, eventually, fateAnnotation } from './cluster.js';

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = (fate?: PodFate) => ({
  metadata: { labels, ...(fate && { annotations: { [fateAnnotation]: JSON.stringify(fate) } }) },
  spec: { containers: [{ name: 'web', image: 'web:1' }], terminationGracePeriodSeconds: 1 },
});

describeClusters((cluster) => {
  const budgetOf = async (at: { readonly namespace: string; readonly name: string }) => {
    const { status, metadata } = await cluster().client.get(PodDisruptionBudget, at);
    expect(status.observedGeneration).toBe(metadata.generation);
    const { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, conditions = [] } = status;
    const said = conditions.map(
      ({ type, status: is, reason, message, observedGeneration }) =>
        `${type} ${is} ${reason} ${message} ${observedGeneration}`,
    );
    return { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods, said };
  };
  const enough = (generation: number) => [`DisruptionAllowed True SufficientPods  ${generation}`];
  const tooFew = (generation: number) => [`DisruptionAllowed False InsufficientPods  ${generation}`];
  const evict = (pod: Pod) =>
    cluster()
      .client.subresource('eviction')
      .create(Pod, pod.metadata, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { namespace: pod.metadata.namespace, name: pod.metadata.name },
      });

  describe.concurrent('PodDisruptionBudgets', () => {
    test('count the Pods that are healthy, and those that may go', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      await client.create(PodDisruptionBudget({ metadata: at, spec: { minAvailable: 2, selector } }));
      await eventually(async () =>
        expect(await budgetOf(at)).toEqual({
          ...{ currentHealthy: 0, desiredHealthy: 2, disruptionsAllowed: 0, expectedPods: 0 },
          said: tooFew(1),
        }),
      );
      await client.create(Deployment({ metadata: at, spec: { replicas: 3, selector, template: template() } }));
      await eventually(async () =>
        expect(await budgetOf(at)).toEqual({
          ...{ currentHealthy: 3, desiredHealthy: 2, disruptionsAllowed: 1, expectedPods: 3 },
          said: enough(1),
        }),
      );
      for (const [spec, desiredHealthy] of [
        [{ minAvailable: '50%' }, 2],
        [{ minAvailable: '34%' }, 2],
        [{ minAvailable: null, maxUnavailable: 2 }, 1],
        [{ minAvailable: null, maxUnavailable: '34%' }, 1],
      ] as const) {
        await client.patch(PodDisruptionBudget, at, {
          type: 'merge',
          body: { spec: { maxUnavailable: null, ...spec } },
        });
        const { generation } = (await client.get(PodDisruptionBudget, at)).metadata;
        await eventually(async () =>
          expect(await budgetOf(at)).toEqual({
            ...{ currentHealthy: 3, desiredHealthy, disruptionsAllowed: 3 - desiredHealthy, expectedPods: 3 },
            said: enough(generation as number),
          }),
        );
      }
    });

    test('let no more Pods be evicted than they allow', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      await client.create(
        Deployment({ metadata: at, spec: { replicas: 2, selector, template: template({ stopsAfter: '0s' }) } }),
      );
      await client.create(PodDisruptionBudget({ metadata: at, spec: { maxUnavailable: 1, selector } }));
      await eventually(async () => expect((await budgetOf(at)).disruptionsAllowed).toBe(1));
      const [first, second] = (await client.list(Pod, { namespace: at.namespace })).items;
      await evict(first!);
      // Allowed again only when another Pod has taken its place; until then the server refuses.
      await evict(second!).catch((error: unknown) => expect(isTooManyRequests(error)).toBe(true));
      await eventually(async () => {
        const { currentHealthy, disruptionsAllowed } = await budgetOf(at);
        expect({ currentHealthy, disruptionsAllowed }).toEqual({ currentHealthy: 2, disruptionsAllowed: 1 });
        const { disruptedPods = {} } = (await client.get(PodDisruptionBudget, at)).status;
        expect(disruptedPods).toEqual({});
        const pods = (await client.list(Pod, { namespace: at.namespace })).items;
        expect(pods.map(({ metadata }) => metadata.name)).not.toContain(first!.metadata.name);
      });
      await client.patch(PodDisruptionBudget, at, { type: 'merge', body: { spec: { maxUnavailable: 0 } } });
      await eventually(async () => expect((await budgetOf(at)).disruptionsAllowed).toBe(0));
      const [left] = (await client.list(Pod, { namespace: at.namespace })).items;
      await expect(evict(left!)).rejects.toThrow("Cannot evict pod as it would violate the pod's disruption budget.");
    });

    test('do not count Pods that are not ready', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      await client.create(
        Deployment({ metadata: at, spec: { replicas: 2, selector, template: template({ readyAfter: 'never' }) } }),
      );
      await client.create(PodDisruptionBudget({ metadata: at, spec: { maxUnavailable: 1, selector } }));
      await eventually(async () =>
        expect(await budgetOf(at)).toEqual({
          ...{ currentHealthy: 0, desiredHealthy: 1, disruptionsAllowed: 0, expectedPods: 2 },
          said: tooFew(1),
        }),
      );
    });

    test('report Pods without a controller, and controllers that have no scale', async () => {
      const { client, newNamespace } = cluster();
      const at = { namespace: await newNamespace(), name: 'web' };
      const events = async () =>
        (await client.list(Event, { namespace: at.namespace })).items
          .filter(({ involvedObject }) => involvedObject.kind === 'PodDisruptionBudget')
          .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
      const matchExpressions = [{ key: 'app', operator: 'In' as const, values: ['web', 'db'] }];
      const both = { ...selector, matchExpressions };
      await client.create(PodDisruptionBudget({ metadata: at, spec: { maxUnavailable: 1, selector: both } }));
      await eventually(async () => expect(await events()).toContain('Normal NoPods No matching pods found'));
      const spec = { containers: [{ name: 'web', image: 'web:1' }] };
      await client.create(Pod({ metadata: { ...at, labels }, spec }));
      await eventually(async () => {
        expect(await events()).toContain(
          'Warning UnmanagedPods Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: web,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[web db],},},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
        );
        expect(await budgetOf(at)).toMatchObject({ currentHealthy: 1, expectedPods: 0, disruptionsAllowed: 0 });
      });
      await client.create(DaemonSet({ metadata: at, spec: { selector, template: template() } }));
      await eventually(async () => {
        const { status } = await client.get(PodDisruptionBudget, at);
        expect(status.conditions).toMatchObject([
          {
            type: 'DisruptionAllowed',
            status: 'False',
            reason: 'SyncFailed',
            message: 'daemonsets.apps does not implement the scale subresource',
          },
        ]);
        expect(await events()).toContain(
          'Warning CalculateExpectedPodCountFailed Failed to calculate the number of expected pods: daemonsets.apps does not implement the scale subresource',
        );
      });
    });
  });
});
