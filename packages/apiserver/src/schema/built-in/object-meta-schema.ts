import type { Json, JsonObject } from 'riata/object';
import { isJsonObject } from 'riata/object';
import { once } from '../../once.js';
import { decodeTyped, IllTypedError } from './decode-typed.js';
import { type GoStruct, goStruct } from './go-type.js';
import { SchemaNode } from './schema-node.js';

/** The schema of `metadata`, the same for all kinds. */
export const objectMetaSchema = once(() => new SchemaNode(goStruct('meta/v1', 'ObjectMeta') as GoStruct));

/**
 * The metadata of a custom or embedded resource, read as Go's `ObjectMeta` is. Throws an {@link IllTypedError} for a
 * field of a wrong type; adds the paths of unknown fields, relative to the metadata, to `unknown`.
 */
export function decodeObjectMeta(metadata: Json, unknown?: string[]): JsonObject {
  if (metadata === null) return {};
  if (!isJsonObject(metadata)) {
    const kind = Array.isArray(metadata) ? 'array' : typeof metadata === 'boolean' ? 'bool' : typeof metadata;
    throw new IllTypedError(`json: cannot unmarshal ${kind} into Go value of type v1.ObjectMeta`);
  }
  return decodeTyped(metadata, objectMetaSchema(), unknown);
}
