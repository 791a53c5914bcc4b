import { describe, expect, test } from 'vitest';
import { anything } from './conversion.js';
import { intersectSchemas } from './intersect-schemas.js';
import { Problems } from './schema-error.js';
import type { StructuralSchema } from './structural-schema.js';

const text: StructuralSchema = { type: 'string' };

function intersect(a: StructuralSchema, b: StructuralSchema) {
  const problems = new Problems();
  const schema = intersectSchemas(a, b, 'spec', problems);
  return { schema, problems: problems.list() };
}

describe('the schema of what both allow', () => {
  test.each<[what: string, a: StructuralSchema, b: StructuralSchema, both: StructuralSchema]>([
    ['anything gives way', anything, text, text],
    ['and so it does on the other side', text, anything, text],
    [
      'a whole number among numbers',
      { type: 'number' },
      { type: 'integer', minimum: 1 },
      { type: 'integer', minimum: 1 },
    ],
    [
      'the same keyword twice: both hold',
      { type: 'integer', minimum: 1, maximum: 9 },
      { type: 'integer', minimum: 3, maximum: 9 },
      { type: 'integer', minimum: 1, maximum: 9, allOf: [{ minimum: 3 }] },
    ],
    [
      'alternatives of both',
      { type: 'string', anyOf: [{ pattern: 'a' }] },
      { type: 'string', anyOf: [{ pattern: 'b' }], not: { enum: ['c'] } },
      { type: 'string', anyOf: [{ pattern: 'a' }], not: { enum: ['c'] }, allOf: [{ anyOf: [{ pattern: 'b' }] }] },
    ],
    ['null only where both take it', { ...text, nullable: true }, { ...text, maxLength: 3 }, { ...text, maxLength: 3 }],
    [
      'items of both',
      { type: 'array', items: { type: 'string', minLength: 1 } },
      { type: 'array', items: { type: 'string', maxLength: 9 }, maxItems: 5 },
      { type: 'array', items: { type: 'string', minLength: 1, maxLength: 9 }, maxItems: 5 },
    ],
    [
      'values of both maps',
      { type: 'object', additionalProperties: { type: 'string', minLength: 1 } },
      { type: 'object', additionalProperties: { type: 'string', maxLength: 9 } },
      { type: 'object', additionalProperties: { type: 'string', minLength: 1, maxLength: 9 } },
    ],
    [
      'fields of both, one in common',
      { type: 'object', properties: { p: { ...text, minLength: 1 } }, required: ['p'] },
      { type: 'object', properties: { p: { ...text, maxLength: 9 }, q: text }, required: ['q', 'p'] },
      { type: 'object', properties: { p: { ...text, minLength: 1, maxLength: 9 }, q: text }, required: ['p', 'q'] },
    ],
  ])('%s', (_, a, b, both) => {
    expect(intersect(a, b)).toEqual({ schema: both, problems: [] });
  });

  test('a field named __proto__ is a field', () => {
    const hostile = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as StructuralSchema;
    const { schema } = intersect({ type: 'object', properties: { p: text } }, hostile);
    expect(Object.keys(schema.properties ?? {})).toEqual(['p', '__proto__']);
  });
});

describe('what nothing can be is named', () => {
  test.each<[what: string, a: StructuralSchema, b: StructuralSchema, path: string, message: RegExp]>([
    ['two types', text, { type: 'boolean' }, 'spec', /must be string and boolean at once/],
    [
      'two types deep inside',
      { type: 'object', properties: { a: { type: 'array', items: text } } },
      { type: 'object', properties: { a: { type: 'array', items: { type: 'object' } } } },
      'spec.a[]',
      /must be string and object at once/,
    ],
    [
      'named fields and a map in one',
      { type: 'object', properties: { a: text } },
      { type: 'object', additionalProperties: text },
      'spec',
      /both named properties and a schema for all others/,
    ],
  ])('%s', (_, a, b, path, message) => {
    expect(intersect(a, b).problems).toEqual([{ path, message: expect.stringMatching(message) }]);
  });
});
