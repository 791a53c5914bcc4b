import { expect, test } from 'vitest';
import { GoPattern } from './go-pattern.js';

test.each([
  ['[0-9]+', 'a1b22c333', ['1', '22', '333']],
  ['a*', 'baaac', ['', 'aaa', '']],
  ['a*?', 'aa', ['', '', '']],
  ['a+?', 'aaa', ['a', 'a', 'a']],
  ['a|ab', 'abab', ['a', 'a']],
  ['ab|a', 'abab', ['ab', 'ab']],
  ['^a', 'aaa', ['a']],
  ['\\bfoo\\b', 'foo food foo', ['foo', 'foo']],
  ['(a+)(b+)?', 'aab ab b', ['aab', 'ab']],
  ['x', 'abc', []],
  ['.', 'a😀b', ['a', '😀', 'b']],
  ['a{2,3}?', 'aaaaa', ['aa', 'aa']],
  ['a{2,3}', 'aaaaa', ['aaa', 'aa']],
  ['$', 'ab', ['']],
])('%s in %s', (pattern, text, found) => {
  expect(new GoPattern(pattern).find(text)).toEqual(found);
});

test('no more than are wanted', () => {
  expect(new GoPattern('[a-z]').find('abc', 2)).toEqual(['a', 'b']);
  expect(new GoPattern('[a-z]').find('abc', 0)).toEqual([]);
});
