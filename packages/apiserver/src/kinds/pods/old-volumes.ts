import { type FieldCheck, needs } from './volume-files.js';

/** Volumes of the drivers that were once part of Kubernetes, with their required fields. */
export const oldVolumes: Readonly<Record<string, FieldCheck>> = {
  gcePersistentDisk: (disk, path) => needs('pdName')(disk, path.replace('gcePersistentDisk', 'persistentDisk')),
  awsElasticBlockStore: needs('volumeID'),
  iscsi: needs('targetPortal', 'iqn'),
  glusterfs: needs('endpoints', 'path'),
  rbd: needs('monitors', 'image'),
  cinder: needs('volumeID'),
  cephfs: needs('monitors'),
  flexVolume: needs('driver'),
  azureFile: needs('secretName', 'shareName'),
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk: needs('diskName', 'diskURI'),
  storageos: needs('volumeName'),
  scaleIO: needs('gateway', 'system', 'volumeName'),
  quobyte: needs('registry', 'volume'),
  flocker: () => [],
  fc: () => [],
};
