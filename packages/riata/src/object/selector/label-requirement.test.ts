import { expect, test } from 'vitest';
import { formatRequirement, type LabelOperator, labelRequirement, matchesRequirement } from './label-requirement.js';

test('requirements are checked and frozen', () => {
  expect(Object.isFrozen(labelRequirement('a', 'in', ['x']).values)).toBe(true);
  expect(() => labelRequirement('a', '=', ['x', 'y'])).toThrow('operator = requires exactly one value, got 2');
  expect(() => labelRequirement('a', 'toString' as LabelOperator)).toThrow('operator "toString" must be one of');
  expect(() => labelRequirement('/', 'gt', ['x y'])).toThrow(/prefix must not be empty; .*integer.*value "x y"/);
});

test('a value that is not a text is refused by name', () => {
  const none = undefined as never;
  expect(() => labelRequirement('app', '=', [none])).toThrow('on "app": expected a string, got undefined');
  expect(() => labelRequirement('app', 'in', ['a', 5 as never])).toThrow('on "app": expected a string, got a number');
  expect(() => labelRequirement(none, 'exists')).toThrow('expected a string, got undefined');
});

test.each([
  ['=', ['x'], 'a=x'],
  ['==', ['x'], 'a==x'],
  ['!=', [''], 'a!='],
  ['in', ['y', 'x'], 'a in (x,y)'],
  ['notin', ['x'], 'a notin (x)'],
  ['exists', [], 'a'],
  ['!', [], '!a'],
  ['gt', ['1'], 'a>1'],
  ['lt', ['1'], 'a<1'],
] as [LabelOperator, string[], string][])('%s prints', (operator, values, printed) => {
  const requirement = labelRequirement('a', operator, values);
  expect(formatRequirement(requirement)).toBe(printed);
  expect(requirement.values).toEqual(values);
});

test('a missing label fulfils what only excludes', () => {
  const fulfilled = (operator: LabelOperator, values: string[]) =>
    matchesRequirement(labelRequirement('toString', operator, values), {});
  expect([fulfilled('!', []), fulfilled('!=', ['x']), fulfilled('notin', ['x'])]).toEqual([true, true, true]);
  expect([fulfilled('exists', []), fulfilled('=', ['']), fulfilled('in', ['']), fulfilled('lt', ['1'])]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
