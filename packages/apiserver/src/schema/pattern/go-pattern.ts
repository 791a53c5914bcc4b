import { parsePattern } from './parse-pattern.js';
import { PatternError } from './pattern-error.js';
import { type Instruction, programOf } from './pattern-program.js';
import { type Before, end, firstMatch, holds, kindOf } from './pattern-search.js';

/** Where a match may have come to: the instructions to go on with, and what follows from each next character. */
interface State {
  readonly at: readonly number[];
  readonly before: Before;
  readonly next: Map<number, State>;
}

/** The limit of remembered states; beyond it they are computed again. */
const maxRemembered = 2000;

/**
 * A regular expression as Go reads it (RE2). All ways to match are followed side by side, so that the time it takes
 * grows with the length of the text alone: no pattern makes the server hang, whatever the text.
 */
export class GoPattern {
  readonly #program: readonly Instruction[];
  #states = new Map<string, State>();
  #remembered = 0;

  /** Throws a {@link PatternError}. */
  constructor(source: string) {
    const program = programOf(parsePattern(source));
    if (program === undefined) throw new PatternError('expression too large', source);
    this.#program = program;
  }

  /** Whether it matches somewhere in a text. */
  test(text: string): boolean {
    let state = this.#state([], 'nothing');
    for (let at = 0; at < text.length; ) {
      const code = text.codePointAt(at) as number;
      at += code > 0xffff ? 2 : 1;
      state = this.#after(state, code);
      if (state === matched) return true;
    }
    return this.#after(state, end) === matched;
  }

  /** The matches, from left to right and without overlaps: at most `most`, all if negative (`FindAllString`). */
  find(text: string, most = -1): string[] {
    const found: string[] = [];
    const points = [...text];
    let from = 0;
    let lastEnd = -1;
    while (from <= points.length && (most < 0 || found.length < most)) {
      const match = firstMatch(this.#program, points, from);
      if (match === undefined) break;
      const [start, end] = match;
      // An empty match right after another one does not count.
      if (end > start || start !== lastEnd) found.push(points.slice(start, end).join(''));
      lastEnd = end;
      from = end > start ? end : end + 1;
    }
    return found;
  }

  #after(state: State, code: number): State {
    const known = state.next.get(code);
    if (known !== undefined) return known;
    if (this.#remembered > maxRemembered) {
      this.#states = new Map();
      this.#remembered = 0;
    }
    const found = this.#step(state, code);
    state.next.set(code, found);
    this.#remembered += 1;
    return found;
  }

  #step({ at, before }: State, code: number): State {
    const program = this.#program;
    const seen = new Set<number>();
    // A match may begin here too.
    const todo = [0, ...at];
    const after: number[] = [];
    for (let index = todo.pop(); index !== undefined; index = todo.pop()) {
      if (seen.has(index)) continue;
      seen.add(index);
      const step = program[index] as Instruction;
      if (step.op === 'match') return matched;
      if (step.op === 'jump') todo.push(...step.to);
      else if (step.op === 'assert') {
        if (holds(step.what, before, code)) todo.push(index + 1);
      } else if (code !== end && step.test(code)) after.push(index + 1);
    }
    return this.#state(
      after.sort((a, b) => a - b),
      kindOf(code),
    );
  }

  #state(at: readonly number[], before: Before): State {
    const id = `${before} ${at.join()}`;
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    const made = { at, before, next: new Map<number, State>() };
    this.#states.set(id, made);
    this.#remembered += 1 + at.length / 10;
    return made;
  }
}

/** Nothing that comes after it matters. */
const matched: State = { at: [], before: 'other', next: new Map() };

const known = new Map<string, GoPattern | PatternError>();

/** A pattern in Go's syntax; undefined if it is malformed. */
export function goPattern(source: string): GoPattern | undefined {
  const found = lookUp(source);
  return found instanceof PatternError ? undefined : found;
}

/** The problem of a pattern, in the words of Go's parser; undefined if it is valid. */
export function patternProblem(source: string): string | undefined {
  const found = lookUp(source);
  return found instanceof PatternError ? found.message : undefined;
}

function lookUp(source: string): GoPattern | PatternError {
  let found = known.get(source);
  if (found !== undefined) return found;
  try {
    found = new GoPattern(source);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    found = error;
  }
  if (known.size > 1000) known.clear();
  known.set(source, found);
  return found;
}
