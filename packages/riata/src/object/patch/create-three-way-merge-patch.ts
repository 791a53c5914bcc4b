import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { equal } from '../value/equal.js';
import { getOwn } from '../value/own.js';
import { mergeObjects } from './apply-strategic-merge-patch.js';
import { asObject, diffObjects } from './create-strategic-merge-patch.js';
import { deletePrefix, directive, holdsObjects, identify, retainKeys } from './merge-lists.js';
import { PatchError } from './patch-error.js';
import { type PatchSchema, SchemaPlace } from './patch-schema.js';

/** How {@link createThreeWayMergePatch} treats what others changed. */
export interface ThreeWayOptions {
  /** Overwrite fields that were changed on the server since they were applied last. Else that is a conflict. @default true */
  readonly overwrite?: boolean;
}

export const threeWayOptionNames = optionNames<ThreeWayOptions>({ overwrite: true });

/**
 * The strategic merge patch of a client-side apply (`strategicpatch.CreateThreeWayMergePatch`, as `kubectl apply` sends
 * it): the changes from `current` (on the server) to `modified` (the desired state), and the removal of what `original`
 * (as applied last) had and `modified` no longer has. Additions of others to `current` stay.
 *
 * @throws PatchError with reason `conflict` when `overwrite` is false and the patch would overwrite a change of others.
 */
export function createThreeWayMergePatch(
  original: object,
  modified: object,
  current: object,
  schema: PatchSchema,
  options: ThreeWayOptions = {},
): JsonObject {
  refuseUnknownOptions('createThreeWayMergePatch', options, threeWayOptionNames);
  const place = SchemaPlace.root(schema);
  const from = asObject(original, place);
  const to = asObject(modified, place);
  const now = asObject(current, place);
  const delta = diffObjects(now, to, place, { changes: true, deletions: false, order: true }) as JsonObject;
  const deletions = diffObjects(from, to, place, { changes: false, deletions: true, order: true }) as JsonObject;
  const patch = mergeObjects(deletions, delta, place, 'patch');
  if (options.overwrite === false) {
    const theirs = diffObjects(from, now, place, { changes: true, deletions: true, order: false }) as JsonObject;
    const path = conflict(patch, theirs, place);
    if (path !== undefined) {
      throw new PatchError(
        'conflict',
        path,
        `three-way patch: ${path} was changed on the server since it was applied last, and the patch would change it ` +
          'differently; take that change over, or allow overwrite',
      );
    }
  }
  return patch;
}

/** Where two patches would set one field to different values. */
function conflict(ours: unknown, theirs: unknown, place: SchemaPlace): string | undefined {
  if (isJsonObject(ours) && isJsonObject(theirs)) {
    if (getOwn(ours, directive) !== getOwn(theirs, directive)) return place.path;
    if (place.replaces) return equal(ours, theirs) ? undefined : place.path;
    for (const [key, mine] of Object.entries(ours)) {
      const other = getOwn(theirs, key);
      // Removals from a set of primitives do not conflict, as additions do not.
      if (key === directive || key === retainKeys || key.startsWith(deletePrefix) || other === undefined) continue;
      const found = conflict(mine, other, place.field(key));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (Array.isArray(ours) && Array.isArray(theirs) && place.mergesList) return elementConflict(ours, theirs, place);
  return equal(ours, theirs) ? undefined : place.path;
}

/** Merged lists of primitives never conflict; of objects, elements of one merge key may. */
function elementConflict(ours: readonly unknown[], theirs: readonly unknown[], place: SchemaPlace): string | undefined {
  if (!holdsObjects(place, ours, theirs)) return undefined;
  const id = identify(place, true);
  const others = new Map(theirs.map((element) => [id(element), element]));
  for (const element of ours) {
    const other = others.get(id(element));
    const found = other === undefined ? undefined : conflict(element, other, place.items);
    if (found !== undefined) return found;
  }
  return undefined;
}
