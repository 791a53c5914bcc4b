import { ConfigMap, Deployment, PersistentVolumeClaim, Pod, ResourceQuota, Service } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { type Cluster, describeClusters, eventually, fateAnnotation } from './cluster.js';

const resources = { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } };
const pod = (name: string, namespace: string, spec: Partial<Parameters<typeof Pod>[0]['spec']> = {}, fate?: object) =>
  Pod({
    metadata: { namespace, name, ...(fate && { annotations: { [fateAnnotation]: JSON.stringify(fate) } }) },
    spec: { containers: [{ name: 'web', image: 'web:1', resources }], terminationGracePeriodSeconds: 1, ...spec },
  });

async function quota({ client }: Cluster, namespace: string, name: string, spec: ResourceQuota['spec']) {
  const key = { namespace, name };
  await client.create(ResourceQuota({ metadata: key, spec: spec ?? {} }));
  return async (used: Readonly<Record<string, string>>) =>
    eventually(async () => expect((await client.get(ResourceQuota, key)).status).toEqual({ hard: spec?.hard, used }));
}

describeClusters(
  (cluster) => {
    describe.concurrent('resource quotas', () => {
      test('Pods count while they run, with what they request and are limited to', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const none = { pods: '0', 'count/pods': '0', 'requests.cpu': '0', 'requests.memory': '0' };
        const hard = { pods: '10', 'count/pods': '20', 'requests.cpu': '4', 'requests.memory': '1Gi' };
        const more = {
          cpu: '4',
          memory: '1Gi',
          'limits.cpu': '8',
          'limits.memory': '4Gi',
          'requests.example.com/gpu': '2',
        };
        const uses = await quota(cluster(), namespace, 'compute', { hard: { ...hard, ...more } });
        const zero = Object.fromEntries(Object.keys(more).map((name) => [name, '0']));
        await uses({ ...none, ...zero });
        await client.create(pod('a', namespace));
        const sidecar = { name: 'log', image: 'log', restartPolicy: 'Always' as const, resources };
        const setUp = {
          name: 'set-up',
          image: 'set-up',
          resources: { requests: { cpu: '1', memory: '1Mi' }, limits: { cpu: '3', memory: '1Mi' } },
        };
        await client.create(pod('b', namespace, { initContainers: [sidecar, setUp] }));
        const cpu = '1500m';
        const memory = '192Mi';
        await uses({
          ...{ pods: '2', 'count/pods': '2', 'requests.example.com/gpu': '0' },
          ...{
            cpu,
            memory,
            'requests.cpu': cpu,
            'requests.memory': memory,
            'limits.cpu': '5',
            'limits.memory': '384Mi',
          },
        });
        await client.delete(Pod, { namespace, name: 'b' });
        await client.create(pod('done', namespace, { restartPolicy: 'Never' }, { endsAfter: '0s' }));
        await uses({
          ...{ pods: '1', 'count/pods': '2', 'requests.example.com/gpu': '0' },
          ...{ cpu: '250m', memory: '64Mi', 'requests.cpu': '250m', 'requests.memory': '64Mi' },
          ...{ 'limits.cpu': '1', 'limits.memory': '128Mi' },
        });
      });

      test('Services count with their ports, claims with their size and class, and other objects by number', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const hard = {
          ...{ services: '9', 'services.nodeports': '9', 'services.loadbalancers': '9', 'count/services': '9' },
          ...{ persistentvolumeclaims: '9', 'requests.storage': '9Gi', 'count/deployments.apps': '9' },
          ...{ 'fast.storageclass.storage.k8s.io/requests.storage': '9Gi', 'count/configmaps': '9', configmaps: '9' },
          ...{ 'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '9', resourcequotas: '9' },
        };
        const uses = await quota(cluster(), namespace, 'objects', { hard });
        // The root certificate is in every namespace.
        const start = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
        await uses({ ...start, configmaps: '1', 'count/configmaps': '1', resourcequotas: '1' });
        const ports = [
          { name: 'a', port: 80 },
          { name: 'b', port: 81 },
        ];
        const service = (name: string, type: 'ClusterIP' | 'NodePort' | 'LoadBalancer', more = {}) =>
          client.create(Service({ metadata: { namespace, name }, spec: { type, ports, ...more } }));
        await service('plain', 'ClusterIP');
        await service('open', 'NodePort');
        await service('balanced', 'LoadBalancer');
        await service('bare', 'LoadBalancer', { allocateLoadBalancerNodePorts: false });
        const claim = (name: string, storage: string, storageClassName: string) =>
          client.create(
            PersistentVolumeClaim({
              metadata: { namespace, name },
              spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } },
            }),
          );
        await claim('slow', '1Gi', 'slow');
        await claim('fast', '512Mi', 'fast');
        await client.create(ConfigMap({ metadata: { namespace, name: 'settings' } }));
        const labels = { app: 'web' };
        const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
        const deployment = { namespace, name: 'web' };
        await client.create(
          Deployment({ metadata: deployment, spec: { replicas: 0, selector: { matchLabels: labels }, template } }),
        );
        const all = {
          ...{ services: '4', 'services.nodeports': '4', 'services.loadbalancers': '2', 'count/services': '4' },
          ...{ persistentvolumeclaims: '2', 'requests.storage': '1536Mi', 'count/deployments.apps': '1' },
          ...{ 'fast.storageclass.storage.k8s.io/requests.storage': '512Mi', 'count/configmaps': '2', configmaps: '2' },
          ...{ 'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1', resourcequotas: '1' },
        };
        await uses(all);
        await client.patch(
          Service,
          { namespace, name: 'open' },
          { type: 'merge', body: { spec: { type: 'ClusterIP', ports } } },
        );
        await client.delete(Deployment, deployment);
        await client.delete(ConfigMap, { namespace, name: 'settings' });
        await client.delete(PersistentVolumeClaim, { namespace, name: 'fast' });
        await uses({
          ...all,
          ...{ 'services.nodeports': '2', 'count/deployments.apps': '0', 'count/configmaps': '1', configmaps: '1' },
          ...{ persistentvolumeclaims: '1', 'requests.storage': '1Gi' },
          'fast.storageclass.storage.k8s.io/requests.storage': '0',
          'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '0',
        });
      });

      test('a quota with scopes counts the Pods in all of them', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const hard = { pods: '9' };
        const selects = (scopeName: 'PriorityClass', operator: 'In' | 'NotIn', ...values: string[]) => ({
          hard,
          scopeSelector: { matchExpressions: [{ scopeName, operator, values }] },
        });
        const scoped = (...scopes: NonNullable<NonNullable<ResourceQuota['spec']>['scopes']>) => ({ hard, scopes });
        const quotas = {
          terminating: await quota(cluster(), namespace, 'terminating', scoped('Terminating')),
          lasting: await quota(cluster(), namespace, 'lasting', scoped('NotTerminating', 'NotBestEffort')),
          best: await quota(cluster(), namespace, 'best', scoped('BestEffort')),
          critical: await quota(
            cluster(),
            namespace,
            'critical',
            selects('PriorityClass', 'In', 'system-node-critical'),
          ),
          other: await quota(cluster(), namespace, 'other', selects('PriorityClass', 'NotIn', 'system-node-critical')),
          affine: await quota(cluster(), namespace, 'affine', scoped('CrossNamespacePodAffinity')),
        };
        await client.create(pod('short', namespace, { activeDeadlineSeconds: 1000 }));
        await client.create(pod('lean', namespace, { containers: [{ name: 'web', image: 'web:1' }] }));
        await client.create(pod('critical', namespace, { priorityClassName: 'system-node-critical' }));
        const term = { topologyKey: 'zone', namespaces: ['other'], labelSelector: { matchLabels: { app: 'web' } } };
        const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
        await client.create(pod('affine', namespace, { affinity }));
        await quotas.terminating({ pods: '1' });
        await quotas.lasting({ pods: '2' });
        await quotas.best({ pods: '1' });
        await quotas.critical({ pods: '1' });
        await quotas.other({ pods: '3' });
        await quotas.affine({ pods: '1' });
      });

      test('what exceeds a quota is refused until there is room', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const uses = await quota(cluster(), namespace, 'q', { hard: { pods: '1', 'requests.cpu': '1' } });
        await uses({ pods: '0', 'requests.cpu': '0' });
        await client.create(pod('a', namespace));
        await expect(client.create(pod('b', namespace))).rejects.toThrow(
          'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
        );
        const bare = { containers: [{ name: 'web', image: 'web:1' }] };
        await expect(client.create(pod('c', namespace, bare))).rejects.toThrow(
          'pods "c" is forbidden: failed quota: q: must specify requests.cpu for: web',
        );
        await client.delete(Pod, { namespace, name: 'a' }, { gracePeriodSeconds: 0 });
        await uses({ pods: '0', 'requests.cpu': '0' });
        await client.create(pod('b', namespace));
        // kube-controller-manager may finish a count that began without the Pod after admission has added it, and counts
        // again after five minutes, or when the limits change.
        let pods = 1;
        await eventually(async () => {
          pods += 1;
          const body = { spec: { hard: { pods: `${pods}` } } };
          const { status } = await client.patch(ResourceQuota, { namespace, name: 'q' }, { type: 'merge', body });
          expect(status?.used).toEqual({ pods: '1', 'requests.cpu': '250m' });
        });
      });

      test('a changed limit is in the status, and a name that is dropped goes', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const uses = await quota(cluster(), namespace, 'q', { hard: { pods: '1', services: '1' } });
        await uses({ pods: '0', services: '0' });
        const key = { namespace, name: 'q' };
        await client.patch(ResourceQuota, key, {
          type: 'merge',
          body: { spec: { hard: { pods: '5', services: null } } },
        });
        await eventually(async () =>
          expect((await client.get(ResourceQuota, key)).status).toEqual({ hard: { pods: '5' }, used: { pods: '0' } }),
        );
      });
    });
  },
  { controllers: ['resourcequota', 'pvc-protection'] },
);
