import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
} from 'riata/kinds';
import { orNone, unset } from './cell-texts.js';
import { ageColumn, booleans, integers, nameColumn, printer, texts, wide } from './table-printer.js';

const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

const modeLetters: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
];

function modesText(modes: readonly string[] | undefined): string {
  return modeLetters
    .filter(([mode]) => modes?.includes(mode))
    .map(([, letters]) => letters)
    .join(',');
}

const persistentVolumes = printer<PersistentVolume>(
  [
    nameColumn,
    ...texts('Capacity', 'Access Modes', 'Reclaim Policy', 'Status', 'Claim', 'StorageClass'),
    ...texts('VolumeAttributesClass', 'Reason'),
    ageColumn,
    ...wide('VolumeMode'),
  ],
  ({ metadata, spec, status }, ages) => {
    const claim = spec?.claimRef;
    return [
      metadata.name,
      spec?.capacity?.storage ?? '0',
      modesText(spec?.accessModes),
      spec?.persistentVolumeReclaimPolicy ?? '',
      metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
      claim ? `${claim.namespace ?? ''}/${claim.name ?? ''}` : '',
      metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? unset,
      status?.reason ?? '',
      ages.since(metadata.creationTimestamp),
      spec?.volumeMode ?? unset,
    ];
  },
);

const persistentVolumeClaims = printer<PersistentVolumeClaim>(
  [
    nameColumn,
    ...texts('Status', 'Volume', 'Capacity', 'Access Modes', 'StorageClass', 'VolumeAttributesClass'),
    ageColumn,
    ...wide('VolumeMode'),
  ],
  ({ metadata, spec, status }, ages) => {
    const isBound = Boolean(spec?.volumeName);
    return [
      metadata.name,
      metadata.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
      spec?.volumeName ?? '',
      isBound ? (status?.capacity?.storage ?? '0') : '',
      isBound ? modesText(status?.accessModes) : '',
      metadata.annotations?.[classAnnotation] ?? spec?.storageClassName ?? '',
      spec?.volumeAttributesClassName ?? unset,
      ages.since(metadata.creationTimestamp),
      spec?.volumeMode ?? unset,
    ];
  },
);

const storageClasses = printer<StorageClass>(
  [nameColumn, ...texts('Provisioner', 'ReclaimPolicy', 'VolumeBindingMode', 'AllowVolumeExpansion'), ageColumn],
  (storageClass, ages) => {
    const { metadata, provisioner, reclaimPolicy, volumeBindingMode, allowVolumeExpansion } = storageClass;
    const { annotations = {} } = metadata;
    const isDefault = [
      'storageclass.kubernetes.io/is-default-class',
      'storageclass.beta.kubernetes.io/is-default-class',
    ];
    return [
      `${metadata.name}${isDefault.some((name) => annotations[name] === 'true') ? ' (default)' : ''}`,
      provisioner,
      reclaimPolicy ?? 'Delete',
      volumeBindingMode ?? 'Immediate',
      allowVolumeExpansion ?? false,
      ages.since(metadata.creationTimestamp),
    ];
  },
);

const volumeAttributesClasses = printer<VolumeAttributesClass>(
  [nameColumn, ...texts('DriverName'), ageColumn],
  ({ metadata, driverName }, ages) => [metadata.name, driverName, ages.since(metadata.creationTimestamp)],
);

const volumeAttachments = printer<VolumeAttachment>(
  [nameColumn, { name: 'Attacher', format: 'name' }, ...texts('PV', 'Node'), ...booleans('Attached'), ageColumn],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    spec?.attacher ?? '',
    spec?.source.persistentVolumeName ?? '',
    spec?.nodeName ?? '',
    status?.attached ?? false,
    ages.since(metadata.creationTimestamp),
  ],
);

const csiNodes = printer<CSINode>([nameColumn, ...integers('Drivers'), ageColumn], ({ metadata, spec }, ages) => [
  metadata.name,
  (spec?.drivers ?? []).length,
  ages.since(metadata.creationTimestamp),
]);

const csiDrivers = printer<CSIDriver>(
  [
    nameColumn,
    ...booleans('AttachRequired', 'PodInfoOnMount', 'StorageCapacity'),
    ...texts('TokenRequests'),
    ...booleans('RequiresRepublish'),
    ...texts('Modes'),
    ageColumn,
  ],
  ({ metadata, spec }, ages) => [
    metadata.name,
    spec?.attachRequired ?? true,
    spec?.podInfoOnMount ?? false,
    spec?.storageCapacity ?? false,
    spec?.tokenRequests?.map(({ audience }) => audience).join(',') ?? unset,
    spec?.requiresRepublish ?? false,
    orNone(spec?.volumeLifecycleModes?.join(',')),
    ages.since(metadata.creationTimestamp),
  ],
);

const csiStorageCapacities = printer<CSIStorageCapacity>(
  [nameColumn, ...texts('StorageClassName', 'Capacity')],
  ({ metadata, storageClassName, capacity }) => [metadata.name, storageClassName, capacity ?? unset],
);

/** Where data lives, by where it is stored. */
export const storageTables = {
  '/persistentvolumes': persistentVolumes,
  '/persistentvolumeclaims': persistentVolumeClaims,
  'storage.k8s.io/storageclasses': storageClasses,
  'storage.k8s.io/volumeattributesclasses': volumeAttributesClasses,
  'storage.k8s.io/volumeattachments': volumeAttachments,
  'storage.k8s.io/csinodes': csiNodes,
  'storage.k8s.io/csidrivers': csiDrivers,
  'storage.k8s.io/csistoragecapacities': csiStorageCapacities,
};
