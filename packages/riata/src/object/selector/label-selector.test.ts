import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LabelOperator, labelRequirement } from './label-requirement.js';
import { everything, nothing, parseSelector, selectorFrom, selectorFromLabels, selectorOf } from './label-selector.js';

describe('parse and print', () => {
  test.each([
    ['', ''],
    ['  ', ''],
    ['x', 'x'],
    ['!x', '!x'],
    ['! x', '!x'],
    ['x=a', 'x=a'],
    ['x==a', 'x==a'],
    [' x = a ', 'x=a'],
    ['x!=a', 'x!=a'],
    ['x=', 'x='],
    ['x= ,z= ', 'x=,z='],
    ['x>1', 'x>1'],
    ['x<7', 'x<7'],
    ['z=1,y,!x', '!x,y,z=1'],
    ['x in (b,a)', 'x in (a,b)'],
    ['x in(a,a)', 'x in (a)'],
    ['x notin ()', 'x notin ()'],
    ['x in (,)', 'x in ()'],
    ['x in (a,,b)', 'x in (,a,b)'],
    ['x in (a,)', 'x in (,a)'],
    ['x in (,a)', 'x in (,a)'],
    ['x\tnotin\r\n( a , b )', 'x notin (a,b)'],
    ['in in (in,notin),notin', 'in in (in,notin),notin'],
    ['x=in', 'x=in'],
    ['a.b/c.d=e_f-g', 'a.b/c.d=e_f-g'],
    ['x in (a),x notin (b),x', 'x in (a),x notin (b),x'],
    ['constructor=toString', 'constructor=toString'],
  ])('%j prints as %j', (text, printed) => {
    expect(parseSelector(text).toString()).toBe(printed);
    expect(parseSelector(printed).toString()).toBe(printed);
  });

  test.each([
    [',', 'expected a key or "!" at column 1, found ","'],
    ['x,', 'expected a key or "!" at column 3, found the end'],
    ['x,,y', 'expected a key or "!" at column 3, found ","'],
    ['=a', 'expected a key or "!" at column 1, found "="'],
    ['!', 'expected a key at column 2, found the end'],
    ['!!x', 'expected a key at column 2, found "!"'],
    ['!x=a', 'expected "," or the end at column 3, found "="'],
    ['!x in (a)', 'expected "," or the end at column 4, found "in"'],
    ['x a', 'expected an operator: =, ==, !=, in, notin, > or < at column 3, found "a"'],
    ['x!', 'expected an operator'],
    ['x=a b', 'expected "," or the end at column 5, found "b"'],
    ['x===a', 'expected a value at column 4, found "="'],
    ['x=!a', 'expected a value at column 3, found "!"'],
    ['x=(a)', 'expected a value'],
    ['x in a', 'expected "(" at column 6, found "a"'],
    ['x in (', 'expected a value, "," or ")" at column 7, found the end'],
    ['x in (a', 'expected "," or ")" at column 8, found the end'],
    ['x in (a,', 'expected a value, "," or ")" at column 9, found the end'],
    ['x in (a b)', 'expected "," or ")" at column 9, found "b"'],
    ['x in (a))', 'expected "," or the end at column 9, found ")"'],
    ['x in (!a)', 'expected a value'],
    ['_x=a', 'key name must be letters'],
    ['__proto__=a', 'key name must be letters'],
    ['X/y=a', 'key prefix must be lower case'],
    ['a/b/c', 'at most one prefix'],
    [`${'x'.repeat(64)}=a`, 'at most 63 characters'],
    [`x=${'a'.repeat(64)}`, 'value "aaa'],
    ['x=-a', 'value "-a" must be empty, or letters'],
    ['x in (a,b/c)', 'value "b/c"'],
    ['x>a', 'operator gt requires a 64-bit integer, got "a"'],
    ['x>', 'operator gt requires a 64-bit integer, got ""'],
    ['x<9223372036854775808', 'operator lt requires a 64-bit integer'],
    ['x>-1', 'value "-1" must be'],
    ['x=\0', 'value "\\u0000"'],
    ['\0', 'key name must be'],
  ])('%j is refused', (text, message) => {
    expect(() => parseSelector(text)).toThrow(SyntaxError);
    expect(() => parseSelector(text)).toThrow(`label selector ${JSON.stringify(text)}: `);
    expect(() => parseSelector(text)).toThrow(message);
  });
});

