import { makeNodes, nodeControllers, type PodFate, providerControllers, Sandbox } from '@riata/sandbox';
import { type ConnectedClient, createClient, ignoreNotFound, Manager, silentLogger } from 'riata';
import {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from 'riata/kinds';
import type { KindRef, KubeObject } from 'riata/object';
import { configFromKubeconfig } from 'riata/rest';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';

/** A cluster that a test works on. */
export interface Cluster {
  readonly client: ConnectedClient;
  newNamespace(): Promise<string>;
}

/** A Pod says by an annotation what is to become of it. */
export const fateAnnotation = 'sandbox.riata.dev/fate';

function fate(pod: Pod): PodFate | undefined {
  const text = pod.metadata.annotations?.[fateAnnotation];
  return text === undefined ? undefined : (JSON.parse(text) as PodFate);
}

/** Asks again and again until it holds. */
export function eventually(check: () => Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 100_000, interval: 100 });
}

/** What the tests of a file need besides workloads. */
export interface ClusterOptions {
  /** More controllers of kube-controller-manager, by their names there. @default none */
  readonly controllers?: readonly string[];
}

/** The same tests on the sandbox, or on kube-apiserver with kube-controller-manager and the sandbox's nodes. */
export function describeClusters(body: (cluster: () => Cluster) => void, options: ClusterOptions = {}): void {
  const isReal = process.env.RIATA_CONTROL_PLANE !== undefined;
  describe(isReal ? 'kube-controller-manager' : 'sandbox', () => {
    let cluster: (Cluster & AsyncDisposable) | undefined;
    beforeAll(async () => {
      cluster = isReal ? await realCluster(options) : await sandboxCluster();
    });
    afterAll(() => cluster?.[Symbol.asyncDispose]());
    body(() => {
      expect(cluster).toBeDefined();
      return cluster as Cluster;
    });
  });
}

async function sandboxCluster(): Promise<Cluster & AsyncDisposable> {
  const sandbox = await Sandbox.start({ nodes: 3, fate });
  const { client } = sandbox;
  return {
    client,
    newNamespace: async () => (await client.create(Namespace({ metadata: { generateName: 's-' } }))).metadata.name,
    [Symbol.asyncDispose]: () => sandbox.stop(),
  };
}

const controllers = [
  ...['deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'daemonset', 'job', 'cronjob'],
  ...['endpoint', 'endpointslice', 'endpointslicemirroring', 'disruption'],
  ...['namespace', 'garbagecollector', 'serviceaccount', 'root-ca-certificate-publisher-controller'],
];

/** kube-apiserver with kube-controller-manager and the sandbox's nodes, empty of what earlier files have left. */
export async function realCluster(options: ClusterOptions = {}): Promise<Cluster & AsyncDisposable> {
  const controlPlane = controlPlaneFromEnv();
  const config = await configFromKubeconfig(controlPlane.kubeconfig);
  const runtime = { log: silentLogger };
  const client = createClient(config, { runtime });
  await deleteWorkloads(client);
  await controlPlane.startControllerManager({ controllers: [...controllers, ...(options.controllers ?? [])] });
  await makeNodes(client, 3);
  const manager = new Manager({ config, runtime });
  for (const definition of [...nodeControllers({ fate }), ...providerControllers()]) manager.add(definition);
  const stop = new AbortController();
  const running = manager.run({ signal: stop.signal });
  return {
    client,
    newNamespace: async () => (await client.create(Namespace({ metadata: { generateName: 's-' } }))).metadata.name,
    async [Symbol.asyncDispose]() {
      stop.abort();
      try {
        await running;
        await manager[Symbol.asyncDispose]();
        await client.close();
      } finally {
        await controlPlane.stopControllerManager();
      }
    },
  };
}

/**
 * Deletes the workloads that earlier files have left on the server: kube-controller-manager would roll out all of them,
 * and they would take the nodes' room.
 */
async function deleteWorkloads(client: ConnectedClient): Promise<void> {
  const kinds: readonly KindRef<KubeObject, 'Namespaced'>[] = [
    ...[CronJob, Job, Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Pod],
  ];
  for (const kind of kinds) {
    for (const { metadata } of (await client.list(kind)).items) {
      const { namespace = '', name } = metadata;
      const how = { gracePeriodSeconds: 0, propagationPolicy: 'Background' } as const;
      await client.delete(kind, { namespace, name }, how).catch(ignoreNotFound);
    }
  }
}
