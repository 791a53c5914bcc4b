import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { fieldIndex, type ParsedSelection } from './cache-selection.js';
import type { IndexReader } from './store/indexer.js';

/** All fields of an object's metadata. */
const ofMetadata: ReadonlySet<string> = new Set([
  ...['name', 'generateName', 'namespace', 'uid', 'resourceVersion', 'generation', 'selfLink'],
  ...['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
  ...['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'],
]);

/**
 * Throws for a field selector that no object can ever match, as the field is neither indexed nor a path: the index was
 * forgotten, or its name is misspelt, and an empty list would look like an answer.
 */
export function refuseNoFields<T extends KubeObject>(
  kind: KindRef<T>,
  reader: IndexReader<T>,
  { fields }: ParsedSelection,
): void {
  if (fields.isEmpty()) return;
  const indexers = reader.getIndexers();
  for (const { field } of fields.requirements) {
    if (Object.hasOwn(indexers, fieldIndex(field))) continue;
    const [first, second = ''] = field.split('.');
    if (first !== '' && (first !== 'metadata' || ofMetadata.has(second))) continue;
    throw new TypeError(`list of ${kind.kind}: ${noField(kind, field)}`);
  }
}

/**
 * Those that are not indexed and that no object has, whatever was selected: probably meant for an index. All objects are
 * looked at for it, so each field is taken once: those that have been are in `seen`, by what {@link noField} says of them.
 */
export function fieldsOfNone<T extends KubeObject>(
  kind: KindRef<T>,
  reader: IndexReader<T>,
  { fields }: ParsedSelection,
  seen: Set<string>,
): readonly string[] {
  const indexers = reader.getIndexers();
  const uncertain = fields.requirements
    .map(({ field }) => field)
    .filter((field) => !indexers[fieldIndex(field)] && !/^(metadata|spec|status)\./.test(field))
    .filter((field) => !seen.has(noField(kind, field)));
  if (uncertain.length === 0) return [];
  const objects = reader.list();
  // Later objects may have it.
  if (objects.length === 0) return [];
  for (const field of uncertain) seen.add(noField(kind, field));
  return uncertain.filter((field) => !objects.some((object) => Object.hasOwn(object, field.split('.')[0] ?? '')));
}

/** The problem with a field, and the remedy. */
export function noField({ kind }: KindRef, field: string): string {
  const quoted = JSON.stringify(field);
  return `no field and no index ${quoted}; add an index with indexField, or with .indexes(${kind}, ${quoted}, …) of the controller`;
}
