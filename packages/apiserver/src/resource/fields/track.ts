import type { JsonObject } from 'riata/object';
import { withMeta } from '../metadata.js';
import type { Resource } from '../resource.js';
import { type WriteContext, writerOf } from '../write-context.js';

/** The object with updated managedFields. */
export function track(
  resource: Resource,
  before: JsonObject | undefined,
  after: JsonObject,
  context: WriteContext,
  subresource = '',
): JsonObject {
  return withMeta(after, { managedFields: managedFieldsOf(resource, before, after, context, subresource) });
}

/** The updated managedFields; undefined if there are none. */
export function managedFieldsOf(
  resource: Resource,
  before: JsonObject | undefined,
  after: JsonObject,
  context: WriteContext,
  subresource: string,
): unknown {
  const writer = writerOf(context, resource.apiVersion, subresource);
  const entries = resource.schema.tracking.afterUpdate(before, after, writer);
  return entries.length === 0 ? undefined : entries;
}
