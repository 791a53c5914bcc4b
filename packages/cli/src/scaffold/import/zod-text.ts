import type { StructuralSchema } from 'riata/object';
import { literalOf } from '../example-spec.js';

/** A schema as code, and what of it could not be said. */
export interface ZodText {
  readonly text: string;
  /** `spec.port: oneOf`. */
  readonly dropped: readonly string[];
}

/** Keywords that zod has no method for, or writes in another form, and passes on from its metadata. */
const metaKeywords = ['format', 'pattern', 'multipleOf', 'minProperties', 'maxProperties', 'uniqueItems'] as const;
const droppedKeywords = ['allOf', 'anyOf', 'oneOf', 'not'] as const;

/** The expression that makes a zod schema of a structural one. Its lines after the first are indented by `indent`. */
export function zodText(schema: StructuralSchema, path: string, indent = '', skip: readonly string[] = []): ZodText {
  const dropped: string[] = [];
  const text = expressionOf(schema, path, indent, skip);
  return { text, dropped };

  function expressionOf(each: StructuralSchema, at: string, space: string, omitted: readonly string[] = []): string {
    const isIntOrString = each['x-kubernetes-int-or-string'] === true;
    for (const keyword of droppedKeywords) {
      if (each[keyword] !== undefined && !(isIntOrString && keyword === 'anyOf')) dropped.push(`${at}: ${keyword}`);
    }
    const [base, native] = isIntOrString ? ['z.union([z.int(), z.string()])', []] : typeOf(each, at, space, omitted);
    const meta = metaOf(each, native);
    return [
      base,
      ...(Object.keys(meta).length === 0 ? [] : [`.meta(${literalOf(meta)})`]),
      ...(each.description === undefined ? [] : [`.describe(${literalOf(each.description)})`]),
      ...(each.nullable ? ['.nullable()'] : []),
      ...(each.default !== undefined && !isDeep(each.default) ? [`.default(${literalOf(each.default)})`] : []),
    ].join('');
  }

  /** The schema of a type, with the keywords that it says itself. */
  function typeOf(
    each: StructuralSchema,
    at: string,
    space: string,
    omitted: readonly string[],
  ): [text: string, native: readonly string[]] {
    const keepsUnknown = each['x-kubernetes-preserve-unknown-fields'] === true;
    switch (each.type) {
      case 'object': {
        const values = each.additionalProperties as StructuralSchema | boolean | undefined;
        if (typeof values === 'object') return [`z.record(z.string(), ${expressionOf(values, `${at}.*`, space)})`, []];
        const keyword = 'x-kubernetes-preserve-unknown-fields';
        const isLoose = keepsUnknown || values === true;
        return [
          `${isLoose ? 'z.looseObject' : 'z.object'}(${fieldsOf(each, at, space, omitted)})`,
          isLoose ? [keyword] : [],
        ];
      }
      case 'array':
        return [
          `z.array(${expressionOf(each.items ?? {}, `${at}[]`, space)})${limits(each, 'minItems', 'maxItems')}`,
          [],
        ];
      case 'string':
        if (each.enum?.every((value) => typeof value === 'string'))
          return [`z.enum(${literalOf(each.enum)})`, ['enum']];
        return [`z.string()${limits(each, 'minLength', 'maxLength')}`, []];
      case 'integer':
        return [`z.int()${limits(each, 'minimum', 'maximum')}`, []];
      case 'number':
        return [`z.number()${limits(each, 'minimum', 'maximum')}`, []];
      case 'boolean':
        return ['z.boolean()', []];
      default:
        // Without a type, it may be anything: a server keeps what it does not know.
        return keepsUnknown
          ? ['z.unknown()', []]
          : ["z.unknown().meta({ 'x-kubernetes-preserve-unknown-fields': true })", []];
    }
  }

  function fieldsOf(each: StructuralSchema, at: string, space: string, omitted: readonly string[]): string {
    const fields = Object.entries(each.properties ?? {}).filter(([name]) => !omitted.includes(name));
    if (fields.length === 0) return '{}';
    const inner = `${space}  `;
    const lines = fields.map(([name, field]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : literalOf(name);
      const isOptional = !each.required?.includes(name) && (field.default === undefined || isDeep(field.default));
      return `${inner}${key}: ${expressionOf(field, `${at}.${name}`, inner)}${isOptional ? '.optional()' : ''},`;
    });
    return `{\n${lines.join('\n')}\n${space}}`;
  }
}

/** `.min(1).max(10)`; exclusive limits are metadata. */
function limits(schema: StructuralSchema, min: keyof StructuralSchema, max: keyof StructuralSchema): string {
  if (schema.exclusiveMinimum !== undefined || schema.exclusiveMaximum !== undefined) return '';
  const [least, most] = [schema[min], schema[max]];
  return `${least === undefined ? '' : `.min(${least})`}${most === undefined ? '' : `.max(${most})`}`;
}

function metaOf(schema: StructuralSchema, native: readonly string[]): Record<string, unknown> {
  const isExclusive = schema.exclusiveMinimum !== undefined || schema.exclusiveMaximum !== undefined;
  const bounds = isExclusive ? ['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'] : [];
  const names: string[] = [...metaKeywords, 'enum', ...bounds].filter((name) => !native.includes(name));
  const extensions = Object.keys(schema).filter((name) => name.startsWith('x-kubernetes-') && !native.includes(name));
  const all = [...names, ...extensions, ...(isDeep(schema.default) ? ['default'] : [])];
  const source = schema as Readonly<Record<string, unknown>>;
  return Object.fromEntries(all.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));
}

/** Defaults of objects and lists may leave out what has a default itself, which zod's types would refuse. */
const isDeep = (value: unknown) => typeof value === 'object' && value !== null;
