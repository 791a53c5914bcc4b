const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/**
 * Writes a time as objects carry it (`metav1.Time`): RFC 3339, UTC, whole seconds, what is left of a second cut off.
 * `ms` is milliseconds since the epoch, e.g. `clock.now()`. Throws a `RangeError` outside the years 0 to 9999.
 */
export function formatTime(ms: number): string {
  return `${isoSeconds(Math.floor(ms / 1000), ms)}Z`;
}

/**
 * Formats a time with six decimals (`metav1.MicroTime`), as in Leases and Events. `ms` may have a fraction; it is
 * rounded to microseconds.
 */
export function formatMicroTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  const micros = Math.round((ms - second * 1000) * 1000);
  const carried = micros === 1_000_000 ? 1 : 0;
  return `${isoSeconds(second + carried, ms)}.${String(carried ? 0 : micros).padStart(6, '0')}Z`;
}

/**
 * Parses a time of either form, with any offset, as milliseconds since the epoch; microseconds are the fraction. Throws
 * a `SyntaxError` for anything but an RFC 3339 time.
 */
export function parseTime(text: string): number {
  const match = rfc3339.exec(text);
  if (match) {
    const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Six;
    const offsetHours = Number(match[9] ?? 0);
    const offsetMinutes = Number(match[10] ?? 0);
    const inRange =
      month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) && hour < 24 && minute < 60 && second < 60;
    if (inRange && offsetHours < 24 && offsetMinutes < 60) {
      const date = new Date(0);
      date.setUTCFullYear(year, month - 1, day);
      date.setUTCHours(hour, minute, second);
      const offset = (match[8] === '-' ? -60_000 : 60_000) * (offsetHours * 60 + offsetMinutes);
      const micros = Number((match[7] ?? '').slice(0, 6).padEnd(6, '0'));
      return date.getTime() - offset + micros / 1000;
    }
  }
  throw new SyntaxError(`${JSON.stringify(text)} is not an RFC 3339 time; expected one like "2026-01-31T08:30:00Z"`);
}

type Six = [year: number, month: number, day: number, hour: number, minute: number, second: number];

function isoSeconds(seconds: number, ms: number): string {
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new RangeError(`${ms} ms is not a time between the years 0 and 9999`);
  return date.toISOString().slice(0, 19);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
