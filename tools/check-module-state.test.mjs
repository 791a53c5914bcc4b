// @ts-check
import { expect, test } from 'vitest';
import { moduleState, stateProblems } from './check-module-state.mjs';

/** @param {string} source */
const problems = (source) => moduleState('a.ts', source).map(({ name, problem }) => `${name}: ${problem}`);

test.each([
  ['let count = 0;', 'count: a module-level let'],
  ['export let a = 1, [b] = [2];', 'a: a module-level let', 'b: a module-level let'],
  ['const known = new WeakMap<object, string>();', 'known: a WeakMap'],
  ["const names = new Set(['a']);", 'names: a Set without the type ReadonlySet'],
  ['const cache: Cache = new RecentCache(2_000);', 'cache: an instance of RecentCache'],
  ['class A { static #last = 1; }', 'A.#last: a static field that is not readonly'],
  ['class A { static readonly known = new WeakSet<object>(); }', 'A.known: a WeakSet'],
  ['const list: string[] = []; export function add(x: string) { list.push(x); }', 'list: written after it was made'],
  ['const scratch = new Uint8Array(8); function f() { scratch[0] = 1; }', 'scratch: written after it was made'],
  ['const scratch = Buffer.alloc(8); const f = (b: Buffer) => b.copy(scratch);', 'scratch: written after it was made'],
  ['const state = { a: { n: 0 } }; function f() { state.a.n += 1; }', 'state: written after it was made'],
  ['const state = {}; function f() { Object.assign(state, { a: 1 }); }', 'state: written after it was made'],
  ["import { seen } from './seen.js'; function f() { seen.any = true; }", 'seen: written after it was made'],
  [
    'const word = /a/y; function f(text: string) { return word.test(text); }',
    'word: a regular expression that remembers where it stopped',
  ],
  [
    'function memo(f: F): F { const known = new Map(); return (x) => known.get(x) ?? f(x); } const g = memo(h);',
    'g: a function that remembers',
  ],
  ['const next = (() => { let n = 0; return () => n++; })();', 'next: a function that remembers'],
])('finds state: %s', (source, ...expected) => expect(problems(source)).toEqual(expected));

test.each([
  "const names: ReadonlySet<string> = new Set(['a']);",
  "const order = ['a', 'b'] as const;",
  'const word = /a/; const all = /a/g; function f(text: string) { return word.test(text) && text.replace(all, ""); }',
  'function f() { let n = 0; const known = new Map(); return () => known.set(n++, 1); }',
  'const list = [1]; function f(list: number[]) { list.push(2); }',
  'const list = [1]; function f() { const list: number[] = []; list.push(2); }',
  'class A { static readonly empty = 1; readonly #known = new WeakMap(); static of() { return new A(); } }',
  "import process from 'node:process'; function f() { process.exitCode = 1; }",
  'export const table = once(() => parse(text));',
  'declare const brand: unique symbol; declare let x: number;',
])('lets constants pass: %s', (source) => expect(problems(source)).toEqual([]));

test('names the place, and takes exceptions', () => {
  const source = /** @type {const} */ (['a.ts', '\nlet count = 0;']);
  expect(stateProblems([source], {})).toEqual(['a.ts:2 count is a module-level let']);
  expect(stateProblems([source], { 'a.ts#count': 'why not' })).toEqual([]);
});

test('reports an exception that is no longer needed', () => {
  expect(stateProblems([], { 'a.ts#count': 'why not' })).toEqual([
    'tools/check-module-state.mjs: a.ts#count is allowed, but not there any more',
  ]);
});
