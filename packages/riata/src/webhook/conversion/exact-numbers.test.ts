import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExactNumbers } from './exact-numbers.js';

test('integers of 64 bits come back as they were, neighbours of one double too', () => {
  const text =
    '{"a":9007199254740992,"b":[9007199254740993,-9223372036854775808],"c":9007199254740993,"d":"9007199254740993","e":1.5}';
  const json = new ExactNumbers();
  const value = json.parse(text) as { a: number; b: number[]; c: number };
  expect(value.c).toBe(value.b[0]);
  expect(value.c).not.toBe(value.a);
  expect(json.stringify(value)).toBe(text);
  // Wherever a function puts them.
  expect(json.stringify({ moved: [value.c] })).toBe('{"moved":[9007199254740993]}');
});

test('texts in texts are read by the same table', () => {
  const json = new ExactNumbers();
  const outer = json.parse('{"n":9007199254740993,"note":"{\\"m\\":9007199254740993}"}') as { n: number; note: string };
  expect((json.parse(outer.note) as { m: number }).m).toBe(outer.n);
});

test('an integer that was computed is refused', () => {
  expect(() => new ExactNumbers().stringify({ spec: { size: 2 ** 60 } })).toThrow(
    'spec.size: expected an integer up to 2^53',
  );
});

test('any JSON comes back, whatever its integers', () => {
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, tie('scalar'), tie('list'), tie('object')),
    scalar: fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
      fc.string().map((text) => JSON.stringify(text)),
      fc.constantFrom('true', 'false', 'null', '0.25', '"\\\\"', '"12345678901234567890"'),
    ),
    list: fc.array(tie('value')).map((list) => `[${list.join(',')}]`),
    object: fc.array(tie('value')).map((list) => `{${list.map((value, index) => `"k${index}":${value}`).join(',')}}`),
  })).value as fc.Arbitrary<string>;
  fc.assert(
    fc.property(json, (text) => {
      const numbers = new ExactNumbers();
      expect(numbers.stringify(numbers.parse(text))).toBe(text);
    }),
    { numRuns: 1000 },
  );
});
