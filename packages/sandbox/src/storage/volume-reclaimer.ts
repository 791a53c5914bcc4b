import { control, ignoreNotFound, type ReconcileContext } from 'riata';
import { PersistentVolume, PersistentVolumeClaim } from 'riata/kinds';
import { setVolumePhase } from './binding.js';
import { annotations } from './claims.js';

/** Keeps the phase of volumes, and unbinds and releases them (`persistentvolume-binder-controller`). */
export const volumeReclaimer = control(PersistentVolume, { name: 'persistentvolume-reclaimer' })
  .watches(PersistentVolumeClaim, async ({ metadata, spec }, reader) => {
    if (spec?.volumeName) return [{ name: spec.volumeName }];
    const { items } = await reader.list(PersistentVolume);
    const isMeant = ({ spec: { claimRef } }: PersistentVolume) =>
      claimRef?.name === metadata.name && claimRef.namespace === metadata.namespace;
    return items.filter(isMeant).map((volume) => volume.metadata);
  })
  .reconcile(async (context) => {
    const { object: volume, client } = context;
    const { claimRef } = volume.spec;
    if ((claimRef?.uid ?? '') === '') {
      if (volume.metadata.deletionTimestamp === undefined) await setVolumePhase(client, volume, 'Available');
      return;
    }
    const key = { namespace: claimRef?.namespace ?? '', name: claimRef?.name ?? '' };
    const claim = await client.find(PersistentVolumeClaim, key);
    if (claim?.metadata.uid !== claimRef?.uid) return release(context);
    if (claim?.spec?.volumeName === volume.metadata.name) await setVolumePhase(client, volume, 'Bound');
    else if (claim?.spec?.volumeName) await letGo(context);
  });

/** The claim was deleted: the reclaim policy of the volume decides. */
async function release({ object: volume, client, event }: ReconcileContext<PersistentVolume>): Promise<void> {
  const { name, annotations: marks } = volume.metadata;
  if (volume.status?.phase !== 'Failed') await setVolumePhase(client, volume, 'Released');
  const policy = volume.spec.persistentVolumeReclaimPolicy ?? 'Retain';
  const { csi, hostPath } = volume.spec;
  // A driver deletes the volumes that it has created.
  if (policy === 'Retain' || csi !== undefined || marks?.[annotations.provisionedBy] !== undefined) return;
  if (policy === 'Delete' && hostPath !== undefined && /^\/tmp\/./.test(hostPath.path)) {
    await client.delete(PersistentVolume, volume.metadata).catch(ignoreNotFound);
    return;
  }
  const message =
    policy === 'Recycle'
      ? 'No recycler plugin found for the volume!'
      : hostPath === undefined
        ? `error getting deleter volume plugin for volume "${name}": no deletable volume plugin matched`
        : `host_path deleter only supports /tmp/.+ but received provided ${hostPath.path}`;
  const hasFailed = await setVolumePhase(client, volume, 'Failed', message);
  if (hasFailed) event({ type: 'Warning', reason: `VolumeFailed${policy}`, message });
}

/** The claim has found another volume. */
async function letGo(context: ReconcileContext<PersistentVolume>): Promise<void> {
  const { object: volume, client } = context;
  const { annotations: marks } = volume.metadata;
  const isMade = marks?.[annotations.provisionedBy] !== undefined;
  if (isMade && volume.spec.persistentVolumeReclaimPolicy === 'Delete') return release(context);
  const isOurs = marks?.[annotations.boundByController] !== undefined;
  const body = isOurs
    ? { metadata: { annotations: { [annotations.boundByController]: null } }, spec: { claimRef: null } }
    : { spec: { claimRef: { uid: null, resourceVersion: null } } };
  const free = await client.patch(PersistentVolume, volume.metadata, { type: 'merge', body });
  await setVolumePhase(client, free, 'Available');
}
