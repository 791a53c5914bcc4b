import { createClient, isTooManyRequests } from 'riata';
import { Pod, PodDisruptionBudget } from 'riata/kinds';
import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

const labels = { app: 'a' };
const eviction = (name: string) => ({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } });

test('an evicted Pod says why, goes within its grace, and its budget remembers it', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock });
  await using client = createClient(server.config, { runtime: { clock } });
  const namespace = 'default';
  for (const name of ['a', 'b']) {
    const spec = { nodeName: 'n', terminationGracePeriodSeconds: 30, containers: [{ name: 'c', image: 'i' }] };
    await client.create(Pod({ metadata: { namespace, name, labels }, spec }));
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.status.patch(Pod, { namespace, name }, { type: 'merge', body: { status } as never });
  }
  const selector = { matchLabels: labels };
  await client.create(
    PodDisruptionBudget({ metadata: { namespace, name: 'keep' }, spec: { minAvailable: 1, selector } }),
  );
  const counts = {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
    conditions: [],
  };
  const at = { namespace, name: 'keep' };
  await client.status.patch(PodDisruptionBudget, at, { type: 'merge', body: { status: counts } as never });
  const before = await client.get(Pod, { namespace, name: 'a' });

  await client.subresource('eviction').create(Pod, { namespace, name: 'a' }, eviction('a'));
  const going = await client.get(Pod, { namespace, name: 'a' });
  expect(going.metadata.deletionGracePeriodSeconds).toBe(30);
  // The server itself wrote: the condition has no other owner.
  expect(going.metadata.managedFields).toEqual(before.metadata.managedFields);
  const now = new Date(clock.now()).toISOString().replace(/\.\d+/, '');
  expect(going.status?.conditions?.at(-1)).toEqual({
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  });
  const { status } = await client.get(PodDisruptionBudget, at);
  expect(status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { a: now } });
  expect(status?.conditions).toMatchObject([
    { type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' },
  ]);

  const refused = client.subresource('eviction').create(Pod, { namespace, name: 'b' }, eviction('b'));
  await expect(refused).rejects.toSatisfy(isTooManyRequests);
});
