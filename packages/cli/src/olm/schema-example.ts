import type { Json, JsonObject, StructuralSchema } from 'riata/object';

/** Texts that fit most patterns. */
const texts = [
  'example',
  'example.com',
  'registry.example.com/example',
  'registry.example.com/example:1.0.0',
  'https://example.com',
  '1.0.0',
  '1',
  'a',
  '10.0.0.0/8',
  '10.0.0.1',
  '1h',
  '1Gi',
  '*/5 * * * *',
];

/** A value that a schema most likely accepts: its defaults and required fields. */
export function schemaExample(schema: StructuralSchema): Json {
  const { default: given, enum: choices = [], type } = schema;
  if (given !== undefined) return given;
  if (choices.length > 0) return choices[0] as Json;
  if (schema['x-kubernetes-int-or-string'] === true) return 1;
  switch (type) {
    case 'object':
      return objectExample(schema);
    case 'array': {
      const { items, minItems = 0 } = schema;
      return items === undefined ? [] : Array.from({ length: minItems }, () => schemaExample(items));
    }
    case 'integer':
    case 'number': {
      const { minimum = 1, maximum = Number.MAX_SAFE_INTEGER } = schema;
      return Math.min(Math.max(1, minimum), maximum);
    }
    case 'boolean':
      return false;
    default:
      return textExample(schema);
  }
}

function objectExample(schema: StructuralSchema): JsonObject {
  const properties = Object.entries(schema.properties ?? {});
  const required = new Set(schema.required ?? []);
  const shown = properties.filter(([name, child]) => required.has(name) || 'default' in child);
  return Object.fromEntries(shown.map(([name, child]) => [name, schemaExample(child)]));
}

function textExample(schema: StructuralSchema): string {
  const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = schema;
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  if (format === 'duration') return '1h';
  const fits = (text: string) =>
    text.length >= minLength &&
    text.length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text));
  const found = texts.find((text) => safely(() => fits(text)));
  return found ?? 'example'.padEnd(minLength, 'e').slice(0, Math.max(minLength, Math.min(maxLength, 100)));
}

/** Patterns are RE2, which JavaScript may not know. */
function safely(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

/** The schema of `spec` or `status` of a definition's version. */
export function partSchema(schema: StructuralSchema, part: 'spec' | 'status'): StructuralSchema | undefined {
  return schema.properties?.[part];
}
