import type { Json, JsonObject, StructuralSchema } from 'riata/object';
import { append } from '../../status/append.js';
import { decodeObjectMeta } from '../built-in/object-meta-schema.js';
import { dropNulls } from './drop-nulls.js';
import { coerceEmbedded } from './embedded-resources.js';
import { type Pruned, prune } from './prune.js';

/**
 * A custom resource as the server reads it: metadata read as Go's, unknown fields dropped, nulls dropped that the
 * schema does not allow. Throws an `IllTypedError` when the metadata cannot be read. Defaults are the next step.
 *
 * The paths of dropped fields are in the order in which `fieldValidation: Strict` reports them.
 */
export function readCustomResource(object: JsonObject, schema: StructuralSchema | undefined): Pruned<JsonObject> {
  const unknown: string[] = [];
  const hasMeta = object.metadata !== undefined;
  const dropped: string[] = [];
  const metadata = hasMeta ? decodeObjectMeta(object.metadata as Json, dropped) : {};
  append(
    unknown,
    dropped.map((field) => `metadata.${field}`),
  );
  const pruned = prune(object, schema);
  append(unknown, pruned.unknown);
  const embedded: string[] = [];
  const read = coerceEmbedded(dropNulls(pruned.object, schema), schema, embedded);
  append(unknown, embedded.sort());
  return { object: hasMeta ? { ...read, metadata } : read, unknown };
}
