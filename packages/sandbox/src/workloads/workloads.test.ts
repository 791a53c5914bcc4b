import { type InstallableKind, TestEnvironment } from '@riata/testing';
import { defineKind } from 'riata';
import {
  CronJob,
  DaemonSet,
  Deployment,
  EndpointSlice,
  Endpoints,
  Event,
  Job,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
} from 'riata/kinds';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { nodeControllers, workloadControllers } from '../controllers.js';
import type { KubeletOptions } from '../node/kubelet.js';
import { makeNodes } from '../node/nodes.js';

const namespace = 'default';
const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };

async function sandbox(fate?: KubeletOptions['fate'], kinds: readonly InstallableKind[] = []) {
  const env = await TestEnvironment.start({ kinds });
  await makeNodes(env.client, 3);
  await env.run(...workloadControllers(), ...nodeControllers({ ...(fate && { fate }) }));
  return env;
}

async function reported(env: TestEnvironment, name: string): Promise<string[]> {
  const { items } = await env.client.list(Event, { namespace });
  return items
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message, count }) => `${reason} ${message} ×${count ?? 1}`)
    .sort();
}

test('workloads that have what they ask for cause no further writes', async () => {
  await using env = await sandbox();
  const { client } = env;
  const many = { replicas: 2, serviceName: 'db', selector, template };
  await client.create(StatefulSet({ metadata: { namespace, name: 'db' }, spec: many }));
  const agent = { ...template, metadata: { labels: { app: 'agent' } } };
  const agents = { selector: { matchLabels: { app: 'agent' } }, template: agent };
  await client.create(DaemonSet({ metadata: { namespace, name: 'agent' }, spec: agents }));
  const old = { ...template, metadata: { labels: { app: 'old' } } };
  await client.create(
    ReplicationController({ metadata: { namespace, name: 'old' }, spec: { replicas: 2, template: old } }),
  );
  const none = { matchLabels: { app: 'none' } };
  await client.create(
    PodDisruptionBudget({ metadata: { namespace, name: 'none' }, spec: { maxUnavailable: 1, selector: none } }),
  );
  await client.create(
    PodDisruptionBudget({ metadata: { namespace, name: 'db' }, spec: { maxUnavailable: 1, selector } }),
  );
  await client.create(Service({ metadata: { namespace, name: 'db' }, spec: { selector: labels, clusterIP: 'None' } }));
  await client.create(Service({ metadata: { namespace, name: 'far' }, spec: { ports: [{ port: 80 }] } }));
  const far = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80, protocol: 'TCP' as const }] }];
  await client.create(Endpoints({ metadata: { namespace, name: 'far' }, subsets: far }));
  await env.settle();
  expect((await client.get(StatefulSet, { namespace, name: 'db' })).status.readyReplicas).toBe(2);
  expect((await client.get(DaemonSet, { namespace, name: 'agent' })).status.numberReady).toBe(3);
  expect((await client.get(ReplicationController, { namespace, name: 'old' })).status.readyReplicas).toBe(2);
  expect((await client.get(PodDisruptionBudget, { namespace, name: 'db' })).status.disruptionsAllowed).toBe(1);
  const [mirrored] = (await client.list(EndpointSlice, { labelSelector: 'kubernetes.io/service-name=far' })).items;
  expect(mirrored?.endpoints?.[0]?.addresses).toEqual(['192.0.2.1']);
  await env.expectConverged();
});

test('a Pod that was evicted and stays counts again after two minutes', async () => {
  await using env = await sandbox();
  const { client } = env;
  const key = { namespace, name: 'web' };
  await client.create(Deployment({ metadata: key, spec: { replicas: 2, selector, template } }));
  await client.create(PodDisruptionBudget({ metadata: key, spec: { maxUnavailable: 1, selector } }));
  await env.settle();
  const [pod] = (await client.list(Pod, { namespace })).items;
  const now = new Date(env.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const body = { status: { disruptedPods: { [pod!.metadata.name]: now, gone: now }, disruptionsAllowed: 0 } };
  await client.status.patch(PodDisruptionBudget, key, { type: 'merge', body });
  await env.settle();
  const budget = async () => (await client.get(PodDisruptionBudget, key)).status;
  expect(await budget()).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0 });
  expect((await budget()).disruptedPods).toEqual({ [pod!.metadata.name]: now });
  await env.advance('119s');
  expect(await budget()).toMatchObject({ currentHealthy: 1 });
  await env.advance('2s');
  expect(await budget()).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
  expect((await budget()).disruptedPods ?? {}).toEqual({});
});

test('a PodDisruptionBudget asks a custom controller for its scale, and allows nothing if that is gone', async () => {
  const Fleet = defineKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Fleet',
    spec: z.object({ size: z.number() }),
    status: z.object({ size: z.number() }),
    scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
  });
  await using env = await sandbox(undefined, [Fleet]);
  const { client } = env;
  const key = { namespace, name: 'web' };
  const fleet = await client.create(Fleet({ metadata: key, spec: { size: 3 } }));
  const { uid } = fleet.metadata;
  const ownerReferences = [{ apiVersion: 'example.com/v1', kind: 'Fleet', name: 'web', uid, controller: true }];
  const pod = (name: string) => Pod({ metadata: { namespace, name, labels, ownerReferences }, spec: template.spec });
  await client.create(pod('a'));
  await client.create(pod('b'));
  await client.create(PodDisruptionBudget({ metadata: key, spec: { minAvailable: '50%', selector } }));
  await env.settle();
  const budget = async () => (await client.get(PodDisruptionBudget, key)).status;
  expect(await budget()).toMatchObject({
    expectedPods: 3,
    desiredHealthy: 2,
    currentHealthy: 2,
    disruptionsAllowed: 0,
  });
  // As if the Fleet had been deleted, and another one of that name created.
  const earlier = [{ ...ownerReferences[0]!, uid: '00000000-0000-4000-8000-000000000000' }];
  await client.create(
    Pod({
      metadata: { namespace, name: 'c', labels, ownerReferences: earlier, finalizers: ['example.com/keep'] },
      spec: template.spec,
    }),
  );
  await env.settle();
  expect((await budget()).conditions).toMatchObject([
    { type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message: 'found no controllers for pod "c"' },
  ]);
});

