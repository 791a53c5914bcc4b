import { isWordChar } from './char-test.js';
import type { Assertion } from './pattern-node.js';
import type { Instruction } from './pattern-program.js';

/** The kind of character before a place in a text. */
export type Before = 'nothing' | 'newline' | 'word' | 'other';

const newline = 0x0a;
/** In place of a character, at the end of a text. */
export const end = -1;

interface Thread {
  readonly at: number;
  readonly start: number;
}

/**
 * The first match from a place on: of those that begin there, the one that a backtracking search would find first. All
 * ways are followed in parallel, in the order in which they would be tried.
 */
export function firstMatch(
  program: readonly Instruction[],
  points: readonly string[],
  from: number,
): readonly [start: number, end: number] | undefined {
  let threads: Thread[] = [];
  let found: readonly [number, number] | undefined;
  for (let place = from; place <= points.length; place += 1) {
    const code = points[place]?.codePointAt(0) ?? end;
    const before = place === 0 ? 'nothing' : kindOf(points[place - 1]?.codePointAt(0) ?? end);
    if (found === undefined) threads.push({ at: 0, start: place });
    if (threads.length === 0) break;
    const seen = new Set<number>();
    const next: Thread[] = [];
    for (const { at, start } of threads) {
      if (follow(program, at, before, code, seen, (to) => next.push({ at: to, start }))) {
        // Whatever comes after this thread would be tried later.
        found = [start, place];
        break;
      }
    }
    threads = next;
  }
  return found;
}

/** Follows an instruction to all that accept this character, in order; true when it reaches a match. */
function follow(
  program: readonly Instruction[],
  from: number,
  before: Before,
  code: number,
  seen: Set<number>,
  take: (to: number) => void,
): boolean {
  const todo = [from];
  for (let index = todo.pop(); index !== undefined; index = todo.pop()) {
    if (seen.has(index)) continue;
    seen.add(index);
    const step = program[index] as Instruction;
    if (step.op === 'match') return true;
    if (step.op === 'jump') todo.push(...[...step.to].reverse());
    else if (step.op === 'assert') {
      if (holds(step.what, before, code)) todo.push(index + 1);
    } else if (code !== end && step.test(code)) take(index + 1);
  }
  return false;
}

export function kindOf(code: number): Before {
  return code === newline ? 'newline' : isWordChar(code) ? 'word' : 'other';
}

export function holds(what: Assertion, before: Before, code: number): boolean {
  switch (what) {
    case 'text-begin':
      return before === 'nothing';
    case 'text-end':
      return code === end;
    case 'line-begin':
      return before === 'nothing' || before === 'newline';
    case 'line-end':
      return code === end || code === newline;
    case 'word-edge':
      return (before === 'word') !== isWordChar(code);
    case 'no-word-edge':
      return (before === 'word') === isWordChar(code);
  }
}
