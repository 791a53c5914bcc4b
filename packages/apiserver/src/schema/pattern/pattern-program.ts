import type { CharTest } from './char-test.js';
import type { Assertion, PatternNode } from './pattern-node.js';

/** One step of a program; steps without `next` go on with the one after them. */
export type Instruction =
  | { readonly op: 'char'; readonly test: CharTest }
  | { readonly op: 'assert'; readonly what: Assertion }
  /** Alternatives are tried in order: among several matches from one place, the first one is found. */
  | { readonly op: 'jump'; readonly to: readonly number[] }
  | { readonly op: 'match' };

/** Beyond this, a pattern is too large: each character of a text may cost a look at every instruction. */
const maxInstructions = 100_000;

/** The steps that find out whether a text matches; undefined if they are too many. */
export function programOf(pattern: PatternNode): readonly Instruction[] | undefined {
  const program: Instruction[] = [];
  const add = (node: PatternNode): void => {
    if (program.length > maxInstructions) return;
    switch (node.op) {
      case 'char':
      case 'assert':
        program.push(node);
        return;
      case 'all':
        for (const part of node.parts) add(part);
        return;
      case 'any': {
        const to: number[] = [];
        const ends: number[][] = [];
        program.push({ op: 'jump', to });
        for (const part of node.parts) {
          to.push(program.length);
          add(part);
          const end: number[] = [];
          ends.push(end);
          program.push({ op: 'jump', to: end });
        }
        for (const end of ends) end.push(program.length);
        return;
      }
      case 'repeat':
        addRepeat(node);
    }
  };
  const addRepeat = ({ part, min, max, lazy }: Extract<PatternNode, { op: 'repeat' }>): void => {
    for (let count = 0; count < min; count += 1) add(part);
    if (max === undefined) {
      const begin = program.length;
      const to = [begin + 1];
      program.push({ op: 'jump', to });
      add(part);
      program.push({ op: 'jump', to: [begin] });
      if (lazy) to.unshift(program.length);
      else to.push(program.length);
      return;
    }
    const skips: number[][] = [];
    for (let count = min; count < max; count += 1) {
      const to = [program.length + 1];
      skips.push(to);
      program.push({ op: 'jump', to });
      add(part);
    }
    for (const to of skips) {
      if (lazy) to.unshift(program.length);
      else to.push(program.length);
    }
  };
  add(pattern);
  program.push({ op: 'match' });
  return program.length > maxInstructions ? undefined : program;
}
