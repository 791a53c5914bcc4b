import type { Node, PersistentVolume, PersistentVolumeClaim } from 'riata/kinds';
import { parseQuantity, selectorFrom } from 'riata/object';
import { matchesNode } from '../node/matches-node.js';
import { classNameOf, isMeantFor } from './claims.js';

const sizeOf = ({ spec }: PersistentVolume) => parseQuantity(spec.capacity?.storage ?? 0);

/** Why a volume cannot serve a claim, in the words of upstream's events; undefined if it can. */
export function volumeProblem(volume: PersistentVolume, { spec, ...claim }: PersistentVolumeClaim): string | undefined {
  if (parseQuantity(spec?.resources?.requests?.storage ?? 0).compare(sizeOf(volume)) > 0) {
    return 'requested PV is too small';
  }
  if (classNameOf(volume) !== classNameOf({ ...claim, spec })) return 'storageClassName does not match';
  if ((spec?.volumeAttributesClassName ?? '') !== (volume.spec.volumeAttributesClassName ?? '')) {
    return 'volumeAttributesClassName does not match';
  }
  if ((spec?.volumeMode ?? 'Filesystem') !== (volume.spec.volumeMode ?? 'Filesystem')) return 'incompatible volumeMode';
  const modes = volume.spec.accessModes ?? [];
  return (spec?.accessModes ?? []).every((mode) => modes.includes(mode)) ? undefined : 'incompatible accessMode';
}

/** How {@link matchingVolume} looks. */
export interface MatchOptions {
  /** Only volumes that this node can reach. @default any */
  readonly node?: Node;
  /** Only a volume that names the claim. @default false */
  readonly onlyMeantFor?: boolean;
}

/** The volume to bind to a claim: one that names it, otherwise the smallest available one that satisfies it. */
export function matchingVolume(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  { node, onlyMeantFor = false }: MatchOptions = {},
): PersistentVolume | undefined {
  const fitting = volumes.filter(
    (volume) =>
      volume.metadata.deletionTimestamp === undefined &&
      volumeProblem(volume, claim) === undefined &&
      (node === undefined || matchesNode(volume.spec.nodeAffinity?.required, node)),
  );
  const meant = fitting.find((volume) => isMeantFor(volume, claim));
  if (meant !== undefined || onlyMeantFor) return meant;
  const { selector } = claim.spec ?? {};
  const [smallest] = fitting
    .filter(({ spec, status }) => spec.claimRef === undefined && status?.phase === 'Available')
    .filter(({ metadata }) => selector === undefined || selectorFrom(selector).matches(metadata.labels ?? {}))
    .sort((a, b) => sizeOf(a).compare(sizeOf(b)));
  return smallest;
}
