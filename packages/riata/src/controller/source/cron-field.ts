/** One of the five fields of a cron expression. */
export interface CronField {
  /** All values that match, ascending. */
  readonly values: readonly number[];
  /** Begins with `*` (or is `?`): no restriction of its own, whatever its steps. */
  readonly isWild: boolean;
}

/** The values of a field. */
export interface CronFieldRange {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Words for values, from `min` up. */
  readonly words?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** In the order in which they are written. */
export const cronFields = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, words: months },
  // 7 is Sunday, too.
  { name: 'day of week', min: 0, max: 7, words: days },
] as const satisfies readonly CronFieldRange[];

/** Reads lists of `*`, values, ranges and steps. Throws a `SyntaxError`. */
export function parseCronField(text: string, range: CronFieldRange): CronField {
  const values = new Set<number>();
  for (const part of text.split(',')) for (const value of valuesOf(part, range)) values.add(value);
  if (range.max === 7 && values.delete(7)) values.add(0);
  return { values: [...values].sort((a, b) => a - b), isWild: text.startsWith('*') || text === '?' };
}

function* valuesOf(part: string, range: CronFieldRange): Generator<number> {
  const match = /^(\*|\?|[0-9a-z]+)(?:-([0-9a-z]+))?(?:\/(\d+))?$/i.exec(part);
  const [, first = '', last, stepText] = match ?? [];
  const isWild = first === '*' || first === '?';
  if (match === null || (isWild && last !== undefined)) fail(part, range, 'expected *, 5, 1-5, */5 or a list of these');
  const step = stepText === undefined ? 1 : Number(stepText);
  if (step < 1) fail(part, range, 'the step must be ≥ 1');
  const from = isWild ? range.min : numberOf(first, part, range);
  const highest = isWild && range.max === 7 ? 6 : range.max;
  const to = last !== undefined ? numberOf(last, part, range) : isWild || stepText !== undefined ? highest : from;
  if (to < from) fail(part, range, 'the range ends before it starts');
  for (let value = from; value <= to; value += step) yield value;
}

function numberOf(text: string, part: string, range: CronFieldRange): number {
  const word = range.words?.indexOf(text.toLowerCase()) ?? -1;
  const value = word >= 0 ? word + range.min : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= range.min && value <= range.max)) {
    fail(part, range, `expected values from ${range.min} to ${range.max}`);
  }
  return value;
}

function fail(part: string, { name }: CronFieldRange, why: string): never {
  throw new SyntaxError(`${name} ${JSON.stringify(part)}: ${why}`);
}