describe('match', () => {
  test.each([
    ['', {}, true],
    ['x', { x: '' }, true],
    ['x', { y: '' }, false],
    ['!x', {}, true],
    ['!x', { x: '' }, false],
    ['x=a', { x: 'a' }, true],
    ['x=a', { x: 'b' }, false],
    ['x=', {}, false],
    ['x=', { x: '' }, true],
    ['x!=a', {}, true],
    ['x!=a', { x: 'a' }, false],
    ['x in (a,b)', { x: 'b' }, true],
    ['x in ()', { x: '' }, true],
    ['x in ()', {}, false],
    ['x notin (a)', {}, true],
    ['x notin (a)', { x: 'a' }, false],
    ['x>1', { x: '2' }, true],
    ['x>1', { x: '1' }, false],
    ['x<1', { x: '-5' }, true],
    ['x<9', { x: 'z' }, false],
    ['x>0', { x: '1.5' }, false],
    ['x>0', {}, false],
    ['x>0', { x: '9223372036854775807' }, true],
    ['x>0', { x: '9223372036854775808' }, false],
    ['x=a,y', { x: 'a' }, false],
    ['constructor', {}, false],
    ['!constructor', {}, true],
    ['toString!=a', {}, true],
    ['constructor=a', { constructor: 'a' }, true],
  ] as [string, Record<string, string>, boolean][])('%j against %j: %s', (selector, labels, expected) => {
    expect(parseSelector(selector).matches(labels)).toBe(expected);
  });

  test('no labels are an empty set', () => {
    for (const none of [undefined, null]) {
      expect(parseSelector('x').matches(none)).toBe(false);
      expect(parseSelector('!x').matches(none)).toBe(true);
    }
  });

  test('a label called __proto__ is a label', () => {
    const labels = JSON.parse('{"__proto__":{"x":"a"},"y":"b"}');
    expect(parseSelector('x=a').matches(labels)).toBe(false);
    expect(parseSelector('y=b').matches(labels)).toBe(true);
  });
});

describe('everything and nothing', () => {
  test('differ in all they say', () => {
    expect([everything().isEmpty(), everything().selectsNothing, everything().matches({ a: 'b' })]).toEqual([
      true,
      false,
      true,
    ]);
    expect([nothing().isEmpty(), nothing().selectsNothing, nothing().matches({})]).toEqual([false, true, false]);
    expect(everything().toString()).toBe('');
  });

  test('nothing prints as what a server finds nothing with', () => {
    const read = parseSelector(nothing().toString());
    expect(read.matches({ 'riata.dev/nothing': '' })).toBe(false);
    expect(read.matches({})).toBe(false);
    expect(nothing().add(labelRequirement('a', 'exists'))).toBe(nothing());
  });
});

describe('from objects', () => {
  test('an absent selector selects nothing, an empty one everything', () => {
    expect(selectorFrom(undefined)).toBe(nothing());
    expect(selectorFrom(null)).toBe(nothing());
    expect(selectorFrom({}).isEmpty()).toBe(true);
    expect(selectorFrom({ matchLabels: {}, matchExpressions: [] }).matches({})).toBe(true);
  });

  test('labels and expressions are joined, sorted by key', () => {
    const selector = selectorFrom({
      matchLabels: { z: '1', a: '2' },
      matchExpressions: [
        { key: 'm', operator: 'In', values: ['y', 'x'] },
        { key: 'n', operator: 'NotIn', values: ['x'] },
        { key: 'b', operator: 'Exists' },
        { key: 'c', operator: 'DoesNotExist', values: [] },
      ],
    });
    expect(selector.toString()).toBe('a=2,b,!c,m in (x,y),n notin (x),z=1');
    expect(selector.matches({ z: '1', a: '2', b: '', m: 'x' })).toBe(true);
    expect(selector.matches({ z: '1', a: '2', m: 'x' })).toBe(false);
  });

  test.each([
    [{ key: 'a', operator: 'Gt', values: ['1'] }, 'operator "Gt" must be one of In, NotIn, Exists, DoesNotExist'],
    [{ key: 'a', operator: 'constructor' }, 'operator "constructor" must be one of'],
    [{ key: 'a', operator: 'In' }, 'operator in requires at least one value, got 0'],
    [{ key: 'a', operator: 'NotIn', values: [] }, 'operator notin requires at least one value, got 0'],
    [{ key: 'a', operator: 'Exists', values: ['x'] }, 'operator exists requires no values, got 1'],
    [{ key: '', operator: 'Exists' }, 'key name must not be empty'],
    [{ key: 'a', operator: 'In', values: ['x y'] }, 'value "x y"'],
  ])('%j is refused', (expression, message) => {
    expect(() => selectorFrom({ matchExpressions: [expression] })).toThrow(TypeError);
    expect(() => selectorFrom({ matchExpressions: [expression] })).toThrow(message);
  });

  test('a set of labels is a selector', () => {
    expect(selectorFromLabels({ b: '1', a: '' }).toString()).toBe('a=,b=1');
    expect(selectorFromLabels({}).isEmpty()).toBe(true);
    expect(() => selectorFromLabels(JSON.parse('{"__proto__":"x"}'))).toThrow('label requirement on "__proto__"');
  });
});

