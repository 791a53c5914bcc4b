import fc from 'fast-check';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { escapeFieldValue, fieldSelectorFrom, parseFieldSelector } from './field-selector.js';

describe('parse and print', () => {
  test.each([
    ['', ''],
    ['a=b', 'a=b'],
    ['a==b', 'a=b'],
    ['a!=b', 'a!=b'],
    ['b=2,a=1', 'a=1,b=2'],
    [',a=b,,', 'a=b'],
    ['a=', 'a='],
    ['=b', '=b'],
    ['=', ''],
    ['a= b ', 'a= b '],
    ['a=b\\,c', 'a=b\\,c'],
    ['a=b\\=c', 'a=b\\=c'],
    ['a=b\\\\', 'a=b\\\\'],
    ['a=b!', 'a=b!'],
    ['a=x\\,y,b!=z', 'a=x\\,y,b!=z'],
    ['metadata.name=cart,status.phase!=Running', 'metadata.name=cart,status.phase!=Running'],
  ])('%j prints as %j', (text, printed) => {
    expect(parseFieldSelector(text).toString()).toBe(printed);
  });

  test.each([
    ['a', 'expected "a" to hold one of =, ==, !='],
    ['a=b,c', 'expected "c" to hold one of =, ==, !='],
    ['a===b', '"=" in a value must be written "\\="'],
    ['a=b=c', '"=" in a value must be written "\\="'],
    ['a=\\x', 'unknown escape "\\\\x"'],
    ['a=b\\', 'unknown escape "\\\\"'],
    ['a=b\\\\\\', 'unknown escape'],
    ['\\,', 'to hold one of'],
  ])('%j is refused', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(SyntaxError);
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  test('requirements', () => {
    expect(parseFieldSelector('a!=\\,,b==2').requirements).toEqual([
      { field: 'a', operator: '!=', value: ',' },
      { field: 'b', operator: '=', value: '2' },
    ]);
    expect(JSON.stringify(parseFieldSelector('b=2,a=1'))).toBe('"a=1,b=2"');
  });
});

describe('match', () => {
  test('a missing field is an empty one', () => {
    expect(parseFieldSelector('a=').matches({})).toBe(true);
    expect(parseFieldSelector('a!=x').matches({})).toBe(true);
    expect(parseFieldSelector('a=x').matches({})).toBe(false);
    expect(parseFieldSelector('a!=').matches({ a: undefined })).toBe(false);
  });

  test('all terms must hold, fields from a map or a function', () => {
    const selector = parseFieldSelector('a=1,b!=2');
    expect(selector.matches({ a: '1', b: '3' })).toBe(true);
    expect(selector.matches({ a: '1', b: '2' })).toBe(false);
    expect(selector.matches((field) => (field === 'a' ? '1' : undefined))).toBe(true);
    expect(selector.isEmpty()).toBe(false);
    expect(parseFieldSelector('').isEmpty()).toBe(true);
    expect(parseFieldSelector('').matches({ any: 'thing' })).toBe(true);
  });

  test('inherited properties are no fields', () => {
    expect(parseFieldSelector('constructor!=').matches({})).toBe(false);
    expect(parseFieldSelector('__proto__=x').matches(JSON.parse('{"__proto__":"x"}'))).toBe(true);
  });

  test('finds the exact value of a field', () => {
    const selector = parseFieldSelector('metadata.name=cart,spec.nodeName!=n');
    expect(selector.requiresExactMatch('metadata.name')).toBe('cart');
    expect(selector.requiresExactMatch('spec.nodeName')).toBeUndefined();
    expect(selector.requiresExactMatch('x')).toBeUndefined();
  });
});

describe('from an object', () => {
  test('is sorted and escaped', () => {
    const selector = fieldSelectorFrom({ 'status.phase': 'a,b', 'metadata.name': 'x=y' });
    expect(selector.toString()).toBe('metadata.name=x\\=y,status.phase=a\\,b');
    expectTypeOf(fieldSelectorFrom<'a'>)
      .parameter(0)
      .toEqualTypeOf<Readonly<Record<'a', string>>>();
  });

  test('what would select more than was meant is refused', () => {
    expect(() => fieldSelectorFrom({ a: undefined as never })).toThrow('expected a string for "a", got undefined');
    for (const field of ['', 'a=b', 'a,b', 'a!', 'a\\']) {
      expect(() => fieldSelectorFrom({ [field]: 'x' })).toThrow(`${JSON.stringify(field)} is not a valid field name`);
    }
  });

  test('any value survives printing and reading', () => {
    const value = fc.string({
      unit: fc.oneof(fc.constantFrom(',', '=', '\\', '!', ' '), fc.string({ minLength: 1, maxLength: 1 })),
    });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'metadata.name', 'c-d'), value), (fields) => {
        const selector = fieldSelectorFrom(fields);
        const read = parseFieldSelector(selector.toString());
        expect(read.matches(fields)).toBe(true);
        expect(read.toString().split('').sort()).toEqual(selector.toString().split('').sort());
        expect(read.requirements).toHaveLength(Object.keys(fields).length);
      }),
    );
  });

  test('escapes', () => {
    expect(escapeFieldValue('a,b=c\\d')).toBe('a\\,b\\=c\\\\d');
  });
});
