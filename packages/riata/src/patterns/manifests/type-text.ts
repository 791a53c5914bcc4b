import { compareStrings } from '../../object/compare-strings.js';
import type { StructuralSchema } from '../../object/schema/structural-schema.js';

/** Whether the type is of what a server gives, or of what a writer says: defaults are there, or may be left out. */
export type TypeSide = 'read' | 'write';

/** The TypeScript type of a schema's values, as text: read-only, with descriptions as comments. */
export function typeText(schema: StructuralSchema, side: TypeSide, indent = ''): string {
  const type = valueText(schema, side, indent);
  return schema.nullable === true ? `${type.includes('|') ? `(${type})` : type} | null` : type;
}

/** The fields of an object as lines, e.g. of an interface. */
export function fieldLines(schema: StructuralSchema, side: TypeSide, indent: string): string[] {
  const required = new Set(schema.required ?? []);
  // By name: servers keep schemas so, and a file should give the same text.
  const fields = Object.entries(schema.properties ?? {}).sort(([a], [b]) => compareStrings(a, b));
  return fields.flatMap(([name, field]) => {
    const isThere =
      side === 'read'
        ? required.has(name) || field.default !== undefined
        : required.has(name) && field.default === undefined;
    const line = `${indent}readonly ${nameText(name)}${isThere ? '' : '?'}: ${typeText(field, side, indent)};`;
    return [...commentLines(field.description, indent), line];
  });
}

/** A description as a comment; no lines without a description. */
export function commentLines(description: string | undefined, indent: string): string[] {
  const lines = (typeof description === 'string' ? description : '')
    .replaceAll('*/', '*\\/')
    .trim()
    .split('\n')
    .map((line) => line.trimEnd());
  if (lines.length === 1) return lines[0] === '' ? [] : [`${indent}/** ${lines[0]} */`];
  return [`${indent}/**`, ...lines.map((line) => `${indent} *${line === '' ? '' : ` ${line}`}`), `${indent} */`];
}

function valueText(schema: StructuralSchema, side: TypeSide, indent: string): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'number | string';
  if (schema.enum !== undefined && schema.enum.length > 0) {
    return schema.enum.map((value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value))).join(' | ');
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return listText(schema, side, indent);
    case 'object':
      return objectText(schema, side, indent);
    default:
      return 'unknown';
  }
}

function listText(schema: StructuralSchema, side: TypeSide, indent: string): string {
  const item = schema.items === undefined ? 'unknown' : typeText(schema.items, side, indent);
  const keys = mapKeys(schema);
  if (keys !== undefined) return `ListMap<${item}, ${keys.map(quoted).join(' | ')}>`;
  const isObject = item.startsWith('{') && schema.items?.nullable !== true && schema.items?.enum === undefined;
  return `readonly ${isObject || /^\w+$/.test(item) ? item : `(${item})`}[]`;
}

/** The keys of a list that is a map. */
function mapKeys(schema: StructuralSchema): readonly string[] | undefined {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return schema['x-kubernetes-list-type'] === 'map' && keys.length > 0 ? keys : undefined;
}

/** Whether {@link typeText} of a schema names `ListMap`. */
export function hasListMap(schema: StructuralSchema): boolean {
  if (schema['x-kubernetes-int-or-string'] === true || (schema.enum?.length ?? 0) > 0) return false;
  if (schema.type === 'array') {
    return mapKeys(schema) !== undefined || (schema.items !== undefined && hasListMap(schema.items));
  }
  if (schema.type !== 'object') return false;
  const fields = Object.values(schema.properties ?? {});
  if (fields.length > 0) return fields.some(hasListMap);
  return schema.additionalProperties !== undefined && hasListMap(schema.additionalProperties);
}

function objectText(schema: StructuralSchema, side: TypeSide, indent: string): string {
  const isOpen =
    schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-embedded-resource'] === true;
  if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
    const lines = fieldLines(schema, side, `${indent}  `);
    if (isOpen) lines.push(`${indent}  readonly [field: string]: unknown;`);
    return `{\n${lines.join('\n')}\n${indent}}`;
  }
  const values =
    schema.additionalProperties === undefined ? 'unknown' : typeText(schema.additionalProperties, side, indent);
  return `{ readonly [key: string]: ${values} }`;
}

function nameText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}
