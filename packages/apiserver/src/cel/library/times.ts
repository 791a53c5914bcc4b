import { durationType, intType, stringType, timestampType } from '../language/cel-type.js';
import { type Functions, member, type Overload } from '../language/overload.js';
import type { Duration, Timestamp } from '../language/value.js';
import { partsOf } from './time-text.js';

const dayMs = 86_400_000;

function part(id: string, of: (date: Date) => number): readonly Overload[] {
  return [
    member(`timestamp_to_${id}`, [timestampType], intType, (at: Timestamp) => BigInt(of(partsOf(at.nanos, undefined)))),
    member(`timestamp_to_${id}_with_tz`, [timestampType, stringType], intType, (at: Timestamp, zone: string) =>
      BigInt(of(partsOf(at.nanos, zone))),
    ),
  ];
}

function whole(id: string, nanos: bigint): Overload {
  return member(`duration_to_${id}`, [durationType], intType, (span: Duration) => span.nanos / nanos);
}

/** Parts of moments and spans of time. */
export const times: Functions = {
  getFullYear: part('year', (date) => date.getUTCFullYear()),
  getMonth: part('month', (date) => date.getUTCMonth()),
  getDayOfYear: part('day_of_year', (date) =>
    Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / dayMs),
  ),
  getDayOfMonth: part('day_of_month', (date) => date.getUTCDate() - 1),
  getDate: part('day_of_month_1_based', (date) => date.getUTCDate()),
  getDayOfWeek: part('day_of_week', (date) => date.getUTCDay()),
  getHours: [...part('hours', (date) => date.getUTCHours()), whole('hours', 3_600_000_000_000n)],
  getMinutes: [...part('minutes', (date) => date.getUTCMinutes()), whole('minutes', 60_000_000_000n)],
  getSeconds: [...part('seconds', (date) => date.getUTCSeconds()), whole('seconds', 1_000_000_000n)],
  getMilliseconds: [...part('milliseconds', (date) => date.getUTCMilliseconds()), whole('milliseconds', 1_000_000n)],
};
