import { Type } from '@sinclair/typebox';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import type { AnySchema } from './infer-schema.js';
import type { SchemaExtension } from './structural-schema.js';

function specOf(spec: AnySchema, extend: Record<string, SchemaExtension> = {}): unknown {
  return defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec, extend }).schema.properties?.spec;
}

/** The structural schema of one field. */
function fieldOf(spec: AnySchema): unknown {
  return (specOf(spec) as { properties: Record<string, unknown> }).properties.x;
}

const discriminated = {
  type: 'object',
  required: ['t'],
  properties: { t: { type: 'string', enum: ['a', 'b'] }, p: { type: 'string' }, q: { type: 'integer' } },
};
const perVariant = [
  { required: ['p'], properties: { t: { enum: ['a'] } } },
  { required: ['q'], properties: { t: { enum: ['b'] } } },
];
const intOrString = { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true };
const anything = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true };

describe.each<[library: string, fields: Record<string, [schema: AnySchema, expected: unknown]>]>([
  [
    'zod',
    {
      string: [z.object({ x: z.string().min(1).max(9) }), { type: 'string', minLength: 1, maxLength: 9 }],
      'an integer without the bounds of JavaScript': [z.object({ x: z.int() }), { type: 'integer' }],
      'an integer with bounds of its own': [
        z.object({ x: z.int().min(0).max(10) }),
        { type: 'integer', minimum: 0, maximum: 10 },
      ],
      'exclusive bounds': [
        z.object({ x: z.number().gt(1).lt(5) }),
        { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: true },
      ],
      'a literal': [z.object({ x: z.literal('on') }), { type: 'string', enum: ['on'] }],
      'an enum': [z.object({ x: z.enum(['a', 'b']) }), { type: 'string', enum: ['a', 'b'] }],
      'a union of literals': [
        z.object({ x: z.union([z.literal('a'), z.literal('b')]) }),
        { type: 'string', enum: ['a', 'b'] },
      ],
      nullable: [z.object({ x: z.string().nullable() }), { type: 'string', nullable: true }],
      'a nullable enum, which a server takes below allOf only': [
        z.object({ x: z.enum(['a']).nullable() }),
        { type: 'string', nullable: true, allOf: [{ enum: ['a'] }] },
      ],
      default: [z.object({ x: z.int().default(3) }), { type: 'integer', default: 3 }],
      'a default made by a function that always gives the same': [
        z.object({ x: z.array(z.string()).default(() => []) }),
        { type: 'array', items: { type: 'string' }, default: [] },
      ],
      'a default before parsing': [
        z.object({ x: z.object({ n: z.int().default(1) }).prefault({}) }),
        { type: 'object', properties: { n: { type: 'integer', default: 1 } }, default: {} },
      ],
      record: [
        z.object({ x: z.record(z.string(), z.int()) }),
        { type: 'object', additionalProperties: { type: 'integer' } },
      ],
      'a record of known keys': [
        z.object({ x: z.partialRecord(z.enum(['a', 'b']), z.string()) }),
        { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } },
      ],
      'int or string': [z.object({ x: z.union([z.string(), z.int()]) }), intOrString],
      'a word or an integer': [
        z.object({ x: z.union([z.literal('auto'), z.int().min(1)]) }),
        { ...intOrString, minimum: 1, pattern: '^(auto)$' },
      ],
      'a discriminated union': [
        z.object({
          x: z.discriminatedUnion('t', [
            z.object({ t: z.literal('a'), p: z.string() }),
            z.object({ t: z.literal('b'), q: z.int() }),
          ]),
        }),
        { ...discriminated, oneOf: perVariant },
      ],
      'a union of closed objects': [
        z.object({ x: z.union([z.strictObject({ p: z.string() }), z.strictObject({ q: z.int() })]) }),
        {
          type: 'object',
          properties: { p: { type: 'string' }, q: { type: 'integer' } },
          anyOf: [
            { required: ['p'], not: { required: ['q'] } },
            { required: ['q'], not: { required: ['p'] } },
          ],
        },
      ],
      intersection: [
        z.object({ x: z.intersection(z.object({ p: z.string() }), z.object({ q: z.string() })) }),
        { type: 'object', properties: { p: { type: 'string' }, q: { type: 'string' } }, required: ['p', 'q'] },
      ],
      'several patterns': [
        z.object({ x: z.string().startsWith('a').endsWith('z') }),
        { type: 'string', pattern: '^a.*', allOf: [{ pattern: '.*z$' }] },
      ],
      'a format that the server knows': [z.object({ x: z.url() }), { type: 'string', format: 'uri' }],
      'a format that it does not know, as its pattern': [
        z.object({ x: z.cuid2() }),
        { type: 'string', pattern: '^[0-9a-z]+$' },
      ],
      'a date, which keeps its pattern': [
        z.object({ x: z.iso.datetime() }),
        { type: 'string', format: 'date-time', pattern: expect.stringMatching(/^\^.*Z\)\)\$$/) },
      ],
      anything: [z.object({ x: z.unknown() }), anything],
      'any JSON': [z.object({ x: z.json() }), anything],
      'an open object': [
        z.object({ x: z.looseObject({ p: z.string() }) }),
        {
          type: 'object',
          properties: { p: { type: 'string' } },
          required: ['p'],
          'x-kubernetes-preserve-unknown-fields': true,
        },
      ],
      'a schema with an id, which zod makes a $ref': [
        z.object({ x: z.object({ p: z.string() }).meta({ id: 'convert-schema-test' }) }),
        { type: 'object', properties: { p: { type: 'string' } }, required: ['p'] },
      ],
      'extensions in its own metadata, and no title or examples': [
        z.object({
          x: z
            .array(z.string())
            .meta({ 'x-kubernetes-list-type': 'set', title: 'T', description: 'D', examples: [['a']] }),
        }),
        { type: 'array', description: 'D', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ],
    },
  ],
  [
    'arktype',
    {
      'a default, which its standard form drops': [type({ x: 'number.integer = 1' }), { type: 'integer', default: 1 }],
      'a default made by a function': [
        type({ x: type('string[]').default(() => []) }),
        { type: 'array', items: { type: 'string' }, default: [] },
      ],
      'literals without a type': [type({ x: "'a'|'b'" }), { type: 'string', enum: ['a', 'b'] }],
      null: [type({ x: 'string|null' }), { type: 'string', nullable: true }],
      boolean: [type({ x: 'boolean' }), { type: 'boolean' }],
      bounds: [
        type({ x: '0 < number.integer <= 10' }),
        { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 10 },
      ],
      'int or string': [type({ x: 'string|number.integer' }), intOrString],
      record: [type({ x: 'Record<string, number>' }), { type: 'object', additionalProperties: { type: 'number' } }],
      'any object': [type({ x: 'object' }), { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
      'a union of strings': [
        type({ x: 'string.uuid' }),
        expect.objectContaining({ type: 'string', format: 'uuid', anyOf: expect.any(Array) }),
      ],
      'a format that it checks by a predicate of its own': [
        type({ x: 'string.url' }),
        { type: 'string', format: 'uri' },
      ],
      'a union told apart by a field': [
        type({ x: type({ t: "'a'", p: 'string' }).or({ t: "'b'", q: 'number.integer' }) }),
        { ...discriminated, anyOf: perVariant },
      ],
    },
  ],
  [
    'valibot',
    {
      default: [
        toStandardJsonSchema(v.object({ x: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1) })),
        { type: 'integer', minimum: 0, default: 1 },
      ],
      'exclusive bounds, which its openapi-3.0 lacks': [
        toStandardJsonSchema(v.object({ x: v.pipe(v.number(), v.gtValue(1)) })),
        { type: 'number', minimum: 1, exclusiveMinimum: true },
      ],
      picklist: [toStandardJsonSchema(v.object({ x: v.picklist(['a', 'b']) })), { type: 'string', enum: ['a', 'b'] }],
      nullish: [toStandardJsonSchema(v.object({ x: v.nullish(v.string()) })), { type: 'string', nullable: true }],
      variant: [
        toStandardJsonSchema(
          v.object({
            x: v.variant('t', [
              v.object({ t: v.literal('a'), p: v.string() }),
              v.object({ t: v.literal('b'), q: v.pipe(v.number(), v.integer()) }),
            ]),
          }),
        ),
        { ...discriminated, oneOf: perVariant },
      ],
      intersect: [
        toStandardJsonSchema(v.object({ x: v.intersect([v.object({ p: v.string() }), v.object({ q: v.string() })]) })),
        { type: 'object', properties: { p: { type: 'string' }, q: { type: 'string' } }, required: ['p', 'q'] },
      ],
    },
  ],
  [
    'TypeBox',
    {
      'a union of literals': [
        Type.Object({ x: Type.Union([Type.Literal('a'), Type.Literal('b')]) }),
        { type: 'string', enum: ['a', 'b'] },
      ],
      'a record, which it writes as patternProperties': [
        Type.Object({ x: Type.Record(Type.String(), Type.Number()) }),
        { type: 'object', additionalProperties: { type: 'number' } },
      ],
      intersect: [
        Type.Object({ x: Type.Intersect([Type.Object({ p: Type.String() }), Type.Object({ q: Type.String() })]) }),
        { type: 'object', properties: { p: { type: 'string' }, q: { type: 'string' } }, required: ['p', 'q'] },
      ],
      'int or string': [Type.Object({ x: Type.Union([Type.Integer(), Type.String()]) }), intOrString],
      default: [Type.Object({ x: Type.Integer({ default: 1 }) }), { type: 'integer', default: 1 }],
    },
  ],
  [
    'plain JSON Schema',
    {
      'type arrays': [
        { properties: { x: { type: ['string', 'null'] } }, type: 'object' },
        { type: 'string', nullable: true },
      ],
      'a nullable enum of OpenAPI 3.0': [
        { type: 'object', properties: { x: { nullable: true, anyOf: [{ enum: ['a'] }, { enum: ['b'] }] } } },
        { type: 'string', nullable: true, allOf: [{ enum: ['a', 'b'] }] },
      ],
      const: [
        { type: 'object', properties: { x: { const: 5 } } },
        { type: 'integer', enum: [5] },
      ],
      'a closed object': [
        { type: 'object', properties: { x: { type: 'object', properties: {}, additionalProperties: false } } },
        { type: 'object' },
      ],
      'unique items of a scalar type': [
        { type: 'object', properties: { x: { type: 'array', items: { type: 'string' }, uniqueItems: true } } },
        { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ],
      'references with siblings': [
        {
          type: 'object',
          properties: { x: { $ref: '#/$defs/a~1b', description: 'here' } },
          $defs: { 'a/b': { type: 'string', description: 'there' } },
        },
        { description: 'here', type: 'string' },
      ],
      'branches that only restrict': [
        {
          type: 'object',
          properties: {
            x: {
              type: 'object',
              properties: { p: { type: 'string' }, q: { type: 'string' } },
              oneOf: [{ required: ['p'] }, { required: ['q'], properties: { q: { minLength: 2 } } }],
            },
          },
        },
        {
          type: 'object',
          properties: { p: { type: 'string' }, q: { type: 'string' } },
          oneOf: [{ required: ['p'] }, { required: ['q'], properties: { q: { minLength: 2 } } }],
        },
      ],
      'a structural schema as it is': [
        { type: 'object', properties: { x: { ...intOrString, pattern: '^a$' } } },
        { ...intOrString, pattern: '^a$' },
      ],
      'a key that is code elsewhere': [
        {
          type: 'object',
          properties: { x: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') },
        },
        JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
      ],
    },
  ],
])('%s', (_, fields) => {
  test.each(Object.entries(fields))('%s', (_name, [schema, expected]) => {
    expect(fieldOf(schema)).toEqual(expected);
  });
});

describe('extend', () => {
  const recursive: AnySchema = {
    type: 'object',
    properties: { x: { type: 'string' }, kids: { type: 'array', items: { $ref: '#' } } },
  };
  test('lays keywords over fields at any depth', () => {
    const spec = z.object({ ports: z.array(z.object({ name: z.string() })), labels: z.record(z.string(), z.string()) });
    expect(
      specOf(spec, {
        spec: { 'x-kubernetes-validations': [{ rule: 'size(self.ports) < 9', message: 'too many' }] },
        'spec.ports': { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
        'spec.ports[].name': { default: 'http', maxLength: 15 },
        'spec.labels': { 'x-kubernetes-map-type': 'atomic' },
        'spec.labels.*': { pattern: '^[a-z]*$' },
      }),
    ).toEqual({
      type: 'object',
      properties: {
        ports: {
          type: 'array',
          items: {
            type: 'object',
            properties: { name: { type: 'string', maxLength: 15, default: 'http' } },
            required: ['name'],
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        labels: {
          type: 'object',
          additionalProperties: { type: 'string', pattern: '^[a-z]*$' },
          'x-kubernetes-map-type': 'atomic',
        },
      },
      required: ['ports', 'labels'],
      'x-kubernetes-validations': [{ rule: 'size(self.ports) < 9', message: 'too many' }],
    });
  });
  test('adds rules to those of the schema', () => {
    const spec = z.object({ x: z.string().meta({ 'x-kubernetes-validations': [{ rule: 'self != "a"' }] }) });
    expect(specOf(spec, { 'spec.x': { 'x-kubernetes-validations': [{ rule: 'self != "b"' }] } })).toMatchObject({
      properties: { x: { 'x-kubernetes-validations': [{ rule: 'self != "a"' }, { rule: 'self != "b"' }] } },
    });
  });
  test('ends a schema that contains itself', () => {
    expect(specOf(recursive, { 'spec.kids[]': { 'x-kubernetes-preserve-unknown-fields': true } })).toEqual({
      type: 'object',
      properties: {
        x: { type: 'string' },
        kids: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    });
  });
  test('takes anything where a union cannot be said', () => {
    const spec = z.object({ x: z.union([z.string(), z.object({ a: z.string() })]) });
    expect(specOf(spec, { 'spec.x': { 'x-kubernetes-preserve-unknown-fields': true } })).toMatchObject({
      properties: { x: { 'x-kubernetes-preserve-unknown-fields': true } },
    });
  });
});
