import type { CharTest } from './char-test.js';

/** Conditions on a place between two characters. */
export type Assertion = 'text-begin' | 'text-end' | 'line-begin' | 'line-end' | 'word-edge' | 'no-word-edge';

/** A regular expression as a tree. Captures do not matter here. */
export type PatternNode =
  | { readonly op: 'char'; readonly test: CharTest }
  | { readonly op: 'assert'; readonly what: Assertion }
  /** `height`: how deep the tree is from here on. */
  | { readonly op: 'all'; readonly parts: readonly PatternNode[]; readonly height: number }
  | { readonly op: 'any'; readonly parts: readonly PatternNode[]; readonly height: number }
  /** `max` is undefined where there is no end. */
  | {
      readonly op: 'repeat';
      readonly part: PatternNode;
      readonly min: number;
      readonly max: number | undefined;
      /** Takes as few as it can: `a*?`. Matters to where a match ends, not to whether there is one. */
      readonly lazy?: boolean;
      readonly height: number;
    };

export function heightOf(node: PatternNode): number {
  return 'height' in node ? node.height : 1;
}

/** One after the other. */
export function allOf(parts: readonly PatternNode[]): PatternNode {
  return joined('all', parts);
}

/** One or the other. */
export function anyOf(parts: readonly PatternNode[]): PatternNode {
  return joined('any', parts);
}

function joined(op: 'all' | 'any', parts: readonly PatternNode[]): PatternNode {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  return { op, parts, height: 1 + parts.reduce((most, part) => Math.max(most, heightOf(part)), 0) };
}
