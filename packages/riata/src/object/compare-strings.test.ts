import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareStrings } from './compare-strings.js';

test('orders well-formed strings as their UTF-8 bytes', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('a', 'b', '\u{1f600}', '\uffee', 'é'),
      fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
    ),
    maxLength: 5,
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareStrings(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('astral characters come after the rest of the basic plane', () => {
  expect(['\u{1f600}', '\uffee', 'a'].sort(compareStrings)).toEqual(['a', '\uffee', '\u{1f600}']);
});
