// @ts-check
import { expect, test } from 'vitest';
import { wordProblems } from './check-words.mjs';

test('names the place, the word and what to write instead', () => {
  expect(wordProblems('a.ts', "\nthrow new Error('replicas wants a number');\n")).toEqual([
    'a.ts:2 "wants" in a message; write: must be, requires or expects; desired',
  ]);
});

test('reads templates and double quotes', () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample is source code
  const source = '`the line of ${name} is none`; "somebody has it"';
  expect(wordProblems('a.ts', source)).toHaveLength(2);
});

test('looks at the names that a file exports', () => {
  expect(wordProblems('a.ts', 'export class ToldFailures {}\nexport const atHand = 1;\nclass Told {}')).toEqual([
    'a.ts:1 exported name ToldFailures has the word "told"',
    'a.ts:2 exported name atHand has the word "hand"',
  ]);
});

test.each(["// it's told", "/* nobody's */ const a = 'told';", 'const tells = 1;', "import { a } from './told.js';"])(
  'leaves comments, single words and inner names alone: %s',
  (source) => expect(wordProblems('a.ts', source)).toEqual([]),
);
