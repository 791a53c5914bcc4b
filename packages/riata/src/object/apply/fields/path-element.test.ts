import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  elementKeys,
  fieldElement,
  fieldName,
  formatElement,
  formatPath,
  indexElement,
  keyElement,
  parseElement,
  sortElements,
  valueElement,
} from './path-element.js';

describe('parseElement', () => {
  test.each([
    ['f:a.b:c', 'f:a.b:c'],
    ['f:', 'f:'],
    ['k:{"b":1.0,"a":"x"}', 'k:{"a":"x","b":1}'],
    ['k:{}', 'k:{}'],
    ['k:{"a":"<"}', 'k:{"a":"\\u003c"}'],
    ['v: "x"', 'v:"x"'],
    ['v:true', 'v:true'],
    ['i:+05', 'i:5'],
    ['z:anything', undefined],
  ])('%j is %j', (text, element) => {
    expect(parseElement(text)).toBe(element);
  });

  test.each(['', 'f', 'fa', 'k:[]', 'k:{', 'v:', 'i:', 'i:x', 'i:1.5'])('%j is refused', (text) => {
    expect(() => parseElement(text)).toThrow(expect.objectContaining({ name: 'FieldsV1Error' }));
  });

  test('what is made can be read', () => {
    const json = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    const keys = fc.dictionary(fc.string(), json, { minKeys: 1 }).map((all) => keyElement(Object.entries(all)));
    const element = fc.oneof(fc.string().map(fieldElement), keys, json.map(valueElement), fc.nat().map(indexElement));
    fc.assert(
      fc.property(element, (made) => {
        expect(parseElement(made)).toBe(made);
      }),
    );
  });
});

test('parts', () => {
  expect(fieldName('f:a:b')).toBe('a:b');
  expect(fieldName('v:"f"')).toBeUndefined();
  expect(
    elementKeys(
      keyElement([
        ['b', 1],
        ['a', null],
      ]),
    ),
  ).toEqual([
    ['a', null],
    ['b', 1],
  ]);
  expect(elementKeys('f:k')).toBeUndefined();
});

test('elements in messages', () => {
  expect(formatElement('k:{"name":"a\\"b","port":80}')).toBe('[name="a\\"b",port=80]');
  expect(formatElement('v:"x"')).toBe('[="x"]');
  expect(formatElement('v:[1,{"a":true}]')).toBe('[=[1,a=true]]');
  expect(formatElement('i:3')).toBe('[3]');
  expect(formatPath(['f:spec', 'k:{"name":null}', 'f:a.b'])).toBe('.spec[name=null].a.b');
});

test('sorted: fields, keys, values, indexes; numbers before strings before booleans', () => {
  const sorted = [
    'f:',
    'f:a',
    'f:b',
    'f:\uffff',
    'f:\u{10000}',
    'k:{"a":2}',
    'k:{"a":10}',
    'k:{"a":10,"b":1}',
    'k:{"a":"x"}',
    'k:{"b":1}',
    'v:1',
    'v:2',
    'v:10',
    'v:"1"',
    'v:"x"',
    'v:false',
    'v:true',
    'v:[]',
    'v:{}',
    'v:null',
    'i:2',
    'i:10',
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(sorted), (shuffled) => {
      expect(sortElements(shuffled)).toEqual(sorted.filter((element) => shuffled.includes(element)));
    }),
  );
});
