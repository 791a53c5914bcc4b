import { expect, test } from 'vitest';
import { goJson, goJsonString, goNumber, goPlain, goQuote, goSyntax, goType } from './go-text.js';

test.each([
  ['plain', '"plain"'],
  ['a<b>&c', '"a\\u003cb\\u003e\\u0026c"'],
  ['tab\tnew\nback\bform\f', '"tab\\tnew\\nback\\u0008form\\u000c"'],
  ['\\b', '"\\\\b"'],
  ['\u2028\u0001', '"\\u2028\\u0001"'],
])('JSON of %j', (text, json) => {
  expect(goJsonString(text)).toBe(json);
});

test('JSON sorts keys by their bytes and leaves out what is undefined', () => {
  const value = { '\u{1F600}': 1, '\uFFFD': [true, null], a: { c: 1.5, b: undefined } };
  expect(goJson(value as never)).toBe('{"a":{"c":1.5},"\uFFFD":[true,null],"\u{1F600}":1}');
});

test.each([
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['é世😀', '"é世😀"'],
  ['\u0007\u0000\u007f\u00a0\ufeff\u{e0001}', '"\\a\\x00\\x7f\\u00a0\\ufeff\\U000e0001"'],
  ['\ud800', '"\\ufffd"'],
])('%%q of %j', (text, quoted) => {
  expect(goQuote(text)).toBe(quoted);
});

test.each([
  ["'", "'\\''"],
  ['"', "'\"'"],
  ['\n', "'\\n'"],
])('%%q of the rune %j', (rune, quoted) => {
  expect(goQuote(rune, "'")).toBe(quoted);
  expect(goQuote("it's \u0001")).toBe('"it\'s \\x01"');
});

test.each([
  [5, '5'],
  [-1_000_000, '-1000000'],
  [1.5, '1.5'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1234567.5, '1.2345675e+06'],
  [1e21, '1e+21'],
])('%%v of %d', (value, text) => {
  expect(goNumber(value)).toBe(text);
});

test('values in messages', () => {
  const value = { b: ['x', 1, null], a: true };
  expect(goPlain(value)).toBe('map[a:true b:[x 1 <nil>]]');
  expect(goSyntax(value)).toBe('map[string]interface {}{"a":true, "b":[]interface {}{"x", 1, interface {}(nil)}}');
  expect([value, [], 'x', 1, 1.5, true, null].map(goType)).toEqual([
    'map[string]interface {}',
    '[]interface {}',
    'string',
    'int64',
    'float64',
    'bool',
    '<nil>',
  ]);
});
