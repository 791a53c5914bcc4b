import type { Json, JsonObject } from 'riata/object';
import { isGiven, recordOf, textOf } from '../../resource/metadata.js';

/** The spec of a claim as it is inside Go. */
export function claimInGo(spec: JsonObject): object {
  const { limits, requests } = recordOf(spec.resources);
  return {
    AccessModes: spec.accessModes ?? null,
    Selector: spec.selector ?? null,
    Resources: { Limits: limits ?? null, Requests: requests ?? null },
    VolumeName: textOf(spec.volumeName),
    StorageClassName: spec.storageClassName ?? null,
    VolumeMode: spec.volumeMode ?? null,
    DataSource: sourceInGo(spec.dataSource),
    DataSourceRef: sourceInGo(spec.dataSourceRef, true),
    VolumeAttributesClassName: spec.volumeAttributesClassName ?? null,
  };
}

function sourceInGo(given: Json | undefined, anywhere = false): object | null {
  if (!isGiven(given)) return null;
  const { apiGroup, kind, name, namespace } = recordOf(given);
  const source = { APIGroup: apiGroup ?? null, Kind: textOf(kind), Name: textOf(name) };
  return anywhere ? { ...source, Namespace: namespace ?? null } : source;
}

type Source = (given: JsonObject) => object;

const secret = (given: Json | undefined) =>
  isGiven(given) ? { Name: textOf(recordOf(given).name), Namespace: textOf(recordOf(given).namespace) } : null;

/** The sources of volumes, in Go's order; the common ones with their fields. */
const sources: readonly (readonly [go: string, json: string, form?: Source])[] = [
  ['GCEPersistentDisk', 'gcePersistentDisk'],
  ['AWSElasticBlockStore', 'awsElasticBlockStore'],
  ['HostPath', 'hostPath', ({ path, type }) => ({ Path: textOf(path), Type: type ?? null })],
  ['Glusterfs', 'glusterfs'],
  [
    'NFS',
    'nfs',
    ({ server, path, readOnly }) => ({ Server: textOf(server), Path: textOf(path), ReadOnly: readOnly === true }),
  ],
  ['RBD', 'rbd'],
  ['Quobyte', 'quobyte'],
  ['ISCSI', 'iscsi'],
  ['FlexVolume', 'flexVolume'],
  ['Cinder', 'cinder'],
  ['CephFS', 'cephfs'],
  ['FC', 'fc'],
  ['Flocker', 'flocker'],
  ['AzureFile', 'azureFile'],
  ['VsphereVolume', 'vsphereVolume'],
  ['AzureDisk', 'azureDisk'],
  ['PhotonPersistentDisk', 'photonPersistentDisk'],
  ['PortworxVolume', 'portworxVolume'],
  ['ScaleIO', 'scaleIO'],
  ['Local', 'local', ({ path, fsType }) => ({ Path: textOf(path), FSType: fsType ?? null })],
  ['StorageOS', 'storageos'],
  [
    'CSI',
    'csi',
    (csi) => ({
      Driver: textOf(csi.driver),
      VolumeHandle: textOf(csi.volumeHandle),
      ReadOnly: csi.readOnly === true,
      FSType: textOf(csi.fsType),
      VolumeAttributes: csi.volumeAttributes ?? null,
      ControllerPublishSecretRef: secret(csi.controllerPublishSecretRef),
      NodeStageSecretRef: secret(csi.nodeStageSecretRef),
      NodePublishSecretRef: secret(csi.nodePublishSecretRef),
      ControllerExpandSecretRef: secret(csi.controllerExpandSecretRef),
      NodeExpandSecretRef: secret(csi.nodeExpandSecretRef),
    }),
  ],
];

/** The source of a volume in Go's internal form; undefined for rarely used ones. */
export function volumeSourceInGo(spec: JsonObject): object | undefined {
  if (sources.some(([, json, form]) => form === undefined && isGiven(spec[json]))) return undefined;
  return Object.fromEntries(
    sources.map(([go, json, form]) => [go, isGiven(spec[json]) && form ? form(recordOf(spec[json])) : null]),
  );
}
