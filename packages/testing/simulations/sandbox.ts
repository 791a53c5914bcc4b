import {
  clusterControllers,
  makeNodes,
  nodeControllers,
  providerControllers,
  workloadControllers,
} from '@riata/sandbox';
import type { SimulateOptions, StoryContext } from '@riata/testing';
import {
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  ReplicationController,
  Service,
  StatefulSet,
  StorageClass,
} from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import type { NamedSimulation } from './named-simulation.js';

const namespace = 'default';
const key = { namespace, name: 'web' };
const labels = { app: 'web' };
const selector = { matchLabels: labels };
const container = (image: string) => ({ name: 'web', image });
const template = (image = 'web:1') => ({ metadata: { labels }, spec: { containers: [container(image)] } });
const once = { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [container('task:1')] } };

/** Storage of a class that `sandbox` serves. */
const storageClass = 'fast';

/** Which of several equal Pods gets which node and address depends on the order in which they are created. */
function withoutPlaces({ metadata, ...rest }: KubeObject): KubeObject {
  const isAboutPods = rest.kind === 'Endpoints' || rest.kind === 'EndpointSlice';
  const text = JSON.stringify(rest)
    .replaceAll(/sandbox-[12]\b/g, '<node>')
    .replaceAll(/\b(10|172)(\.\d+){3}\b/g, '<ip>');
  const placeless = isAboutPods ? text.replaceAll(/"web-[a-z0-9-]+"|"[0-9a-f-]{36}"/g, '"<pod>"') : text;
  return { ...JSON.parse(placeless), metadata };
}

/** A template that was replaced before its controller saw it never became a revision. */
function withoutRevision(object: KubeObject): KubeObject {
  const { 'deployment.kubernetes.io/revision': _, ...annotations } = object.metadata.annotations ?? {};
  const { revision: __, ...rest } = object as KubeObject & { readonly revision?: number };
  return { ...rest, metadata: { ...object.metadata, annotations } };
}

const sandbox = (
  name: string,
  story: (context: StoryContext) => Promise<unknown>,
  options: Partial<SimulateOptions> = {},
): NamedSimulation => ({
  name,
  options: {
    run: () => [...workloadControllers(), ...clusterControllers(), ...providerControllers(), ...nodeControllers()],
    setup: async ({ client }) => {
      await makeNodes(client, 2);
      await client.create(
        StorageClass({ metadata: { name: storageClass }, provisioner: 'sandbox.riata.dev/volumes' } as never),
      );
    },
    normalise: (object) => withoutRevision(withoutPlaces(object)),
    story,
    ...options,
  },
});

/** The controllers of the sandbox, all of them at once. */
export const sandboxSimulations: readonly NamedSimulation[] = [
  sandbox('Deployment', async ({ client }) => {
    const spec = { replicas: 2, revisionHistoryLimit: 0, selector, template: template() };
    await client.create(Deployment({ metadata: key, spec }));
    const body = { spec: { replicas: 1, template: { spec: { containers: [container('web:2')] } } } };
    await client.patch(Deployment, key, { type: 'strategic', body });
    await client.delete(Deployment, key);
  }),
  sandbox('StatefulSet', async ({ client }) => {
    await client.create(
      StatefulSet({ metadata: key, spec: { replicas: 2, serviceName: 'web', selector, template: template() } }),
    );
    await client.patch(StatefulSet, key, { type: 'merge', body: { spec: { replicas: 1 } } });
    await client.delete(StatefulSet, key);
  }),
  sandbox('DaemonSet', async ({ client }) => {
    await client.create(
      DaemonSet({ metadata: key, spec: { revisionHistoryLimit: 0, selector, template: template() } }),
    );
    const body = { spec: { template: { spec: { containers: [container('web:2')] } } } };
    await client.patch(DaemonSet, key, { type: 'strategic', body });
    await client.delete(DaemonSet, key);
  }),
  sandbox('ReplicationController', async ({ client }) => {
    await client.create(
      ReplicationController({ metadata: key, spec: { replicas: 2, selector: labels, template: template() } }),
    );
    await client.patch(ReplicationController, key, { type: 'merge', body: { spec: { replicas: 1 } } });
    // Deleted without saying so, it leaves its Pods.
    await client.delete(ReplicationController, key, { propagationPolicy: 'Background' });
  }),
  sandbox('Job', async ({ client }) => {
    await client.create(Job({ metadata: key, spec: { completions: 2, parallelism: 1, template: once } }));
    await client.delete(Job, key, { propagationPolicy: 'Background' });
  }),
  sandbox('CronJob', async ({ client, advance }) => {
    const jobTemplate = { spec: { template: once } };
    await client.create(CronJob({ metadata: key, spec: { schedule: '*/5 * * * *', jobTemplate } }));
    await advance('6m');
    await client.delete(CronJob, key);
  }),
  sandbox(
    'Service and PodDisruptionBudget',
    async ({ client }) => {
      await client.create(Service({ metadata: key, spec: { selector: labels, ports: [{ port: 80 }] } }));
      await client.create(PodDisruptionBudget({ metadata: key, spec: { minAvailable: 1, selector } }));
      await client.create(Deployment({ metadata: key, spec: { replicas: 2, selector, template: template() } }));
      await client.delete(Service, key);
    },
    // An EndpointSlice follows the Pods that are seen: on a stale view another one takes its place, for a moment.
    { except: ['no foreign deletion'] },
  ),
  sandbox('PersistentVolumeClaim', async ({ client }) => {
    const resources = { requests: { storage: '1Gi' } };
    await client.create(
      PersistentVolumeClaim({
        metadata: key,
        spec: { accessModes: ['ReadWriteOnce'], storageClassName: storageClass, resources },
      }),
    );
    await client.delete(PersistentVolumeClaim, key);
  }),
];
