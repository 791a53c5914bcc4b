import { Type } from '@sinclair/typebox';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import type { AnySchema } from './infer-schema.js';
import { isSchemaError, type SchemaProblem } from './schema-error.js';
import type { SchemaExtension } from './structural-schema.js';

function problemsOf(spec: AnySchema, extend: Record<string, SchemaExtension> = {}): readonly SchemaProblem[] {
  try {
    defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec, extend });
  } catch (error) {
    if (isSchemaError(error)) return error.problems;
    throw error;
  }
  return [];
}

let calls = 0;
const computed = (): string => `call ${calls++}`;

const Node: z.ZodType = z.object({
  get kids() {
    return z.array(Node);
  },
});
const Tree: v.GenericSchema = v.object({ kids: v.array(v.lazy(() => Tree)) });
const standard = toStandardJsonSchema;

describe.each<[library: string, refused: Record<string, [schema: AnySchema, path: string, message: RegExp]>]>([
  [
    'zod',
    {
      refine: [z.object({ x: z.string().refine(() => true) }), 'spec.x', /\.refine\(\).*CEL/],
      'refine below': [z.object({ x: z.array(z.string().superRefine(() => {})) }), 'spec.x[]', /\.refine\(\)/],
      'refine on the whole': [z.object({ x: z.string() }).refine(() => true), 'spec', /\.refine\(\)/],
      'refine under wrappers': [
        z.object({
          x: z
            .string()
            .refine(() => true)
            .nullable()
            .optional(),
        }),
        'spec.x',
        /\.refine\(\)/,
      ],
      transform: [z.object({ x: z.string().transform((s) => s.length) }), 'spec.x', /\.transform\(\).*controller/],
      'transform and pipe': [
        z.object({ x: z.string().transform(Number).pipe(z.number()) }),
        'spec.x',
        /\.transform\(\)/,
      ],
      'transform to the same type': [z.object({ x: z.string().transform((s) => s) }), 'spec.x', /\.transform\(\)/],
      'pipe to a narrower schema': [z.object({ x: z.string().pipe(z.string().min(3)) }), 'spec.x', /minLength/],
      preprocess: [z.object({ x: z.preprocess((s) => s, z.string()) }), 'spec.x', /preprocess/],
      codec: [z.object({ x: z.codec(z.string(), z.number(), { decode: Number, encode: String }) }), 'spec.x', /codec/],
      coerce: [z.object({ x: z.coerce.number() }), 'spec.x', /coerce/],
      trim: [z.object({ x: z.string().trim() }), 'spec.x', /trim/],
      catch: [z.object({ x: z.string().catch('a') }), 'spec.x', /\.catch\(\)/],
      'a computed default': [z.object({ x: z.string().default(computed) }), 'spec.x', /computed on each call/],
      'a computed default below': [
        z.object({ x: z.array(z.object({ y: z.string().default(computed) })) }),
        'spec.x[].y',
        /computed on each call/,
      ],
      date: [z.object({ x: z.date() }), 'spec.x', /z\.date\(\) has no JSON form/],
      bigint: [z.object({ x: z.bigint() }), 'spec.x', /z\.bigint\(\)/],
      map: [z.object({ x: z.map(z.string(), z.string()) }), 'spec.x', /z\.map\(\)/],
      set: [z.object({ x: z.set(z.string()) }), 'spec.x', /z\.set\(\)/],
      undefined: [z.object({ x: z.undefined() }), 'spec.x', /z\.undefined\(\)/],
      custom: [z.object({ x: z.custom<string>(() => true) }), 'spec.x', /z\.custom\(\) .* extend: { "spec.x": { type/],
      never: [z.object({ x: z.never().optional() }), 'spec.x', /never/],
      'null alone': [z.object({ x: z.null() }), 'spec.x', /null alone/],
      tuple: [z.object({ x: z.tuple([z.string(), z.int()]) }), 'spec.x', /tuple/],
      'a schema that contains itself': [z.object({ x: Node }), 'spec.x.kids[]', /recursive/],
      'string or number': [z.object({ x: z.union([z.string(), z.number()]) }), 'spec.x', /only an integer/],
      'string or object': [z.object({ x: z.union([z.string(), z.object({})]) }), 'spec.x', /string or object/],
      'variants that differ in a type': [
        z.object({
          x: z.discriminatedUnion('t', [
            z.object({ t: z.literal('a'), p: z.string() }),
            z.object({ t: z.literal('b'), p: z.int() }),
          ]),
        }),
        'spec.x.p',
        /string or integer/,
      ],
      'a default in one variant': [
        z.object({ x: z.union([z.object({ p: z.string().default('a') }), z.object({ q: z.string() })]) }),
        'spec.x.p',
        /set in the others too/,
      ],
      'a pattern with flags': [z.object({ x: z.string().regex(/a/i) }), 'spec.x', /a flag of \/a\/i/],
      'a pattern that RE2 does not have': [z.object({ x: z.string().regex(/(?=a)/) }), 'spec.x', /look-ahead.*extend/],
      'a duration of ISO 8601': [z.object({ x: z.iso.duration() }), 'spec.x', /look-ahead/],
      'a spec that is no object': [z.string(), 'spec', /must be an object/],
    },
  ],
  [
    'arktype',
    {
      narrow: [type({ x: type('string').narrow(() => true) }), 'spec.x', /\.narrow\(\).*CEL/],
      'narrow on a format': [type({ x: type('string.url').narrow(() => true) }), 'spec.x', /\.narrow\(\)/],
      morph: [type({ x: type('string').pipe((s) => s.length) }), 'spec.x', /morph/],
      'a parser': [type({ x: 'string.numeric.parse' }), 'spec.x', /morph/],
      trim: [type({ x: 'string.trim' }), 'spec.x', /morph/],
      'a computed default': [type({ x: type('string').default(computed) }), 'spec.x', /computed on each call/],
      Date: [type({ x: 'Date' }), 'spec.x', /date has no JSON form/],
      bigint: [type({ x: 'bigint' }), 'spec.x', /bigint has no JSON form/],
      tuple: [type({ x: ['string', 'number'] }), 'spec.x', /tuple/],
      'a schema that contains itself': [type.module({ n: { 'kids?': 'n[]' } }).n, 'spec.kids[]', /recursive/],
      'a pattern with back references': [type({ x: 'string.date.iso' }), 'spec.x', /RE2/],
      'an index signature beside named keys': [type({ '[string]': 'number', a: '1' }), 'spec', /both named properties/],
    },
  ],
  [
    'valibot',
    {
      unwrapped: [v.object({ x: v.string() }) as unknown as AnySchema, 'spec', /toStandardJsonSchema/],
      check: [
        standard(
          v.object({
            x: v.pipe(
              v.string(),
              v.check(() => true),
            ),
          }),
        ),
        'spec.x',
        /v\.check\(\).*CEL/,
      ],
      transform: [
        standard(
          v.object({
            x: v.pipe(
              v.string(),
              v.transform((s) => s.length),
            ),
          }),
        ),
        'spec.x',
        /v\.transform\(\)/,
      ],
      trim: [standard(v.object({ x: v.pipe(v.string(), v.trim()) })), 'spec.x', /v\.trim\(\)/],
      fallback: [standard(v.object({ x: v.fallback(v.string(), 'a') })), 'spec.x', /v\.fallback\(\)/],
      'a computed default': [
        standard(v.object({ x: v.optional(v.string(), computed) })),
        'spec.x',
        /computed on each call/,
      ],
      date: [standard(v.object({ x: v.date() })), 'spec.x', /v\.date\(\)/],
      tuple: [standard(v.object({ x: v.tuple([v.string()]) })), 'spec.x', /tuple/],
      'a schema that contains itself': [standard(Tree), 'spec.kids[].kids[]', /recursive/],
    },
  ],
  [
    'TypeBox',
    {
      Date: [Type.Object({ x: Type.Date() }), 'spec.x', /"Date"/],
      BigInt: [Type.Object({ x: Type.BigInt() }), 'spec.x', /"bigint"/],
      RegExp: [Type.Object({ x: Type.RegExp(/a/) }), 'spec.x', /"RegExp"/],
      Tuple: [Type.Object({ x: Type.Tuple([Type.String()]) }), 'spec.x', /tuple/],
      Not: [Type.Object({ x: Type.Not(Type.String()) }), 'spec.x', /not cannot be used/],
      Transform: [
        Type.Object({ x: Type.Transform(Type.String()).Decode(Number).Encode(String) }),
        'spec.x',
        /Type\.Transform\(\)/,
      ],
      Recursive: [
        Type.Object({ x: Type.Recursive((This) => Type.Object({ kids: Type.Array(This) })) }),
        'spec.x.kids[].kids[]',
        /recursive/,
      ],
    },
  ],
  [
    'plain JSON Schema',
    {
      patternProperties: [
        { type: 'object', patternProperties: { '^a': { type: 'string' } } },
        'spec',
        /patternProperties/,
      ],
      if: [{ type: 'object', properties: { x: { type: 'object', if: {}, properties: {} } } }, 'spec.x', /^if cannot/],
      dependentRequired: [
        { type: 'object', properties: {}, dependentRequired: { a: ['b'] } },
        'spec',
        /dependentRequired/,
      ],
      contains: [{ type: 'object', properties: { x: { type: 'array', contains: {} } } }, 'spec.x', /contains/],
      prefixItems: [{ type: 'object', properties: { x: { type: 'array', prefixItems: [] } } }, 'spec.x', /prefixItems/],
      'restricted keys': [
        { type: 'object', propertyNames: { pattern: '^a' }, additionalProperties: { type: 'string' } },
        'spec',
        /keys of a map/,
      ],
      'unique objects': [
        { type: 'object', properties: { x: { type: 'array', uniqueItems: true, items: { type: 'object' } } } },
        'spec.x',
        /uniqueItems/,
      ],
      'a reference that does not resolve': [
        { type: 'object', properties: { x: { $ref: '#/$defs/y' } } },
        'spec.x',
        /does not resolve/,
      ],
      'an extension that is none': [
        { type: 'object', properties: { x: { type: 'string', 'x-kubernetes-foo': 1 } } },
        'spec.x',
        /x-kubernetes-foo is not/,
      ],
      'a default of another type': [
        { type: 'object', properties: { x: { type: 'string', default: 1 } } },
        'spec.x',
        /not of type string/,
      ],
      'a required field without a property': [
        { type: 'object', properties: {}, required: ['x'] },
        'spec.x',
        /prune it/,
      ],
      'an odd name, quoted': [{ type: 'object', properties: { 'a.b': { type: 'null' } } }, 'spec["a.b"]', /null alone/],
      'what is no schema': [5 as unknown as AnySchema, 'spec', /got number/],
    },
  ],
])('%s', (_, refused) => {
  test.each(Object.entries(refused))('%s', (_name, [schema, path, message]) => {
    const problems = problemsOf(schema);
    expect(problems.map((problem) => problem.path)).toContain(path);
    expect(problems.find((problem) => problem.path === path)?.message).toMatch(message);
  });
});

describe('a refinement with a CEL rule', () => {
  const rule: SchemaExtension = { 'x-kubernetes-validations': [{ rule: 'self.startsWith("a")' }] };
  test.each<[string, AnySchema]>([
    ['zod', z.object({ x: z.string().refine((s) => s.startsWith('a')) })],
    ['arktype', type({ x: type('string').narrow((s) => s.startsWith('a')) })],
    [
      'valibot',
      standard(
        v.object({
          x: v.pipe(
            v.string(),
            v.check((s) => s.startsWith('a')),
          ),
        }),
      ),
    ],
  ])('is taken: %s', (_, schema) => {
    expect(problemsOf(schema, { 'spec.x': rule })).toEqual([]);
    expect(problemsOf(schema, { spec: rule })).toHaveLength(1);
  });
  test('may stand in the schema itself', () => {
    expect(
      problemsOf(
        z.object({
          x: z
            .string()
            .refine(() => true)
            .meta({ ...rule }),
        }),
      ),
    ).toEqual([]);
  });
});

test('what a library drops without a word has to be noticed by its hook', () => {
  const target = 'draft-07';
  const refined = z.object({ x: z.string().refine(() => true) });
  expect(refined['~standard'].jsonSchema.input({ target })).toMatchObject({ properties: { x: { type: 'string' } } });
  const defaulted = type({ x: 'number.integer = 1' });
  expect(defaulted['~standard'].jsonSchema.input({ target })).toMatchObject({ properties: { x: { type: 'integer' } } });
  expect(() => defaulted['~standard'].jsonSchema.input({ target: 'openapi-3.0' })).toThrow(/not supported/);
  // Why draft-07 is asked for first: this is no tuple any more.
  expect(z.tuple([z.string()])['~standard'].jsonSchema.input({ target: 'openapi-3.0' })).toMatchObject({
    items: { anyOf: [{ type: 'string' }] },
  });
});

test('a library without openapi-3.0 and one without draft-07 both work', () => {
  const only = (name: string): AnySchema => ({
    '~standard': {
      version: 1,
      vendor: 'other',
      jsonSchema: {
        input: ({ target }: { target: string }) => {
          if (target !== name) throw new Error(`no ${target}`);
          return { type: 'object', properties: { x: { type: 'string' } } };
        },
        output: () => ({ type: 'object', properties: { x: { type: 'string' } }, required: ['x'] }),
      },
    },
  });
  const missing = [{ path: 'spec.x', message: expect.stringMatching(/no default/) }];
  expect(problemsOf(only('openapi-3.0'))).toEqual(missing);
  expect(problemsOf(only('draft-07'))).toEqual(missing);
  expect(problemsOf(only('draft-07'), { 'spec.x': { default: 'a' } })).toEqual([]);
  expect(problemsOf(only('none'))).toEqual([{ path: 'spec', message: expect.stringMatching(/no draft-07/) }]);
});
