import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeJson } from '../encode-json.js';
import { lossOf } from '../value/lossy.js';
import { decodeObject } from './decode-object.js';

const bytes = (text: string) => Buffer.from(text);
const cut = (text: string) => decodeObject(bytes(text), { cutManagedFields: true });

describe('cutting managedFields', () => {
  test.each([
    ['only member', '{"metadata":{"managedFields":[{"a":[1]}]}}', { metadata: {} }],
    ['first member', '{"metadata":{"managedFields":[],"name":"x"}}', { metadata: { name: 'x' } }],
    ['last member', '{"metadata":{"name":"x","managedFields":[]},"spec":1}', { metadata: { name: 'x' }, spec: 1 }],
    ['in the middle', '{"metadata":{"name":"x","managedFields":[],"uid":"u"}}', { metadata: { name: 'x', uid: 'u' } }],
    ['an object', '{"metadata":{"managedFields":{"a":{}},"name":"x"}}', { metadata: { name: 'x' } }],
    ['null', '{"metadata":{"managedFields":null,"name":"x"}}', { metadata: { name: 'x' } }],
    ['a string', '{"metadata":{"name":"x","managedFields":"]},{"}}', { metadata: { name: 'x' } }],
    ['spread out', ' {\n "metadata" :\t{ "name" : "x" ,\r\n "managedFields" : [ ] } } ', { metadata: { name: 'x' } }],
    ['spread out, first', '{ "metadata": { "managedFields" : [ ] , "name": "x" } }', { metadata: { name: 'x' } }],
    ['an escaped key', '{"metadata":{"\\u006danagedFields":[1],"name":"x"}}', { metadata: { name: 'x' } }],
    ['an escaped parent', '{"\\u006detadata":{"managedFields":[1],"name":"x"}}', { metadata: { name: 'x' } }],
    ['twice', '{"metadata":{"managedFields":[1],"managedFields":[2],"a":1}}', { metadata: { a: 1 } }],
    [
      'metadata twice',
      '{"metadata":{"managedFields":[1]},"metadata":{"managedFields":[1],"a":1}}',
      { metadata: { a: 1 } },
    ],
    ['metadata twice, the last an array', '{"metadata":{"managedFields":[1]},"metadata":[1]}', { metadata: [1] }],
    [
      'brackets in strings',
      '{"metadata":{"managedFields":["]}\\"]},"],"a":"\\\\"},"b":"}"}',
      { metadata: { a: '\\' }, b: '}' },
    ],
  ])('%s', (_, text, expected) => {
    expect(cut(text)).toEqual(expected);
    expect(decodeObject(bytes(text))).toEqual(JSON.parse(text));
  });

  test.each([
    ['in spec', '{"spec":{"managedFields":[1]},"metadata":{"name":"x"}}'],
    ['at the top', '{"managedFields":[1],"metadata":{"name":"x"}}'],
    ['in an embedded template', '{"spec":{"template":{"metadata":{"managedFields":[1]}}}}'],
    ['in the metadata of a template at the top', '{"template":{"metadata":{"managedFields":[1]}}}'],
    [
      'deeper in metadata',
      '{"metadata":{"annotations":{"managedFields":"x"},"ownerReferences":[{"managedFields":[1]}]}}',
    ],
    ['as a value', '{"metadata":{"name":"managedFields","a":["managedFields"]},"kind":"metadata"}'],
    ['as text', '{"metadata":{"annotations":{"last":"{\\"metadata\\":{\\"managedFields\\":[1]}}"}}}'],
    ['in an array called metadata', '{"metadata":[{"managedFields":[1]}]}'],
    ['after a value "metadata"', '{"kind":"metadata","spec":{"managedFields":[1]}}'],
    [
      'longer and shorter names',
      '{"metadata":{"managedField":[1],"managedFieldsX":[1],"managedfields":[1]},"metadat":{"managedFields":[1]}}',
    ],
  ])('leaves a field of that name %s', (_, text) => {
    expect(cut(text)).toEqual(JSON.parse(text));
  });

  test('keeps the order of keys, and keys like __proto__ as data', () => {
    const text = '{"z":1,"metadata":{"b":1,"managedFields":[],"__proto__":{"x":1},"a":2},"__proto__":2,"10":3}';
    const value = cut(text) as { metadata: object };
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text.replace('"managedFields":[],', ''))));
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    const escaped = cut(text.replace('"managedFields"', '"m\\u0061nagedFields"')) as { metadata: object };
    expect(JSON.stringify(escaped)).toBe(JSON.stringify(value));
  });

  test('for any object, the result is the parsed one without metadata.managedFields', () => {
    fc.assert(
      fc.property(hostileObject, fc.boolean(), fc.boolean(), (object, pretty, escaped) => {
        let text = JSON.stringify(object, null, pretty ? '\t ' : undefined);
        if (escaped) text = text.replace(/"m(anagedFields|etadata)"/g, '"\\u006d$1"');
        const expected = JSON.parse(text);
        expect(decodeObject(bytes(text))).toEqual(expected);
        if (typeof expected.metadata === 'object' && expected.metadata !== null && !Array.isArray(expected.metadata)) {
          delete expected.metadata.managedFields;
        }
        expect(cut(text)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('numbers', () => {
  const lossPaths = (text: string, options?: object) => lossOf(decodeObject<object>(bytes(text), options))?.reasons;

  test.each([
    ['{"spec":{"a":9007199254740993}}', ['spec.a']],
    ['{"a":[1,{"b":-9007199254740993},{"c":[12345678901234567890]}]}', ['a[1].b', 'a[2].c[0]']],
    ['{"a":9007199254740992,"b":1e400,"c":-9007199254740993}', ['a', 'c']],
    ['{"a/b":{"x y":9223372036854775807}}', ['["a/b"]["x y"]']],
    ['{ "a" : { "b" : [ ] } , "c" : 9223372036854775807 }', ['c']],
  ])('%s is marked lossy', (text, paths) => {
    expect(lossPaths(text)).toEqual([{ reason: 'unsafe-integer', paths }]);
  });

  test.each([
    '{"a":9007199254740991,"b":-9007199254740991}',
    '{"a":"9007199254740993","b":"x 12345678901234567890 \\" 12345678901234567890"}',
    '{"9007199254740993":1}',
    '{"a":0.12345678901234567890,"b":1.5e10,"c":1e-7,"d":123456789012345.5}',
  ])('%s is exact enough', (text) => {
    expect(lossPaths(text)).toBeUndefined();
  });

  test('one too large for a double, which no Go server can hold, is not written back', () => {
    const object = decodeObject(bytes('{"spec":{"limits":[1e400]}}'));
    expect(object).toEqual({ spec: { limits: [Number.POSITIVE_INFINITY] } });
    expect(() => encodeJson(object)).toThrow('spec.limits.0: expected plain JSON, got Infinity');
  });

  test('what is cut does not count', () => {
    const text = '{"metadata":{"managedFields":[9007199254740993]}}';
    expect(lossPaths(text)).toHaveLength(1);
    expect(lossPaths(text, { cutManagedFields: true })).toBeUndefined();
    expect(lossPaths(text.replace('"m', '"\\u006d'), { cutManagedFields: true })).toBeUndefined();
  });
});

describe('what is not one object', () => {
  test.each([
    '',
    '  ',
    '[]',
    '1',
    'null',
    '"{}"',
    '{',
    '{}}',
    '{} {}',
    '{"a":1,}',
    '{"a":tru}',
    '{"a":"\n"}',
    '<html>',
  ])('%j is a SyntaxError', (text) => {
    expect(() => decodeObject(bytes(text))).toThrow(SyntaxError);
  });

  test('cut off at any byte, it is a SyntaxError', () => {
    const text = bytes('{"a":"é\\"","metadata":{"managedFields":[{}],"n":[1.5e3,true,null]}} ');
    for (let end = 0; end < text.length - 2; end++) {
      expect(() => decodeObject(text.subarray(0, end), { cutManagedFields: true })).toThrow(SyntaxError);
    }
  });
});

const key = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('metadata', 'managedFields', 'spec', 'name', 'template', '__proto__', 'a"b', '\\'),
  },
  fc.string({ maxLength: 5, unit: 'binary' }),
);
const { hostileValue } = fc.letrec<{ hostileValue: unknown }>((tie) => ({
  hostileValue: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(
      null,
      true,
      1,
      -2.5,
      '',
      'managedFields',
      '"managedFields":[]',
      '{"metadata":{',
      '\\"',
      'é漢😀',
    ),
    fc.array(tie('hostileValue'), { maxLength: 3 }),
    fc.dictionary(key, tie('hostileValue'), { maxKeys: 4 }),
  ),
}));
const hostileObject = fc
  .tuple(
    fc.dictionary(key, hostileValue, { maxKeys: 4 }),
    fc.option(
      fc.tuple(
        fc.dictionary(key, hostileValue, { maxKeys: 3 }),
        hostileValue,
        fc.dictionary(key, hostileValue, { maxKeys: 3 }),
      ),
    ),
  )
  .map(([object, metadata]) =>
    metadata === null
      ? object
      : { ...object, metadata: { ...metadata[0], managedFields: metadata[1], ...metadata[2] } },
  );
