import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../steps.js';
import { parseJson } from './parse-json.js';

/** Blanks that make a text long enough to be parsed in steps. */
const padding = ' '.repeat(128 * 1024);
const parse = (text: string) => atOnce(parseJson(text + padding));

/** What a parser makes of a text; undefined if it refuses it. */
function outcome(read: (text: string) => unknown, text: string): { readonly value: unknown } | undefined {
  try {
    return { value: read(text) };
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
}

describe('JSON in steps', () => {
  test('is the same as at once', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(parse(text)).toStrictEqual(JSON.parse(text));
        const spaced = JSON.stringify(JSON.parse(text), null, '\t');
        expect(JSON.stringify(parse(spaced))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  test('is refused where it is refused at once', () => {
    const piece = fc.constantFrom(
      ...'{}[],:"\\ \n\u0001é09-.eE+',
      '"a"',
      '"b":1',
      'true',
      'nul',
      'null',
      '\\u12',
      '1e5',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        expect(outcome(parse, text)).toStrictEqual(outcome(JSON.parse, text));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['{"__proto__":{"a":1},"a":1,"a":2}', '{"a":{"a":[[],{}]}}', '"\\ud83d\\ude00"', '-0', '1e400'])(
    '%s',
    (text) => {
      const [value, expected] = [parse(text), JSON.parse(text)];
      expect(value).toStrictEqual(expected);
      expect(Object.keys(Object(value))).toEqual(Object.keys(Object(expected)));
    },
  );

  test('takes a step for every thousand values, and no recursion', () => {
    const steps = (text: string) => [...parseJson(text + padding)].length;
    expect(steps('[1]')).toBe(0);
    expect(steps(JSON.stringify(Array.from({ length: 10_000 }, (_, i) => i)))).toBe(9);
    const depth = 100_000;
    expect(steps('['.repeat(depth) + ']'.repeat(depth))).toBeGreaterThan(90);
  });
});
