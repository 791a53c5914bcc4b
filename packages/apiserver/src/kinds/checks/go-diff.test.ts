import fc from 'fast-check';
import { expect, test } from 'vitest';
import { goDiff } from './go-diff.js';

test('shows changed lines with three around them, changes far apart by themselves', () => {
  const before = Object.fromEntries([...'abcdefghijklmnop'].map((name) => [name, 0]));
  expect(goDiff(before, before)).toBe('');
  expect(goDiff(before, { ...before, b: 1, p: { q: null } })).toBe(
    '@@ -1,6 +1,6 @@\n {\n  "a": 0,\n- "b": 0,\n+ "b": 1,\n  "c": 0,\n  "d": 0,\n  "e": 0,\n' +
      '@@ -14,5 +14,7 @@\n  "m": 0,\n  "n": 0,\n  "o": 0,\n- "p": 0\n+ "p": {\n+  "q": null\n+ }\n }\n',
  );
});

test('whatever the values, what is shown leads from one to the other', () => {
  const value = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 25 });
  fc.assert(
    fc.property(value, value, (before, after) => {
      const lines = JSON.stringify(before, undefined, 1).split('\n');
      const made: string[] = [];
      let at = 0;
      for (const line of goDiff(before, after).split('\n').slice(0, -1)) {
        const [, start, length] = /^@@ -(\d+)(?:,(\d+))? /.exec(line) ?? [];
        if (start !== undefined) {
          const from = Number(start) - (length === '0' ? 0 : 1);
          made.push(...lines.slice(at, from));
          at = from;
          continue;
        }
        if (!line.startsWith('+')) expect(line.slice(1)).toBe(lines[at]);
        if (!line.startsWith('+')) at += 1;
        if (!line.startsWith('-')) made.push(line.slice(1));
      }
      expect([...made, ...lines.slice(at)].join('\n')).toBe(JSON.stringify(after, undefined, 1));
    }),
    { numRuns: 200 },
  );
});
