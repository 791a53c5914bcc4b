import type { JsonObject } from 'riata/object';
import { invalid } from '../status/field-error.js';
import { goQuote } from '../status/go-quote.js';
import { conflict, invalidObject, modified, Refusal } from '../status/refusal.js';
import type { Stored } from '../storage/storage.js';
import { metaOf, textOf } from './metadata.js';
import { homeOf, type Resource } from './resource.js';

/** Preconditions of a write, e.g. the UID and resourceVersion in a PUT. */
export interface Expected {
  /** @default the UID in the written object, after admission */
  readonly resourceVersion?: string;
  readonly uid?: string;
}

/** Refuses a change if the name belongs to a different object by now. */
export function expectUid(resource: Resource, stored: Stored, expected: Expected | undefined): void {
  if (expected?.uid) checkUid(resource, stored.key, expected.uid, stored.object);
}

/** Refuses a change based on a stale resourceVersion. */
export function expectRevisionOf(
  resource: Resource,
  stored: Stored,
  expected: Expected | undefined,
  written: JsonObject,
): void {
  if (expected === undefined) return;
  const { name } = stored.object.metadata;
  const { resourceVersion = textOf(metaOf(written).resourceVersion) } = expected;
  expectRevision(resource, name, stored.revision, resourceVersion);
  if (resourceVersion === '' || resourceVersion === '0') {
    if (resource.rules.updatesUnconditionally !== false) return;
    const error = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalidObject({ ...homeOf(resource), kind: resource.plural }, name, [error]);
  }
}

/** Refuses a write based on a stale resourceVersion. */
export function expectRevision(resource: Resource, name: string, revision: number, expected: string): void {
  if (!/^[0-9]*$/.test(expected)) {
    throw new Refusal(500, '', `strconv.ParseUint: parsing ${goQuote(expected)}: invalid syntax`);
  }
  if (expected !== '' && expected !== '0' && expected !== String(revision)) throw modified(resource, name);
}

/** The current object; for a deleted one, its name and an empty UID. */
interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** Refuses a write whose UID precondition fails, with the storage's message. */
export function checkUid(resource: Resource, key: string, asked: string, { metadata }: Named): void {
  if (asked === metadata.uid) return;
  const place = resource.builtIn ? resource.plural : `${resource.group}/${resource.plural}`;
  throw conflict(
    resource,
    metadata.name,
    `StorageError: invalid object, Code: 4, Key: /registry/${place}/${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
      `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${metadata.uid}`,
  );
}
