import type { ManagedFieldsEntry } from '../meta.js';
import { FieldSet } from './fields/field-set.js';
import { fieldElement, type Path } from './fields/path-element.js';
import { decodeManagers, encodeManagers, type ManagedSet } from './managers.js';

/** Where an object that can be scaled keeps its replicas. */
export interface ScaleMapping {
  /** The version of the object that the request is for. */
  readonly apiVersion: string;
  /**
   * The path of the replicas per version of the object; undefined for a version that cannot be scaled. Entries of
   * versions that are not in here are left out.
   */
  readonly replicasPaths: ReadonlyMap<string, Path | undefined>;
}

const scaleVersion = 'autoscaling/v1';
const replicasOfScale: Path = [fieldElement('spec'), fieldElement('replicas')];

/**
 * The managedFields of an object's Scale (`ScaleHandler.ToSubresource`): who manages the object's replicas manages
 * `spec.replicas` of the Scale. Throws a `ManagedFieldsError` for entries that cannot be read.
 */
export function toScaleFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  { replicasPaths }: ScaleMapping,
): readonly ManagedFieldsEntry[] | undefined {
  const out = new Map<string, ManagedSet>();
  for (const [id, set] of decodeManagers(entries)) {
    const path = replicasPaths.get(set.apiVersion);
    if (path === undefined || !set.fields.has(path)) continue;
    out.set(id, { ...set, apiVersion: scaleVersion, fields: FieldSet.of(replicasOfScale) });
  }
  return encodeManagers(out);
}

/**
 * The managedFields of the object after its Scale was written (`ScaleHandler.ToParent`): who lost the replicas in the
 * Scale loses them in the object, who got them there gets them here. As upstream has it, new entries carry no time.
 */
export function fromScaleFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  scaleEntries: readonly ManagedFieldsEntry[] | undefined,
  { apiVersion, replicasPaths }: ScaleMapping,
): readonly ManagedFieldsEntry[] | undefined {
  const scale = new Map(decodeManagers(scaleEntries));
  const present = decodeManagers(entries);
  const out = new Map<string, ManagedSet>();
  for (const [id, set] of present) {
    if (!replicasPaths.has(set.apiVersion)) continue;
    const path = replicasPaths.get(set.apiVersion);
    if (path === undefined || !set.fields.has(path)) {
      out.set(id, set);
    } else if (scale.delete(id)) {
      out.set(id, set);
    } else {
      const fields = set.fields.difference(FieldSet.of(path));
      if (!fields.isEmpty) out.set(id, { ...set, fields });
    }
  }
  const path = replicasPaths.get(apiVersion);
  for (const [id, set] of scale) {
    if (path === undefined || !set.fields.has(replicasOfScale)) continue;
    out.set(id, { ...set, apiVersion, fields: FieldSet.of(path), time: present.get(id)?.time });
  }
  return encodeManagers(out);
}
