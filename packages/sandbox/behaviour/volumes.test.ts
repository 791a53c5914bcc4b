import { Event, PersistentVolume, PersistentVolumeClaim, Pod, StatefulSet, StorageClass } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { type Cluster, describeClusters, eventually } from './cluster.js';

type ClassSpec = Partial<Pick<StorageClass, 'volumeBindingMode' | 'reclaimPolicy' | 'allowVolumeExpansion'>>;
type Claim = { readonly namespace: string; readonly name: string };

const containers = [{ name: 'web', image: 'web:1' }];

/** A class of its own for each test: names of classes and volumes are the whole cluster's. */
async function newClass(
  { client }: Cluster,
  namespace: string,
  more: ClassSpec = {},
  provisioner = 'pretend.example.com',
) {
  const name = `class-${namespace}`;
  await client.create(StorageClass({ metadata: { name }, provisioner, ...more }));
  return name;
}

const claimSpec = (storageClassName: string, storage = '1Gi') => ({
  ...{ accessModes: ['ReadWriteOnce' as const], storageClassName, resources: { requests: { storage } } },
});

async function phaseOf({ client }: Cluster, key: Claim): Promise<string | undefined> {
  return (await client.get(PersistentVolumeClaim, key)).status?.phase;
}

async function reasons({ client }: Cluster, { namespace, name }: Claim): Promise<Set<string>> {
  const { items } = await client.list(Event, { namespace });
  return new Set(items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason = '' }) => reason));
}

const staticVolume = (name: string, storageClassName: string, more: Partial<PersistentVolume['spec']> = {}) =>
  PersistentVolume({
    metadata: { name },
    spec: {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce' as const], storageClassName },
      csi: { driver: 'other.example.com', volumeHandle: name },
      ...more,
    } as PersistentVolume['spec'],
  });

