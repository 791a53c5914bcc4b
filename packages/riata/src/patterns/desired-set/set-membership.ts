import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import { getOwn } from '../../object/value/own.js';
import { appliedBefore } from './applied-annotation.js';
import { identityMarks, type SetIdentity, setMarks } from './set-identity.js';

/** Who applied fields belong to unless `fieldManager` says otherwise. */
export const defaultFieldManager = 'riata-apply';

/** A set, and the field manager that its objects are applied by. */
export interface OwnSet {
  readonly identity: Pick<SetIdentity, 'hash' | 'annotations'>;
  readonly fieldManager: string;
}

export function ownSet(
  identity: OwnSet['identity'],
  { fieldManager = defaultFieldManager }: { readonly fieldManager?: string | undefined },
): OwnSet {
  return { identity, fieldManager };
}

/** An object as far as its membership in a set goes. */
type Marked = Pick<KubeObject, 'metadata'>;

/**
 * Whether an object belongs to a set: it states the whole identity, and the set wrote that. Marks alone prove nothing,
 * as users copy objects together with their labels and annotations. The proof is either that the set's field manager
 * applied the label, or, in the three-way form, that the last applied configuration names this very object.
 *
 * Undefined if only managedFields could decide, and the object has none: caches cut them.
 */
export function isMember(object: Marked, set: OwnSet): boolean | undefined {
  const { labels, annotations, managedFields } = object.metadata;
  if (labels?.[setMarks.hash] !== set.identity.hash) return false;
  const isSame = identityMarks.every((mark) => (annotations?.[mark] ?? '') === (set.identity.annotations[mark] ?? ''));
  if (!isSame) return false;
  if (isRecordOf(object)) return true;
  return managedFields === undefined ? undefined : appliedLabel(object, set);
}

/** Whether an object is marked as one of another set. A removed annotation does not count. */
export function isMarkedForOther({ metadata: { labels, annotations } }: Marked, { identity }: OwnSet): boolean {
  const label = labels?.[setMarks.hash];
  if (label === undefined) return false;
  const differs = (mark: string) =>
    annotations?.[mark] !== undefined && annotations[mark] !== (identity.annotations[mark] ?? '');
  return label !== identity.hash || identityMarks.some(differs);
}

/**
 * Whether the set wrote the object's label, though annotations may be missing. Enough to write the object again, not
 * enough to delete it.
 */
export function isMarkedBy(object: Marked, set: OwnSet): boolean {
  if (object.metadata.labels?.[setMarks.hash] === undefined || isMarkedForOther(object, set)) return false;
  return isRecordOf(object) || appliedLabel(object, set);
}

/** Whether the set's field manager owns the label. */
function appliedLabel({ metadata: { managedFields = [] } }: Marked, { fieldManager }: OwnSet): boolean {
  return managedFields.some(({ manager, operation, subresource = '', fieldsV1 }) => {
    if (manager !== fieldManager || operation !== 'Apply' || subresource !== '') return false;
    return ['f:metadata', 'f:labels', `f:${setMarks.hash}`].reduce<unknown>(below, fieldsV1) !== undefined;
  });
}

function below(value: unknown, name: string): unknown {
  return isJsonObject(value) ? getOwn(value, name) : undefined;
}

/** Wrangler cuts strings at this length where it notes what it applied. */
const cutAt = 64;

/** Whether the record of a three-way apply is about the object that carries it, and not about one that it is a copy of. */
function isRecordOf(object: Marked): boolean {
  const applied = appliedBefore(object)?.metadata;
  const { name, namespace = '' } = object.metadata;
  const isCalled = (text: unknown, desired: string) =>
    text === desired || (typeof text === 'string' && text.length === cutAt && desired.startsWith(text));
  if (!isCalled(below(applied, 'name'), name)) return false;
  const noted = below(applied, 'namespace');
  return noted === undefined || noted === '' || isCalled(noted, namespace);
}
