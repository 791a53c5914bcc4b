import type { JsonObject } from 'riata/object';
import { invalid } from '../status/field-error.js';
import { goQuote } from '../status/go-quote.js';
import { conflict, invalidObject, modified, Refusal } from '../status/refusal.js';
import type { Stored } from '../storage/storage.js';
import { metaOf, textOf } from './metadata.js';
import { homeOf, type Resource } from './resource.js';

/** What a writer has seen of an object, e.g. of a PUT: it must still be so. */
export interface Expected {
  /** @default what the written object names, as admission control leaves it */
  readonly resourceVersion?: string;
  readonly uid?: string;
}

/** Refuses a change to another object than the writer has seen under the name. */
export function expectUid(resource: Resource, stored: Stored, expected: Expected | undefined): void {
  if (expected?.uid) checkUid(resource, stored.key, expected.uid, stored.object);
}

/** Refuses a change to an object that has changed since the writer has seen it. */
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

/** Refuses a write to an object that has changed since the writer has seen it. */
export function expectRevision(resource: Resource, name: string, revision: number, expected: string): void {
  if (!/^[0-9]*$/.test(expected)) {
    throw new Refusal(500, '', `strconv.ParseUint: parsing ${goQuote(expected)}: invalid syntax`);
  }
  if (expected !== '' && expected !== '0' && expected !== String(revision)) throw modified(resource, name);
}

/** What there is of an object; of one that is gone, the name and an empty uid. */
interface Named {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** Refuses a write to an object that has another uid than the caller thinks, in the words of the storage. */
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
