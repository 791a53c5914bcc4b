/** The parts of a structural schema that an example depends on. */
export interface ExampleSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, ExampleSchema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly items?: ExampleSchema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A value that a schema takes, with its required fields alone. Patterns and rules are not considered. */
export function exampleOf(schema: ExampleSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const { required = [], properties = {}, items = {}, minItems = 0, minimum, minLength = 0, maxLength } = schema;
  switch (schema.type) {
    case 'object': {
      const given = required.filter((name) => properties[name]?.default === undefined);
      return Object.fromEntries(given.map((name) => [name, exampleOf(properties[name] ?? {})]));
    }
    case 'array':
      return Array.from({ length: minItems }, () => exampleOf(items));
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return 'example'.padEnd(minLength, 'x').slice(0, maxLength);
  }
}

/** A JSON value as an expression in TypeScript, on one line. */
export function literalOf(value: unknown): string {
  if (typeof value === 'string' && value.includes("'") && !value.includes('"')) return JSON.stringify(value);
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, each]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literalOf(name);
    return `${key}: ${literalOf(each)}`;
  });
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
