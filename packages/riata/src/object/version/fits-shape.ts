import { isJsonObject, type Json } from '../json.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { memberSchema } from './kept-field.js';

const embeddedFields: readonly string[] = ['apiVersion', 'kind', 'metadata'];

/** Whether a value has the types that a schema says, without fields that it does not have. Limits are not checked. */
export function fitsShape(schema: StructuralSchema | undefined, value: Json | undefined): boolean {
  if (schema === undefined) return false;
  if (value === undefined) return true;
  if (value === null) return schema.nullable === true;
  if (schema['x-kubernetes-int-or-string'] === true) return typeof value === 'string' || Number.isInteger(value);
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case undefined:
      return isOpen;
    case 'object':
      if (!isJsonObject(value)) return false;
      return Object.entries(value).every(([name, member]) => {
        const below = memberSchema(schema, name);
        if (below !== undefined) return fitsShape(below, member);
        return isOpen || (schema['x-kubernetes-embedded-resource'] === true && embeddedFields.includes(name));
      });
    case 'array':
      return Array.isArray(value) && (value as Json[]).every((element) => fitsShape(schema.items, element));
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === schema.type;
  }
}
