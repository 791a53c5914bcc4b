import { describe, expect, test } from 'vitest';
import { knownFormat, patternOf, re2Problem, toRe2 } from './string-keywords.js';

describe('regular expressions', () => {
  test.each([
    '^[a-z]+$',
    '(?:a|b)*',
    '\\d{3}-\\w',
    'a\\(?=b',
    '\\\\1',
    '[^/]\\/',
    '\\p{L}',
    'a{2,1000}',
    '[(?=\\]]',
    '[)[]',
    '\\(\\[',
  ])('%s is RE2', (pattern) => {
    expect(re2Problem(pattern)).toBeUndefined();
  });
  test.each([
    ['(?=a)', /look-ahead/],
    ['(?<!a)', /look-behind/],
    ['(a)\\1', /back reference \\1/],
    ['(?<n>a)\\k<n>', /named back reference/],
    ['a{1001}', /1000/],
    ['\\cA', /escape \\c/],
    ['[\\b]', /escape \\b in a class/],
    ['\\p{Script=Greek}', /property with a value/],
    ['[]', /class of no characters/],
    ['a[^]b', /class of no characters/],
    ['(a', /a "\(" without its end/],
    ['[a', /a "\[" without its end/],
    ['a)', /a "\)" without a "\("/],
    ['a\\', /backslash at its end/],
  ])('%s is not', (pattern, reason) => {
    expect(re2Problem(pattern)).toMatch(reason);
  });
  test('code points are respelled', () => {
    expect(toRe2('\\u00e9\\u{1F600}\\\\u0041')).toBe('\\x{00e9}\\x{1F600}\\\\u0041');
  });
  test('literals match themselves only', () => {
    const pattern = new RegExp(patternOf(['a.b', 'c|d']));
    expect(['a.b', 'c|d', 'axb', 'c', 'a.bc'].filter((text) => pattern.test(text))).toEqual(['a.b', 'c|d']);
  });
});

test('formats are those that a server checks, per type', () => {
  expect(knownFormat('string', 'date-time')).toBe('date-time');
  expect(knownFormat('string', 'cuid2')).toBeUndefined();
  expect(knownFormat('integer', 'int64')).toBe('int64');
  expect(knownFormat('string', 'int64')).toBeUndefined();
});
