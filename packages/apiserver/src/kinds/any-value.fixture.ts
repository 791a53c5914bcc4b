import fc from 'fast-check';
import type { Json } from 'riata/object';
import type { SchemaNode } from '../schema/built-in/schema-node.js';

const texts = [
  ...['', 'a', 'A b', 'x/y', '../z', '/abs', '10.0.0.1', 'fd00::1', '10.0.0.0/8', 'example.com/x', '5%', '@daily'],
  ...['Always', 'Never', 'In', 'Exists', 'cpu', 'Localhost', 'Indexed', 'RollingUpdate', 'Resource', 'Container'],
];
const special: Readonly<Record<string, readonly Json[]>> = {
  quantity: ['1', '-1', '500m', '1Gi', '1u', '0'],
  'int-or-string': [0, -1, 80, '5%', 'http', ''],
  'date-time': ['2024-01-01T00:00:00Z'],
  'micro-time': ['2024-01-01T00:00:00.000001Z'],
  byte: ['', 'YQ=='],
};

/** Fields to leave out, e.g. those without rules. */
export interface AnyValueOptions {
  /** Fields of these names. */
  readonly without?: readonly string[];
  /** Whether lists and maps may be empty. @default true */
  readonly empties?: boolean;
  /** Texts with a meaning for the kind, beside common ones. */
  readonly texts?: readonly string[];
}

/** Any object that a kind's types allow: of each struct a few fields, chosen so that rules have something to look at. */
export function anyValue(node: SchemaNode, depth: number, options: AnyValueOptions = {}): fc.Arbitrary<Json> {
  const isMicro = node.go.is === 'custom' && node.go.text === 'v1.MicroTime';
  const known = special[isMicro ? 'micro-time' : (node.format ?? '')];
  if (known !== undefined) return fc.constantFrom(...known);
  const below = (of: SchemaNode) => anyValue(of, depth - 1, options);
  const least = options.empties === false ? 1 : 0;
  switch (node.type) {
    case 'object': {
      const { properties, additionalProperties: values } = node;
      if (depth <= 0) return fc.constant({});
      if (values !== undefined) {
        const keys = fc.constantFrom('a', 'cpu', 'A b');
        return fc.dictionary(keys, below(values), { minKeys: least, maxKeys: 2 }) as never;
      }
      if (properties === undefined) return fc.constant({ a: 1 });
      const fields = Object.entries(properties).filter(([name]) => !options.without?.includes(name));
      return fc
        .subarray(fields, { minLength: 0, maxLength: Math.min(fields.length, 4) })
        .chain((some) => fc.record(Object.fromEntries(some.map(([name, one]) => [name, below(one)])))) as never;
    }
    case 'array':
      if (depth <= 0) return fc.constant(null);
      return fc.array(below(node.items as SchemaNode), { minLength: least, maxLength: 2 }) as never;
    case 'integer':
      return fc.constantFrom(-1, 0, 1, 80, 2 ** 31 - 1);
    case 'number':
      return fc.constantFrom(0, 0.5);
    case 'boolean':
      return fc.boolean();
    default:
      return fc.constantFrom(...texts, ...(options.texts ?? []));
  }
}
