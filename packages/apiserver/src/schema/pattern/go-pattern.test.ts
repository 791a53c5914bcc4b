import { expect, test } from 'vitest';
import { goPattern, patternProblem } from './go-pattern.js';

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
  ['^.$', '\n', false],
  ['(?s)^.$', '\n', true],
  ['(?m)^b$', 'a\nb\nc', true],
  ['^b$', 'a\nb\nc', false],
  ['a$', 'a\n', false],
  ['^a{2,3}$', 'aaa', true],
  ['^a{2,3}$', 'aaaa', false],
  ['^a{,3}$', 'a{,3}', true],
  ['^(?i:k)s$', '\u212as', true],
  ['^(?i)[^k]$', 'K', false],
  ['\\bfoo\\b', 'a foo.', true],
  ['\\bfoo\\b', 'afoo', false],
  ['^\\Qa.b\\E*$', 'a.bbb', true],
  ['^[^[:^digit:]]$', '7', true],
  ['^\\x{1d4b3}\\101$', '𝒳A', true],
  ['^(|a|bc)$', 'bc', true],
  ['', 'anything', true],
])('%s on %j', (pattern, text, matches) => {
  expect(goPattern(pattern)?.test(text)).toBe(matches);
});

test('a pattern keeps no state between matches', () => {
  const pattern = goPattern('a');
  expect([pattern?.test('a'), pattern?.test('b'), pattern?.test('a')]).toEqual([true, false, true]);
});

const slowElsewhere = ['^(a+)+$', '^(a|a)*$', '^(a*)*b$', '(x+x+)+y', '^(.*)*[0-9]$', '^([a-z]+)*\\d$', '(a?){500}b'];

// Going back over what was tried would take longer than the universe is old.
test.each(slowElsewhere)('no text makes %s slow', (pattern) => {
  expect(goPattern(pattern)?.test(`${'a'.repeat(400)}!`)).toBe(false);
  expect(goPattern(pattern)?.test(`${'x'.repeat(400)}!`)).toBe(false);
});

test('texts of many characters are matched, and not all of it is remembered', () => {
  const text = String.fromCodePoint(...Array.from({ length: 20_000 }, (_, i) => 0x4e00 + i));
  expect(goPattern('^.*\\d$')?.test(`${text}1`)).toBe(true);
  expect(goPattern('^.*\\d$')?.test(text)).toBe(false);
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
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['(a{600}){600}', 'invalid repeat count: `{600}`'],
  ['[z-a]', 'invalid character class range: `z-a`'],
  ['\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
  ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
  ['a\\', 'trailing backslash at end of expression: ``'],
])('what is wrong with %s', (pattern, problem) => {
  expect(patternProblem(pattern)).toBe(problem);
});

test('patterns may be neither deep nor large without end', () => {
  expect(patternProblem('('.repeat(2000) + ')'.repeat(2000))).toMatch(/^expression nests too deeply: `/);
  expect(patternProblem(`(${'[a-z]'.repeat(200)}){1000}`)).toMatch(/^expression too large: `/);
});
