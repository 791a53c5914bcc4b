import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { anyValue } from '../src/kinds/any-value.fixture.js';
import { builtInSchema } from '../src/schema/built-in/built-in-schema.js';
import type { SchemaNode } from '../src/schema/built-in/schema-node.js';
import { namespace, namespaces, post } from './asks.js';
import { describeDifference } from './difference.js';
import { serverPair, uniqueName } from './pair.js';
import { cronJob, job, paths, pod, template, workload } from './workload-objects.js';

const pair = serverPair();
/** Others try other objects: `RIATA_SEED=7 RIATA_RUNS=500 npm run test:real -- any-workload`. */
const seed = Number(process.env.RIATA_SEED ?? 1);
const numRuns = Number(process.env.RIATA_RUNS ?? 12);

const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
/** Where each kind is, and an object of it that is fine. */
const kinds: Readonly<Record<string, readonly [string, keyof ReturnType<typeof paths>, (name: string) => object]>> = {
  Pod: ['', 'pods', pod],
  ReplicationController: ['', 'controllers', (name) => ({ metadata: { name }, spec: { template: template() } })],
  Deployment: ['apps', 'deployments', (name) => workload('Deployment', name)],
  ReplicaSet: ['apps', 'replicaSets', (name) => workload('ReplicaSet', name)],
  StatefulSet: ['apps', 'statefulSets', (name) => workload('StatefulSet', name)],
  DaemonSet: ['apps', 'daemonSets', (name) => workload('DaemonSet', name)],
  Job: ['batch', 'jobs', job],
  CronJob: ['batch', 'cronJobs', cronJob],
  PodDisruptionBudget: ['policy', 'budgets', (name) => ({ metadata: { name }, spec: { minAvailable: 1 } })],
  HorizontalPodAutoscaler: [
    'autoscaling',
    'autoscalers',
    (name) => ({ metadata: { name }, spec: { maxReplicas: 2, scaleTargetRef: target } }),
  ],
};
/**
 * Unavoidable differences: Go distinguishes empty lists from missing ones until it has written them, and the fields of
 * removed volume drivers are not checked.
 */
const empties = false;
const without = [
  ...['runtimeClassName', 'iscsi', 'flocker', 'quobyte', 'storageos', 'azureDisk', 'azureFile', 'fc'],
  ...[
    'awsElasticBlockStore',
    'gcePersistentDisk',
    'scaleIO',
    'rbd',
    'cephfs',
    'cinder',
    'glusterfs',
    'flexVolume',
    'podCertificate',
    'clusterTrustBundle',
  ],
];

/** Something fine with parts of something else in it. */
function mixed(fine: Json | undefined, other: Json): Json {
  if (Array.isArray(fine) && Array.isArray(other)) return other.map((item) => mixed(fine[0], item));
  if (!isJsonObject(fine) || !isJsonObject(other)) return other;
  const merged = Object.entries(other).map(([name, value]) => [name, mixed(fine[name], value as Json)]);
  return { ...fine, ...Object.fromEntries(merged) };
}

test.each(Object.entries(kinds))('any %s', async (kind, [group, at, make]) => {
  const ns = uniqueName('any');
  await pair().both(post(namespaces, namespace(ns)));
  const version = group === 'autoscaling' ? 'v2' : 'v1';
  const schema = builtInSchema({ group, version, kind })?.properties?.spec as SchemaNode;
  const specs = fc.sample(anyValue(schema, 8, { empties, without }), { numRuns, seed });
  const steps = specs.map((spec, index) => {
    const fine = make(`x${index}`) as JsonObject;
    return post(paths(ns)[at], { ...fine, spec: mixed(fine.spec, spec) });
  });
  const found = await pair().differences(steps);
  expect(found.map(describeDifference).join('\n')).toBe('');
});
