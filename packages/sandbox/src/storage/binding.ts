import type { Client } from 'riata';
import { PersistentVolume, PersistentVolumeClaim } from 'riata/kinds';
import { says } from '../workloads/says.js';
import { annotations, isMeantFor } from './claims.js';

/** Writes both sides of a binding, and that it is done; no request if all of it is there. */
export async function bind(client: Client, volume: PersistentVolume, claim: PersistentVolumeClaim): Promise<void> {
  await claimVolume(client, volume, claim);
  await setVolumePhase(client, volume, 'Bound');
  const { metadata, spec } = claim;
  const isOurs = spec?.volumeName !== volume.metadata.name;
  const marks = {
    [annotations.bindCompleted]: 'yes',
    ...(isOurs && { [annotations.boundByController]: 'yes' }),
  };
  if (isOurs || metadata.annotations?.[annotations.bindCompleted] === undefined) {
    const body = { metadata: { uid: metadata.uid, annotations: marks }, spec: { volumeName: volume.metadata.name } };
    await client.patch(PersistentVolumeClaim, metadata, { type: 'merge', body });
  }
  const { accessModes = [], capacity = {} } = volume.spec;
  const isFirst = claim.status?.phase !== 'Bound';
  // From then on the resizer sets the capacity.
  const status = { phase: 'Bound', accessModes, ...(isFirst && { capacity: { storage: capacity.storage } }) };
  if (says(claim.status, status)) return;
  await client.status.patch(PersistentVolumeClaim, metadata, { type: 'merge', body: { status } });
}

/** Has a volume name a claim: the first half of a binding, and what a scheduler does once it has chosen both. */
export async function claimVolume(
  client: Client,
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
): Promise<void> {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  const { claimRef } = volume.spec;
  if (claimRef?.uid === uid) return;
  const wasMeant = isMeantFor(volume, claim);
  const body = {
    // Two claims may ask for one volume.
    metadata: {
      resourceVersion: volume.metadata.resourceVersion,
      ...(!wasMeant && { annotations: { [annotations.boundByController]: 'yes' } }),
    },
    spec: { claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion } },
  };
  await client.patch(PersistentVolume, volume.metadata, { type: 'merge', body });
}

type VolumePhase = 'Available' | 'Bound' | 'Released' | 'Failed';

/** Writes the phase of a volume; true if it had another one. */
export async function setVolumePhase(
  client: Client,
  { metadata, status }: PersistentVolume,
  phase: VolumePhase,
  message = '',
): Promise<boolean> {
  if (status?.phase === phase) return false;
  const body = { status: { phase, ...((message !== '' || status?.message) && { message: message || null }) } };
  await client.status.patch(PersistentVolume, metadata, { type: 'merge', body });
  return true;
}
