import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPointer, parsePointer } from './json-pointer.js';

test('a pointer reads back as what was written', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('~', '/', '~1', '~0', '~01', '__proto__'))),
      (tokens) => {
        expect(parsePointer(formatPointer(tokens))).toEqual(tokens);
      },
    ),
  );
});

test('escapes are undone in the right order', () => {
  expect(parsePointer('/a~1b/~01/0')).toEqual(['a/b', '~1', '0']);
  expect(parsePointer('')).toEqual([]);
  expect(parsePointer('/')).toEqual(['']);
  expect(formatPointer(['metadata', 'labels', 'a.io/b', 0])).toBe('/metadata/labels/a.io~1b/0');
});

test('a malformed pointer is refused', () => {
  expect(() => parsePointer('a/b')).toThrow(/begin with "\/"/);
  expect(() => parsePointer('/a~')).toThrow(/written as "~0"/);
});