describeClusters(
  (cluster) => {
    describe.concurrent('volumes', () => {
      test('a claim gets a volume of its class, both are bound, and the volume goes with the claim', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const className = await newClass(cluster(), namespace);
        const key = { namespace, name: 'data' };
        const { metadata } = await client.create(PersistentVolumeClaim({ metadata: key, spec: claimSpec(className) }));
        await eventually(async () => expect(await phaseOf(cluster(), key)).toBe('Bound'));
        const claim = await client.get(PersistentVolumeClaim, key);
        expect(claim.status).toMatchObject({ accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } });
        expect(claim.metadata.annotations).toMatchObject({
          'pv.kubernetes.io/bind-completed': 'yes',
          'pv.kubernetes.io/bound-by-controller': 'yes',
          'volume.kubernetes.io/storage-provisioner': 'pretend.example.com',
        });
        const name = `pvc-${metadata.uid}`;
        expect(claim.spec?.volumeName).toBe(name);
        const volume = await client.get(PersistentVolume, { name });
        expect(volume.metadata.annotations).toEqual({ 'pv.kubernetes.io/provisioned-by': 'pretend.example.com' });
        expect(volume.spec).toMatchObject({ persistentVolumeReclaimPolicy: 'Delete', storageClassName: className });
        await eventually(async () =>
          expect((await client.get(PersistentVolume, { name })).status?.phase).toBe('Bound'),
        );
        // Others may come first, while controllers don't know the class yet.
        const expected = ['ExternalProvisioning', 'Provisioning', 'ProvisioningSucceeded'];
        await eventually(async () =>
          expect([...(await reasons(cluster(), key))]).toEqual(expect.arrayContaining(expected)),
        );
        await client.delete(PersistentVolumeClaim, key);
        await eventually(async () => expect(await client.find(PersistentVolume, { name })).toBeUndefined());
      });

      test('a retained volume is released, and bound to no other claim', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const className = await newClass(cluster(), namespace, { reclaimPolicy: 'Retain' });
        const key = { namespace, name: 'data' };
        const { metadata } = await client.create(PersistentVolumeClaim({ metadata: key, spec: claimSpec(className) }));
        await eventually(async () => expect(await phaseOf(cluster(), key)).toBe('Bound'));
        await client.delete(PersistentVolumeClaim, key);
        const name = `pvc-${metadata.uid}`;
        await eventually(async () =>
          expect((await client.get(PersistentVolume, { name })).status?.phase).toBe('Released'),
        );
        const second = await client.create(PersistentVolumeClaim({ metadata: key, spec: claimSpec(className) }));
        await eventually(async () => expect(await phaseOf(cluster(), key)).toBe('Bound'));
        const { spec } = await client.get(PersistentVolumeClaim, key);
        expect(spec?.volumeName).toBe(`pvc-${second.metadata.uid}`);
      });

      test('a claim that waits for its first consumer is bound when a Pod comes', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const className = await newClass(cluster(), namespace, { volumeBindingMode: 'WaitForFirstConsumer' });
        const key = { namespace, name: 'data' };
        await client.create(PersistentVolumeClaim({ metadata: key, spec: claimSpec(className) }));
        await eventually(async () => expect(await reasons(cluster(), key)).toContain('WaitForFirstConsumer'));
        expect(await phaseOf(cluster(), key)).toBe('Pending');
        const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
        const pod = { namespace, name: 'web' };
        await client.create(Pod({ metadata: pod, spec: { containers, volumes, terminationGracePeriodSeconds: 1 } }));
        await eventually(async () => expect((await client.get(Pod, pod)).status.phase).toBe('Running'));
        const claim = await client.get(PersistentVolumeClaim, key);
        expect(claim.status?.phase).toBe('Bound');
        const { nodeName } = (await client.get(Pod, pod)).spec;
        expect(claim.metadata.annotations?.['volume.kubernetes.io/selected-node']).toBe(nodeName);
        // It is in use: it stays until the Pod is gone.
        await client.delete(PersistentVolumeClaim, key);
        expect((await client.get(PersistentVolumeClaim, key)).metadata.deletionTimestamp).toBeDefined();
        await client.delete(Pod, pod);
        await eventually(async () => expect(await client.find(PersistentVolumeClaim, key)).toBeUndefined());
      });

      test('volumes that are made by hand: the smallest that is large enough, or the one that is named', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const className = await newClass(cluster(), namespace, {}, 'kubernetes.io/no-provisioner');
        const small = `small-${namespace}`;
        const medium = `medium-${namespace}`;
        const large = `large-${namespace}`;
        await client.create(staticVolume(large, className, { capacity: { storage: '9Gi' } }));
        await client.create(staticVolume(small, className, { capacity: { storage: '1Gi' } }));
        await client.create(staticVolume(medium, className, { capacity: { storage: '5Gi' } }));
        const key = { namespace, name: 'any' };
        await eventually(async () => {
          for (const name of [small, medium, large]) {
            expect((await client.get(PersistentVolume, { name })).status?.phase).toBe('Available');
          }
        });
        await client.create(PersistentVolumeClaim({ metadata: key, spec: claimSpec(className, '3Gi') }));
        await eventually(async () => expect(await phaseOf(cluster(), key)).toBe('Bound'));
        const claim = await client.get(PersistentVolumeClaim, key);
        expect(claim.spec?.volumeName).toBe(medium);
        expect(claim.status?.capacity).toEqual({ storage: '5Gi' });
        const named = { namespace, name: 'named' };
        await client.create(
          PersistentVolumeClaim({ metadata: named, spec: { ...claimSpec(className), volumeName: large } }),
        );
        await eventually(async () => expect(await phaseOf(cluster(), named)).toBe('Bound'));
        const { annotations } = (await client.get(PersistentVolumeClaim, named)).metadata;
        expect(annotations).toEqual({ 'pv.kubernetes.io/bind-completed': 'yes' });
        const greedy = { namespace, name: 'greedy' };
        await client.create(PersistentVolumeClaim({ metadata: greedy, spec: claimSpec(className, '2Gi') }));
        await eventually(async () => expect(await reasons(cluster(), greedy)).toContain('ProvisioningFailed'));
        expect(await phaseOf(cluster(), greedy)).toBe('Pending');
        await client.delete(PersistentVolumeClaim, key);
        await eventually(async () =>
          expect((await client.get(PersistentVolume, { name: medium })).status?.phase).toBe('Released'),
        );
        await client.delete(PersistentVolume, { name: large });
        await client.patch(
          PersistentVolume,
          { name: large },
          { type: 'merge', body: { metadata: { finalizers: null } } },
        );
        await eventually(async () => expect(await phaseOf(cluster(), named)).toBe('Lost'));
      });

      test('a volume that is made by hand is deleted if that can be done, else it has failed', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const className = await newClass(cluster(), namespace, {}, 'kubernetes.io/no-provisioner');
        const spent = async (name: string, source: object) => {
          const key = { namespace, name };
          const volume = { name: `${name}-${namespace}` };
          const policy = { persistentVolumeReclaimPolicy: 'Delete' as const, csi: undefined };
          await client.create(staticVolume(volume.name, className, { ...policy, ...source }));
          const spec = { ...claimSpec(className), volumeName: volume.name };
          await client.create(PersistentVolumeClaim({ metadata: key, spec }));
          await eventually(async () => expect(await phaseOf(cluster(), key)).toBe('Bound'));
          await client.delete(PersistentVolumeClaim, key);
          return volume;
        };
        const phase = async (key: { name: string }, is: string, message?: string) =>
          eventually(async () => {
            const { status } = await client.get(PersistentVolume, key);
            expect([status?.phase, status?.message]).toEqual([is, message]);
          });
        const shared = await spent('shared', { nfs: { server: 'nfs', path: '/' } });
        const why = 'no deletable volume plugin matched';
        await phase(shared, 'Failed', `error getting deleter volume plugin for volume "${shared.name}": ${why}`);
        const local = await spent('local', { hostPath: { path: '/var/data' } });
        await phase(local, 'Failed', 'host_path deleter only supports /tmp/.+ but received provided /var/data');
        const temporary = await spent('temporary', { hostPath: { path: `/tmp/${namespace}` } });
        await eventually(async () => expect(await client.find(PersistentVolume, temporary)).toBeUndefined());
        await phase(await spent('foreign', { csi: { driver: 'other.example.com', volumeHandle: 'x' } }), 'Released');
      });

      test('a claim grows if its class allows that', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const className = await newClass(cluster(), namespace, { allowVolumeExpansion: true });
        const key = { namespace, name: 'data' };
        const { metadata } = await client.create(PersistentVolumeClaim({ metadata: key, spec: claimSpec(className) }));
        await eventually(async () => expect(await phaseOf(cluster(), key)).toBe('Bound'));
        const grow = (storage: string, options: { dryRun?: boolean } = {}) => {
          const body = { spec: { resources: { requests: { storage } } } };
          return client.patch(PersistentVolumeClaim, key, { type: 'merge', body }, options);
        };
        await grow('3Gi');
        await eventually(async () => {
          expect((await client.get(PersistentVolumeClaim, key)).status).toMatchObject({ capacity: { storage: '3Gi' } });
          const volume = await client.get(PersistentVolume, { name: `pvc-${metadata.uid}` });
          expect(volume.spec.capacity).toEqual({ storage: '3Gi' });
        });
        await client.patch(StorageClass, { name: className }, { type: 'merge', body: { allowVolumeExpansion: false } });
        // kube-apiserver's admission reads classes from a cache, which may be a moment behind.
        await eventually(() =>
          expect(grow('4Gi', { dryRun: true })).rejects.toThrow(
            'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
          ),
        );
      });

      test('a claim without a class gets the default one, even if that comes later', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const key = { namespace, name: 'data' };
        const { storageClassName: _, ...spec } = claimSpec('');
        await client.create(PersistentVolumeClaim({ metadata: key, spec }));
        const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
        const name = `default-${namespace}`;
        await client.create(StorageClass({ metadata: { name, annotations }, provisioner: 'pretend.example.com' }));
        await eventually(async () => expect(await phaseOf(cluster(), key)).toBe('Bound'));
        await client.delete(StorageClass, { name });
      });

      test('Pods wait for their claims; those of a StatefulSet and of ephemeral volumes are made', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const className = await newClass(cluster(), namespace, { volumeBindingMode: 'WaitForFirstConsumer' });
        const pod = { namespace, name: 'early' };
        const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'late' } }];
        await client.create(Pod({ metadata: pod, spec: { containers, volumes } }));
        await eventually(async () =>
          expect((await client.get(Pod, pod)).status.conditions).toMatchObject([
            {
              type: 'PodScheduled',
              status: 'False',
              message: '0/3 nodes are available: persistentvolumeclaim "late" not found.',
            },
          ]),
        );
        await client.create(
          PersistentVolumeClaim({ metadata: { namespace, name: 'late' }, spec: claimSpec(className) }),
        );
        await eventually(async () => expect((await client.get(Pod, pod)).status.phase).toBe('Running'));
        const scratch = { namespace, name: 'scratch' };
        const ephemeral = { volumeClaimTemplate: { spec: claimSpec(className) } };
        await client.create(Pod({ metadata: scratch, spec: { containers, volumes: [{ name: 'tmp', ephemeral }] } }));
        await eventually(async () => expect((await client.get(Pod, scratch)).status.phase).toBe('Running'));
        expect(await phaseOf(cluster(), { namespace, name: 'scratch-tmp' })).toBe('Bound');
        const labels = { app: 'db' };
        const template = { metadata: { labels }, spec: { containers } };
        const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claimSpec(className) }];
        const db = { namespace, name: 'db' };
        await client.create(
          StatefulSet({
            metadata: db,
            spec: { replicas: 2, serviceName: 'db', selector: { matchLabels: labels }, template, volumeClaimTemplates },
          }),
        );
        await eventually(async () => expect((await client.get(StatefulSet, db)).status.readyReplicas).toBe(2));
        expect(await phaseOf(cluster(), { namespace, name: 'data-db-1' })).toBe('Bound');
      });

      test('a volume that only one node reaches takes its Pod there', async () => {
        const { client, newNamespace } = cluster();
        const namespace = await newNamespace();
        const waits = { volumeBindingMode: 'WaitForFirstConsumer' } as const;
        const className = await newClass(cluster(), namespace, waits, 'kubernetes.io/no-provisioner');
        const values = ['sandbox-2'];
        const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In' as const, values }] };
        const nodeAffinity = { required: { nodeSelectorTerms: [term] } };
        await client.create(staticVolume(`local-${namespace}`, className, { nodeAffinity }));
        await client.create(
          PersistentVolumeClaim({ metadata: { namespace, name: 'data' }, spec: claimSpec(className) }),
        );
        const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
        const pod = { namespace, name: 'web' };
        await client.create(Pod({ metadata: pod, spec: { containers, volumes } }));
        await eventually(async () => expect((await client.get(Pod, pod)).status.phase).toBe('Running'));
        expect((await client.get(Pod, pod)).spec.nodeName).toBe('sandbox-2');
      });
    });
  },
  {
    controllers: [
      ...['persistentvolume-binder', 'persistentvolume-expander', 'pvc-protection', 'pv-protection'],
      'ephemeral-volume',
    ],
  },
);
