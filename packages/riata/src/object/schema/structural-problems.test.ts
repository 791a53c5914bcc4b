import { describe, expect, test } from 'vitest';
import { structuralProblems } from './structural-problems.js';
import type { StructuralSchema } from './structural-schema.js';

const field = (x: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { x } });
const list = (items: StructuralSchema, rest: StructuralSchema = {}): StructuralSchema => ({
  type: 'array',
  items,
  ...rest,
});
const map = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] } as const;

describe('what an API server refuses', () => {
  test.each<[path: string, message: RegExp, schema: StructuralSchema]>([
    ['.', /type object at the root/, { type: 'string' }],
    ['.', /nullable at the root/, { type: 'object', nullable: true }],
    ['.', /additionalProperties at the root/, { type: 'object', additionalProperties: { type: 'string' } }],
    ['x', /must have a type/, field({})],
    ['x[]', /must have a type/, field(list({}))],
    ['x.*', /must have a type/, field({ type: 'object', additionalProperties: {} })],
    ['x', /schema for its items/, field({ type: 'array' })],
    [
      'x',
      /both properties and additionalProperties/,
      field({ type: 'object', properties: {}, additionalProperties: { type: 'string' } }),
    ],
    ['x', /is int-or-string/, field({ type: 'string', 'x-kubernetes-int-or-string': true })],
    ['x', /type must be object/, field({ type: 'string', 'x-kubernetes-embedded-resource': true })],
    ['x', /needs properties/, field({ type: 'object', 'x-kubernetes-embedded-resource': true })],
    [
      'x',
      /cannot be a map/,
      field({ type: 'object', 'x-kubernetes-embedded-resource': true, additionalProperties: { type: 'string' } }),
    ],
    ['x', /is for lists/, field({ type: 'string', 'x-kubernetes-list-type': 'atomic' })],
    ['x', /is for objects/, field({ type: 'string', 'x-kubernetes-map-type': 'atomic' })],
    ['x[]', /scalar, or atomic/, field(list({ type: 'object' }, { 'x-kubernetes-list-type': 'set' }))],
    ['x[]', /cannot be nullable/, field(list({ type: 'string', nullable: true }, { 'x-kubernetes-list-type': 'set' }))],
    ['x', /goes with/, field(list({ type: 'string' }, { 'x-kubernetes-list-map-keys': ['k'] }))],
    ['x', /needs x-kubernetes-list-map-keys/, field(list({ type: 'object' }, { 'x-kubernetes-list-type': 'map' }))],
    ['x[].k', /not a property/, field(list({ type: 'object' }, map))],
    ['x[].k', /must be a scalar/, field(list({ type: 'object', properties: { k: { type: 'object' } } }, map))],
    [
      'x[].k',
      /required or have a default/,
      field(list({ type: 'object', properties: { k: { type: 'string' } } }, map)),
    ],
    ['x', /type cannot be used below/, field({ type: 'string', anyOf: [{ type: 'string' }] })],
    ['x', /default cannot be used below/, field({ type: 'string', allOf: [{ default: 'a' }] })],
    [
      'x',
      /x-kubernetes-validations cannot be used below/,
      field({ type: 'string', not: { 'x-kubernetes-validations': [] } }),
    ],
    ['x.y', /not defined outside/, field({ type: 'object', oneOf: [{ properties: { y: { enum: ['a'] } } }] })],
    ['x', /look-ahead/, field({ type: 'string', pattern: '(?!a)' })],
    ['x', /look-ahead/, field({ type: 'string', anyOf: [{ pattern: '(?!a)' }] })],
    ['x', /must have its expression/, field({ type: 'string', 'x-kubernetes-validations': [{ rule: ' ' }] })],
    ['x', /several lines/, field({ type: 'string', 'x-kubernetes-validations': [{ rule: 'a\nb' }] })],
    ['x', /default "b".*must be one of \["a"\]/, field({ type: 'string', enum: ['a'], default: 'b' })],
    ['x', /default 11.*above 10/, field({ type: 'integer', maximum: 10, default: 11 })],
    ['x', /default 0.*below 0/, field({ type: 'number', minimum: 0, exclusiveMinimum: true, default: 0 })],
    ['x', /\.b is unknown/, field({ type: 'object', properties: {}, default: { b: 1 } })],
    [
      'x',
      /\.b is missing/,
      field({ type: 'object', properties: { b: { type: 'string' } }, required: ['b'], default: {} }),
    ],
    ['x', /null, and not nullable/, field({ type: 'string', default: null })],
    ['x', /\[1\] is not of type string/, field(list({ type: 'string' }, { default: ['a', 1] }))],
    ['x[]', /cannot have a default/, field(list({ type: 'string', default: 'a' }))],
    ['x', /prune it/, { type: 'object', properties: {}, required: ['x'] }],
  ])('%s: %s', (path, message, schema) => {
    const found = structuralProblems(schema).filter((problem) => problem.path === path);
    expect(found.map((problem) => problem.message).join('; ')).toMatch(message);
  });
});

test.each<[string, StructuralSchema]>([
  [
    'fields of every type',
    field({ type: 'object', properties: { a: { type: 'string' }, b: list({ type: 'integer' }) } }),
  ],
  [
    'int-or-string',
    field({ anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true, default: '5%' }),
  ],
  ['anything', field({ 'x-kubernetes-preserve-unknown-fields': true, nullable: true, default: null })],
  ['a list map', field(list({ type: 'object', properties: { k: { type: 'string', default: 'a' } } }, map))],
  [
    'a default filled by defaults below',
    field({ type: 'object', properties: { b: { type: 'string', default: 'c' } }, required: ['b'], default: {} }),
  ],
  [
    'branches about defined fields',
    field({
      type: 'object',
      properties: { y: { type: 'string' } },
      oneOf: [{ required: ['y'] }, { not: { required: ['y'] } }],
    }),
  ],
])('%s: taken', (_, schema) => {
  expect(structuralProblems(schema)).toEqual([]);
});
