import { describe, expect, test } from 'vitest';
import { atOnce } from '../../steps.js';
import { library, typeNames, typeValues } from '../library/library.js';
import { CompileError } from './cel-error.js';
import { type CelType, dynType, formatType, intType, listOf, mapOf, stringType } from './cel-type.js';
import { checkExpression } from './check-expression.js';
import { estimateCost } from './estimate-cost.js';
import { parseExpression } from './parse-expression.js';
import { Program } from './program.js';
import { isList, itemsOf, list, mapping, type Value } from './value.js';

const variables = new Map<string, CelType>([
  ...typeNames,
  ['n', intType],
  ['s', stringType],
  ['l', listOf(intType)],
  ['m', mapOf(stringType, intType)],
  ['d', dynType],
]);
const values = new Map<string, Value>([
  ['n', 5n],
  ['s', 'text'],
  ['l', list([1n, 2n, 3n])],
  ['m', mapping([['a', 1n]])],
  ['d', 'dynamic'],
]);

function compiled(source: string) {
  const expression = atOnce(parseExpression(source));
  const type = atOnce(checkExpression(expression, { variables, functions: library }, source));
  return { expression, type, program: new Program(expression, typeValues) };
}

function run(source: string, limit = 1_000_000) {
  const outcome = compiled(source).program.run(values, limit);
  if ('error' in outcome) return `error: ${outcome.error.message}`;
  return isList(outcome.value) ? itemsOf(outcome.value) : outcome.value;
}

function problem(source: string): string {
  try {
    compiled(source);
  } catch (error) {
    if (error instanceof CompileError) return error.message;
    throw error;
  }
  throw new Error(`${source} compiles`);
}

describe('values', () => {
  test.each<[string, unknown]>([
    ['1 + 2 * 3', 7n],
    ['(1 + 2) * 3', 9n],
    ['10 - 2 - 3', 5n],
    ['-n', -5n],
    ['- -n', 5n],
    ['!true || true', true],
    ['n > 3 ? "big" : "small"', 'big'],
    ['[1, 2] + [3]', [1n, 2n, 3n]],
    ['l.filter(x, x > 1).map(x, x * x)', [4n, 9n]],
    ['l.all(x, x > 0) && l.exists(x, x == 2)', true],
    ['l.map(x, l.map(y, x * y).sum())', [6n, 12n, 18n]],
    ['"a" in m && !("b" in m)', true],
    ['m["a"] == 1 && m.a == 1', true],
    ['has(m.a) && !has(m.b)', true],
    ['{"x": {"y": 1}}.x.y', 1n],
    ["'a' + \"b\" + '''c'd'''", "abc'd"],
    ["r'\\n'.size()", 2n],
    ["'\\u00e4\\x41\\101'", 'äAA'],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['1.5e3', 1500],
    ['type(n) == int && type(s) == string', true],
    ['d == "dynamic" && d != 1', true],
    ['// a comment\n n', 5n],
    ['l[0] + l[2]', 4n],
  ])('%s', (source, value) => {
    expect(run(source)).toEqual(value);
  });
});

describe('errors', () => {
  test.each([
    ['1 / 0', 'division by zero'],
    ['n % 0', 'modulus by zero'],
    ['9223372036854775807 + n', 'integer overflow'],
    ['l[7]', 'index out of bounds: 7'],
    ['m["z"]', 'no such key: z'],
    ['d + 1', 'no such overload'],
    ['1 / 0 == 1 && n == 5', 'division by zero'],
  ])('%s', (source, message) => {
    expect(run(source)).toBe(`error: ${message}`);
  });

  test('are absorbed by what decides without them', () => {
    expect(run('1 / 0 == 1 || true')).toBe(true);
    expect(run('1 / 0 == 1 && false')).toBe(false);
    expect(run('l.exists(x, 1 / (x - 1) == 1 || x == 3)')).toBe(true);
    expect(run('l.all(x, 1 / (x - 1) > 5)')).toBe(false);
  });
});

describe('types', () => {
  test.each([
    ['[]', 'list(dyn)'],
    ['l.map(x, string(x))', 'list(string)'],
    ['{"a": [1]}', 'map(string, list(int))'],
    ['optional.of(n)', 'optional_type(int)'],
    ['d', 'dyn'],
    ['n == 1 ? n : 2', 'int'],
    ['type(1)', 'type(int)'],
  ])('%s', (source, type) => {
    expect(formatType(compiled(source).type)).toBe(type);
  });

  test.each([
    ['n + s', "1:3: found no matching overload for '_+_' applied to '(int, string)'"],
    ['nope', "1:1: undeclared reference to 'nope' (in container '')"],
    ['n.a', "1:2: type 'int' does not support field selection"],
    ['l.all(x, x)', "1:10: expected type 'bool' but found 'int'"],
    ['[1, "a"]', "1:5: expected type 'int' but found 'string'"],
    ['[dyn(1), "a"]', "1:10: expected type 'dyn' but found 'string'"],
    ['{"a": "b", "c": dyn(1)}', "1:20: expected type 'string' but found 'dyn'"],
    ['s.size(1)', "1:7: found no matching overload for 'size' applied to 'string.(int)'"],
    ['Type{}', "undeclared reference to 'Type'"],
    ['n +', "1:4: Syntax error: mismatched input '<EOF>'"],
    ['n $ 2', "1:3: Syntax error: token recognition error at: '$'"],
    ['"a', 'token recognition error'],
    ['99999999999999999999', 'invalid int literal'],
    ['for', 'reserved identifier: for'],
  ])('%s', (source, message) => {
    expect(problem(source)).toContain(message);
  });

  test('a complaint shows the line and the place', () => {
    expect(problem('n > 1 &&\n  s > 1')).toBe(
      "ERROR: <input>:2:5: found no matching overload for '_>_' applied to '(string, int)'\n |   s > 1\n | ....^",
    );
  });
});

describe('costs', () => {
  test('what an expression costs is counted', () => {
    expect(compiled('n + 1 > 2').program.run(values, 100)).toMatchObject({ cost: 3 });
    expect(compiled('l.all(x, x > 0)').program.run(values, 100)).toMatchObject({ value: true, cost: 17 });
  });

  test('more than the limit ends it, and nothing absorbs that', () => {
    expect(run('true || l.all(x, l.all(y, l.all(z, z > 0)))', 10)).toBe(true);
    expect(run('l.all(x, l.all(y, l.all(z, z > 0))) || true', 10)).toBe(
      'error: operation cancelled: actual cost limit exceeded',
    );
  });

  test('a bound is found from the sizes of what is given', () => {
    const cost = (source: string, size: number) =>
      estimateCost(compiled(source).expression, (path) => (path.length === 1 ? size : undefined)).max;
    expect(cost('l.all(x, x > 0)', 10)).toBe(52);
    expect(cost('l.all(x, l.all(y, x > y))', 1000)).toBeGreaterThan(1_000_000);
  });
});

test('deep and long expressions are refused or computed, and never end the process', () => {
  expect(problem('('.repeat(5000))).toContain('recursion limit');
  expect(problem('['.repeat(100_000))).toContain('recursion limit');
  expect(run(`${'n + '.repeat(900)}n`)).toBe(4_505n);
  expect(problem(`${'n + '.repeat(20_000)}n`)).toContain('recursion limit');
  expect(run(`${'true && '.repeat(5000)}true`)).toBe(true);
});
