import { expect, test } from 'vitest';
import { patternProblem } from '../crd/pattern-problem.js';
import { goPattern } from './go-pattern.js';

test.each([
  ['^[a-z]+$', 'abc', true],
  ['(?i)^abc$', 'ABC', true],
  ['\\Aab\\z', 'ab', true],
  ['\\Aab\\z', 'ab\n', false],
  ['^[[:alpha:]]+$', 'aB', true],
  ['^[[:digit:]x]+$', '1x2', true],
  ['^[\\w-.]+$', 'a-b.c', true],
  ['(?P<name>a)b', 'ab', true],
  ['^\\p{L}+$', 'é', true],
  ['^\\pL+$', 'é', true],
  ['^a\\-b\\_c\\@$', 'a-b_c@', true],
  ['^.$', '𝒳', true],
])('%s on %j', (pattern, text, matches) => {
  expect(goPattern(pattern)?.test(text)).toBe(matches);
});

test('a pattern matches anew each time', () => {
  const pattern = goPattern('a') as RegExp;
  expect([pattern.test('a'), pattern.test('a')]).toEqual([true, true]);
});

// The words of Go's parser, as kube-apiserver v1.36 repeats them.
test.each([
  ['[a', 'missing closing ]: `[a`'],
  ['(a', 'missing closing ): `(a`'],
  ['a)', 'unexpected ): `a)`'],
  ['*a', 'missing argument to repetition operator: `*`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?<=a)[', 'invalid named capture: `(?<=a)[`'],
  ['(a)\\1', 'invalid escape sequence: `\\1`'],
  ['^[a-z]([-a-z0-9]*[a-z0-9])?$', undefined],
])('what is wrong with %s', (pattern, problem) => {
  expect(patternProblem(pattern)).toBe(problem);
});
