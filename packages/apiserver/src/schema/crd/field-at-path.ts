import type { SchemaProps } from './crd-object.js';

/** Where a path leads, or why nowhere. */
export type FieldAtPath =
  | { readonly names: readonly string[]; readonly schema: SchemaProps | undefined }
  | { readonly problem: string };

/**
 * Follows a path such as `.spec.color` or `.spec['a.b']` through a schema (`cel.ValidFieldPath`).
 */
export function fieldAtPath(
  path: string,
  root: SchemaProps,
  options: { readonly brackets?: boolean } = {},
): FieldAtPath {
  const { brackets = true } = options;
  const tokens = path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g) ?? [];
  const names: string[] = [];
  let schema: SchemaProps | undefined = root;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as string;
    let name = tokens[++i];
    if (token !== '.' && token !== '[') return { problem: `expected [ or . but got: ${token}` };
    if (token === '[' && !brackets) return { problem: 'array notation is not allowed' };
    if (name === undefined) return { problem: 'unexpected end of JSON path' };
    if (token === '[') {
      if (!/^'.*'$/s.test(name)) return { problem: `expected single quoted string but got ${name}` };
      name = name.slice(1, -1).replace(/\\(.)/g, '$1');
      const close = tokens[++i];
      if (close === undefined) return { problem: 'unexpected end of JSON path' };
      if (close !== ']') return { problem: `expected ] but got ${close}` };
    }
    const next: SchemaProps | undefined = step(schema, name);
    if (next === undefined) return { problem: 'does not refer to a valid field' };
    schema = next;
    names.push(name);
  }
  return { names, schema };
}

function step(schema: SchemaProps | undefined, name: string): SchemaProps | undefined {
  if (schema?.properties !== undefined) {
    return Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
  }
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}