test('finds the exact value of a key', () => {
  const selector = parseSelector('a=1,b in (2),c in (3,4),d!=5');
  expect(['a', 'b', 'c', 'd', 'e'].map((label) => selector.requiresExactMatch(label))).toEqual([
    '1',
    '2',
    undefined,
    undefined,
    undefined,
  ]);
});

test('adding makes a new selector', () => {
  const before = parseSelector('b=1');
  expect(before.add(labelRequirement('a', 'exists')).toString()).toBe('a,b=1');
  expect(before.toString()).toBe('b=1');
  expect(JSON.stringify({ before })).toBe('{"before":"b=1"}');
});

describe('any selector', () => {
  const key = fc.constantFrom('a', 'b', 'x.y/z', 'in', 'notin', 'constructor');
  const value = fc.constantFrom('', '1', '2', '10', 'in', 'v-w', 'toString');
  const arity: Record<LabelOperator, fc.Arbitrary<string[]>> = {
    '=': fc.tuple(value),
    '==': fc.tuple(value),
    '!=': fc.tuple(value),
    in: fc.array(value, { minLength: 1, maxLength: 4 }),
    notin: fc.array(value, { minLength: 1, maxLength: 4 }),
    exists: fc.constant([]),
    '!': fc.constant([]),
    gt: fc.tuple(fc.constantFrom('1', '5', '9223372036854775807')),
    lt: fc.tuple(fc.constantFrom('1', '5')),
  };
  const requirement = fc
    .constantFrom(...(Object.keys(arity) as LabelOperator[]))
    .chain((operator) => fc.tuple(key, fc.constant(operator), arity[operator]))
    .map(([k, operator, values]) => labelRequirement(k, operator, values));
  const requirements = fc.array(requirement, { maxLength: 4 });
  const labels = fc.dictionary(key, value);

  test('is read back as it prints', () => {
    fc.assert(
      fc.property(requirements, labels, (list, set) => {
        const selector = selectorOf(...list);
        const read = parseSelector(selector.toString());
        expect(read.matches(set)).toBe(selector.matches(set));
        expect(read.requirements.map((r) => [r.key, r.operator])).toEqual(
          selector.requirements.map((r) => [r.key, r.operator]),
        );
        expect(parseSelector(read.toString()).toString()).toBe(read.toString());
      }),
    );
  });

  test('matches what the plain words say', () => {
    const naive: Record<LabelOperator, (v: string | undefined, values: readonly string[]) => boolean> = {
      '=': (v, [x]) => v === x,
      '==': (v, [x]) => v === x,
      '!=': (v, [x]) => v !== x,
      in: (v, values) => v !== undefined && new Set(values).has(v),
      notin: (v, values) => v === undefined || !new Set(values).has(v),
      exists: (v) => v !== undefined,
      '!': (v) => v === undefined,
      gt: (v, [x]) => v !== undefined && /^\d+$/.test(v) && BigInt(v) > BigInt(x as string),
      lt: (v, [x]) => v !== undefined && /^\d+$/.test(v) && BigInt(v) < BigInt(x as string),
    };
    fc.assert(
      fc.property(requirements, labels, (list, set) => {
        const map = new Map(Object.entries(set));
        const expected = list.every((r) => naive[r.operator](map.get(r.key), r.values));
        expect(selectorOf(...list).matches(set)).toBe(expected);
      }),
    );
  });

  test('arbitrary text is read or refused, nothing else', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '=', '!', '(', ')', ',', '<', '>', ' ', '1', 'in', '\0', 'é'),
    });
    fc.assert(
      fc.property(text, (selector) => {
        try {
          expect(parseSelector(parseSelector(selector).toString()).toString()).toBe(parseSelector(selector).toString());
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});