test('a Deployment whose ReplicaSet is refused reports it, and rolls out when it is not any more', async () => {
  await using env = await sandbox();
  const { client } = env;
  const key = { namespace, name: 'web' };
  const forbidden = { code: 403, reason: 'Forbidden' as const, message: 'no more of these' };
  env.faults.add({ verb: 'create', kind: ReplicaSet }, { fail: forbidden });
  await client.create(Deployment({ metadata: key, spec: { replicas: 1, selector, template } }));
  await env.settle();
  const conditions = async () => (await client.get(Deployment, key)).status.conditions ?? [];
  const progressing = async () => (await conditions()).find(({ type }) => type === 'Progressing');
  expect(await progressing()).toMatchObject({ status: 'False', reason: 'ReplicaSetCreateError' });
  expect((await progressing())?.message).toMatch(
    /^Failed to create new replica set "web-[a-z0-9]{10}": no more of these$/,
  );
  expect(await reported(env, 'web')).toContainEqual(
    expect.stringMatching(/^ReplicaSetCreateError Failed to create new replica set "web-[a-z0-9]+": no more of these/),
  );
  env.faults.clear();
  await env.advance('20s');
  await env.settle();
  expect(await progressing()).toMatchObject({ status: 'True', reason: 'NewReplicaSetAvailable' });
  await env.expectConverged();
});

const slow = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'work', image: 'work' }] } };
const cron = (name: string, spec: object) =>
  CronJob({
    metadata: { namespace, name },
    spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: slow } }, ...spec },
  });

test('a CronJob that forbids concurrency starts what it missed when the Job before is done', async () => {
  await using env = await sandbox(() => ({ endsAfter: '7m' }));
  await env.client.create(cron('tick', { concurrencyPolicy: 'Forbid' }));
  await env.settle();
  await env.advance('11m');
  await env.settle();
  expect((await env.client.list(Job)).items).toHaveLength(1);
  await env.advance('2m');
  await env.settle();
  expect((await env.client.list(Job)).items).toHaveLength(2);
  const { status } = await env.client.get(CronJob, { namespace, name: 'tick' });
  expect(status.lastScheduleTime).toBe('2026-01-01T00:10:00Z');
  expect(status.active).toHaveLength(1);
  const events = await reported(env, 'tick');
  expect(events).toContainEqual(expect.stringMatching(/^JobAlreadyActive Not starting job because prior execution/));
  expect(events).toContainEqual(
    expect.stringMatching(/^SawCompletedJob Saw completed job: tick-\d+, condition: Complete/),
  );
});

test('a CronJob that replaces deletes the Job before, and reports a Job that is gone or not its own', async () => {
  await using env = await sandbox(() => ({ endsAfter: '100m' }));
  const { client } = env;
  const made = await client.create(cron('tick', { concurrencyPolicy: 'Replace' }));
  await env.settle();
  await env.advance('5m');
  await env.settle();
  const [first] = (await client.list(Job)).items;
  await env.advance('5m');
  await env.settle();
  const jobs = (await client.list(Job)).items;
  expect(jobs.map(({ metadata }) => metadata.name)).not.toContain(first!.metadata.name);
  expect(jobs).toHaveLength(1);
  const events = () => reported(env, 'tick');
  expect(await events()).toContain(`SuccessfulDelete Deleted job ${first!.metadata.name} ×1`);
  await client.delete(Job, jobs[0]!.metadata, { propagationPolicy: 'Background' });
  await env.settle();
  expect(await events()).toContain(`MissingJob Active job went missing: ${jobs[0]!.metadata.name} ×1`);
  const { uid } = made.metadata;
  const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tick', uid, controller: true }];
  await client.create(Job({ metadata: { namespace, name: 'hand', ownerReferences }, spec: { template: slow } }));
  await env.settle();
  const unexpected = /^UnexpectedJob Saw a job that the controller did not create or forgot: hand/;
  expect(await events()).toContainEqual(expect.stringMatching(unexpected));
});

test('a CronJob that was away for long starts one Job, and warns', async () => {
  await using env = await sandbox();
  const { client } = env;
  const key = { namespace, name: 'tick' };
  await client.create(cron('tick', { suspend: true }));
  const body = { status: { lastScheduleTime: '2025-12-31T00:00:00Z' } };
  await client.status.patch(CronJob, key, { type: 'merge', body });
  await env.settle();
  await client.patch(CronJob, key, { type: 'merge', body: { spec: { suspend: false } } });
  await env.settle();
  expect((await client.list(Job)).items).toHaveLength(1);
  expect((await client.get(CronJob, key)).status.lastScheduleTime).toBe('2026-01-01T00:00:00Z');
  expect(await reported(env, 'tick')).toContainEqual(
    expect.stringMatching(/^TooManyMissedTimes too many missed start times/),
  );
});
