import { type CronField, cronFields, parseCronField } from './cron-field.js';
import { momentOfSkipped, momentsOf, type OffsetAt, offsetsOf } from './time-zone.js';

/** When something is due, by a cron expression. */
export interface CronSchedule {
  /** The first moment after `ms` at which it is due, both in milliseconds since the epoch. */
  next(ms: number): number;
}

const shorthands: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** Leap days come after eight years at the most, on a given day of the week after forty. */
const horizonDays = 366 * 41;

/**
 * Parses a cron expression of five fields (minute, hour, day of month, month, day of week), with lists, ranges, steps,
 * names of months and days, and shorthands such as `@daily`. If both days are restricted, either matches, as in cron.
 * Throws a `SyntaxError` for anything else, and for dates that never come, such as 30 February.
 *
 * In a time zone with clock changes, a schedule at fixed hours is due once on each of its days: a skipped time is due
 * as long after the change, and of a repeated time the first counts. A schedule for every hour, or every few (`*` or a
 * step of it), follows the wall clock.
 */
export function parseCron(expression: string, timeZone = 'UTC'): CronSchedule {
  const text = expression.trim();
  try {
    const words = (shorthands[text.toLowerCase()] ?? text).split(/\s+/);
    if (words.length !== cronFields.length) {
      throw new SyntaxError(`expected five fields, as in "30 3 * * 1-5", or ${Object.keys(shorthands).join(', ')}`);
    }
    const fields = cronFields.map((range, at) => parseCronField(words[at] ?? '', range));
    return new Schedule(fields as unknown as Fields, offsetsOf(timeZone));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new SyntaxError(`cron expression ${JSON.stringify(expression)}: ${cause.message}`, { cause });
  }
}

type Fields = readonly [CronField, CronField, CronField, CronField, CronField];

class Schedule implements CronSchedule {
  readonly #fields: Fields;
  readonly #offsetAt: OffsetAt;
  /** Times of a day, in milliseconds from its beginning, ascending. */
  readonly #times: readonly number[];

  constructor(fields: Fields, offsetAt: OffsetAt) {
    this.#fields = fields;
    this.#offsetAt = offsetAt;
    const [minutes, hours] = fields;
    this.#times = hours.values.flatMap((hour) => minutes.values.map((minute) => hour * hourMs + minute * minuteMs));
    // A date that never comes is reported now, not in forty years.
    this.next(Date.UTC(2000, 0, 1));
  }

  next(ms: number): number {
    const offsetAt = this.#offsetAt;
    // From the day before, as times that are skipped may come on the next one.
    const today = Math.floor((ms + offsetAt(ms)) / dayMs) * dayMs;
    let found = Number.POSITIVE_INFINITY;
    for (let day = today - dayMs, left = horizonDays; left > 0; day += dayMs, left -= 1) {
      const isLast = found !== Number.POSITIVE_INFINITY;
      if (this.#isDue(day)) found = Math.min(found, this.#firstOn(day, ms));
      // The day after may hold something earlier than what was skipped on this one.
      if (isLast) break;
    }
    if (found === Number.POSITIVE_INFINITY) throw new SyntaxError('no such day exists');
    return found;
  }

  #isDue(day: number): boolean {
    const [, , daysOfMonth, months, daysOfWeek] = this.#fields;
    const date = new Date(day);
    if (!months.values.includes(date.getUTCMonth() + 1)) return false;
    const isDayOfMonth = daysOfMonth.values.includes(date.getUTCDate());
    const isDayOfWeek = daysOfWeek.values.includes(date.getUTCDay());
    const areBothGiven = !daysOfMonth.isWild && !daysOfWeek.isWild;
    return areBothGiven ? isDayOfMonth || isDayOfWeek : isDayOfMonth && isDayOfWeek;
  }

  /** The first moment of the day that is after `ms`, or Infinity. */
  #firstOn(day: number, ms: number): number {
    const offset = this.#offsetAt(day - dayMs);
    if (offset === this.#offsetAt(day + 2 * dayMs)) {
      const time = this.#times.find((each) => day + each - offset > ms);
      return time === undefined ? Number.POSITIVE_INFINITY : day + time - offset;
    }
    // Clocks change about now.
    const moments = this.#times.flatMap((time) => this.#momentsOf(day + time)).filter((each) => each > ms);
    return Math.min(...moments);
  }

  #momentsOf(localMs: number): readonly number[] {
    const moments = momentsOf(localMs, this.#offsetAt);
    const [, hours] = this.#fields;
    if (hours.isWild) return moments;
    return moments.length === 0 ? [momentOfSkipped(localMs, this.#offsetAt)] : moments.slice(0, 1);
  }
}
