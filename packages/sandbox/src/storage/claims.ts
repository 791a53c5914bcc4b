import type { PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from 'riata/kinds';

/** Annotations by which controllers, schedulers and provisioners of volumes coordinate. */
export const annotations = {
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  provisioner: 'volume.kubernetes.io/storage-provisioner',
  oldProvisioner: 'volume.beta.kubernetes.io/storage-provisioner',
  selectedNode: 'volume.kubernetes.io/selected-node',
  oldClass: 'volume.beta.kubernetes.io/storage-class',
  defaultClass: 'storageclass.kubernetes.io/is-default-class',
} as const;

/** The name that classes have whose volumes are all made by hand. */
export const noProvisioner = 'kubernetes.io/no-provisioner';

/** The name of a claim's storage class, or a volume's; `''` if it has none. */
export function classNameOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string {
  return metadata.annotations?.[annotations.oldClass] ?? spec?.storageClassName ?? '';
}

/** Whether both sides of a claim's binding have been written. */
export function isBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[annotations.bindCompleted] !== undefined && (spec?.volumeName ?? '') !== '';
}

/** Whether a claim waits until a Pod that uses it has been given a node. */
export function waitsForConsumer({ metadata }: PersistentVolumeClaim, storageClass: StorageClass | undefined): boolean {
  if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer') return false;
  return metadata.annotations?.[annotations.selectedNode] === undefined;
}

/** Whether a volume is reserved for a claim: by its name, and by its uid if the volume has one. */
export function isMeantFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { namespace, name, uid = '' } = spec.claimRef ?? {};
  return namespace === metadata.namespace && name === metadata.name && (uid === '' || uid === metadata.uid);
}

/** The names of the claims that a Pod uses; those of ephemeral volumes are made for it. */
export function claimNamesOf({ metadata, spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (ephemeral !== undefined) return [`${metadata.name}-${name}`];
    return persistentVolumeClaim === undefined ? [] : [persistentVolumeClaim.claimName];
  });
}
