import { control, ignoreNotFound, isAlreadyExists, type ReconcileContext } from 'riata';
import { PersistentVolume, PersistentVolumeClaim, StorageClass } from 'riata/kinds';
import { parseQuantity } from 'riata/object';
import { optionNames } from 'riata/runtime';
import { annotations, classNameOf, isBound, waitsForConsumer } from './claims.js';

/** The input of a simulated provisioner. */
export interface ProvisionerOptions {
  /** Whether it stands in for this provisioner of a StorageClass. @default for all */
  readonly provisions?: (provisioner: string) => boolean;
}

export const provisionerOptionNames = optionNames<ProvisionerOptions>({ provisions: true });

/** The class of claims that name none: volumes come at once, can grow, and go with their claims. */
export const standardClass = StorageClass({
  metadata: { name: 'standard', annotations: { [annotations.defaultClass]: 'true' } },
  provisioner: 'volumes.sandbox.riata.dev',
  volumeBindingMode: 'Immediate',
  reclaimPolicy: 'Delete',
  allowVolumeExpansion: true,
});

/** Makes volumes for claims that ask for one and enlarges them, as the sidecars of a CSI driver do. */
export const provisioner = ({ provisions = () => true }: ProvisionerOptions = {}) =>
  control(PersistentVolumeClaim, { name: 'provisioner' })
    .reads(PersistentVolume)
    .watches(StorageClass, async (storageClass, reader) => {
      const { items } = await reader.list(PersistentVolumeClaim);
      return items.filter((claim) => classNameOf(claim) === storageClass.metadata.name).map(({ metadata }) => metadata);
    })
    .reconcile(async (context) => {
      const { object: claim, client } = context;
      if (isBound(claim)) return resize(context, provisions);
      const asked = claim.metadata.annotations?.[annotations.provisioner] ?? '';
      if (asked === '' || !provisions(asked) || claim.metadata.deletionTimestamp !== undefined) return;
      if ((claim.spec?.volumeName ?? '') !== '') return;
      const storageClass = await client.find(StorageClass, { name: classNameOf(claim) });
      if (storageClass === undefined || waitsForConsumer(claim, storageClass)) return;
      await make(context, storageClass);
    });

/** Deletes volumes that it has created, once their claims are deleted. */
export const volumeDeleter = ({ provisions = () => true }: ProvisionerOptions = {}) =>
  control(PersistentVolume, { name: 'volume-deleter' }).reconcile(async ({ object: volume, client }) => {
    const { metadata, spec, status } = volume;
    const maker = metadata.annotations?.[annotations.provisionedBy];
    if (maker === undefined || !provisions(maker) || metadata.deletionTimestamp !== undefined) return;
    if (status?.phase !== 'Released' || spec.persistentVolumeReclaimPolicy !== 'Delete') return;
    await client.delete(PersistentVolume, metadata, { preconditions: { uid: metadata.uid } }).catch(ignoreNotFound);
  });

async function make(
  { object: claim, client, event }: ReconcileContext<PersistentVolumeClaim>,
  { metadata, provisioner: driver, reclaimPolicy = 'Delete', mountOptions }: StorageClass,
): Promise<void> {
  const { namespace, name: claimName, uid, resourceVersion } = claim.metadata;
  const name = `pvc-${uid}`;
  if ((await client.find(PersistentVolume, { name })) !== undefined) return;
  const { accessModes = [], volumeMode = 'Filesystem', resources, volumeAttributesClassName } = claim.spec ?? {};
  const from = `External provisioner is provisioning volume for claim "${namespace}/${claimName}"`;
  event({ type: 'Normal', reason: 'Provisioning', message: from });
  const volume = PersistentVolume({
    metadata: { name, annotations: { [annotations.provisionedBy]: driver } },
    spec: {
      capacity: { storage: resources?.requests?.storage ?? '0' },
      accessModes,
      volumeMode,
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: metadata.name,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: claimName, uid, resourceVersion },
      csi: { driver: driver.replace('/', '.'), volumeHandle: name },
      ...(mountOptions && { mountOptions }),
      ...(volumeAttributesClassName && { volumeAttributesClassName }),
    },
  });
  await client.create(volume).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
  event({ type: 'Normal', reason: 'ProvisioningSucceeded', message: `Successfully provisioned volume ${name}` });
}

/** A bound claim that asks for more than it has gets it, if its class allows that. */
async function resize(
  { object: claim, client, event }: ReconcileContext<PersistentVolumeClaim>,
  provisions: (provisioner: string) => boolean,
): Promise<void> {
  const asked = claim.spec?.resources?.requests?.storage ?? '0';
  const has = claim.status?.capacity?.storage;
  if (claim.status?.phase !== 'Bound' || has === undefined || parseQuantity(asked).compare(has) <= 0) return;
  const volume = await client.find(PersistentVolume, { name: claim.spec?.volumeName ?? '' });
  const storageClass = await client.find(StorageClass, { name: classNameOf(claim) });
  if (volume === undefined || storageClass?.allowVolumeExpansion !== true || !provisions(storageClass.provisioner))
    return;
  if (parseQuantity(volume.spec.capacity?.storage ?? 0).compare(asked) < 0) {
    const message = `External resizer is resizing volume ${volume.metadata.name}`;
    event({ type: 'Normal', reason: 'Resizing', message });
    const body = { spec: { capacity: { storage: asked } } };
    await client.patch(PersistentVolume, volume.metadata, { type: 'merge', body });
  }
  const status = { capacity: { storage: asked }, allocatedResources: { storage: asked } };
  await client.status.patch(PersistentVolumeClaim, claim.metadata, { type: 'merge', body: { status } });
  event({ type: 'Normal', reason: 'VolumeResizeSuccessful', message: 'Resize volume succeeded' });
}
