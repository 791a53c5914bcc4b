import { goQuote } from '../../status/go-quote.js';
/** An interval of indexes, both ends included. */
export type Interval = readonly [from: number, to: number];

/** Reads the indexes of a Job, e.g. `1,3-5`: how many and which, or the problem. */
export function parseIndexes(
  text: string,
  completions: number,
): { readonly total: number; readonly intervals: readonly Interval[] } | { readonly problem: string } {
  const intervals: Interval[] = [];
  if (text === '') return { total: 0, intervals };
  let last = -1;
  for (const part of text.split(',')) {
    const interval = parseInterval(part, completions);
    if (typeof interval === 'string') return { problem: interval };
    const [from, to] = interval;
    if (intervals.length > 0 && last >= from) {
      return { problem: `non-increasing order, previous: ${last}, current: ${from}` };
    }
    intervals.push(interval);
    last = to;
  }
  return { total: intervals.reduce((sum, [from, to]) => sum + to - from + 1, 0), intervals };
}

function parseInterval(part: string, completions: number): Interval | string {
  const ends = part.split('-');
  if (ends.length > 2) {
    const rule = "the requirement that an index interval can have at most two parts separated by '-'";
    return `the fragment ${goQuote(part)} violates ${rule}`;
  }
  const numbers: number[] = [];
  for (const end of ends) {
    if (!/^[+-]?[0-9]+$/.test(end)) return `cannot convert string to integer for index: ${goQuote(end)}`;
    if (Number(end) >= completions) return `too large index: ${goQuote(end)}`;
    numbers.push(Number(end));
  }
  const [from = 0, to = from] = numbers;
  if (numbers.length > 1 && from >= to) return `non-increasing order, previous: ${from}, current: ${to}`;
  return [from, to];
}

/** The first index that stands in both. */
export function firstCommon(some: readonly Interval[], others: readonly Interval[]): number | undefined {
  for (const [from, to] of some) {
    for (const [otherFrom, otherTo] of others) {
      if (from <= otherTo && otherFrom <= to) return Math.max(from, otherFrom);
    }
  }
  return undefined;
}
