import { rewriteTime } from '../../schema/built-in/go-time.js';
import { goDurationError } from '../../status/go-duration-error.js';
import { CelError } from '../language/cel-error.js';

const billion = 1_000_000_000n;

/** Reads a moment as RFC 3339 has it, in nanoseconds since 1970. */
export function parseTimestamp(text: string): bigint {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)$/.exec(text);
  const millis = match === null ? Number.NaN : Date.parse(`${match[1]}T${match[2]}${match[4]}`);
  if (match === null || Number.isNaN(millis)) throw badTime(text);
  const fraction = (match[3] ?? '.').slice(1, 10).padEnd(9, '0');
  return BigInt(millis) * 1_000_000n + BigInt(fraction);
}

function badTime(text: string): CelError {
  try {
    rewriteTime(text);
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error));
  }
  return new CelError(`${text} cannot be formatted as a time`);
}

/** As Go's `RFC3339Nano` writes it. */
export function formatTimestamp(nanos: bigint): string {
  const fraction = ((nanos % billion) + billion) % billion;
  const seconds = new Date(Number((nanos - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  const digits = fraction === 0n ? '' : `.${String(fraction).padStart(9, '0').replace(/0+$/, '')}`;
  return `${seconds}${digits}Z`;
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: billion,
  m: 60n * billion,
  h: 3600n * billion,
};

/** Reads a duration as Go does, e.g. `1h30m` or `-1.5s`, in nanoseconds. */
export function parseDuration(text: string): bigint {
  const whole = /^([+-]?)(0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text);
  if (whole === null) throw new CelError(goDurationError(text));
  let nanos = 0n;
  for (const [, integer = '', fraction = '', unit = ''] of (whole[2] as string).matchAll(
    /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const size = units[unit] as bigint;
    nanos += BigInt(integer || '0') * size;
    if (fraction !== '') nanos += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  return whole[1] === '-' ? -nanos : nanos;
}

/** In seconds, as cel-go writes durations. */
export function formatDuration(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % billion)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${sign}${size / billion}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** The parts of a moment in a time zone, which is a name, an offset such as `+02:00`, or UTC. */
export function partsOf(nanos: bigint, zone: string | undefined): Date {
  const millis = Number(nanos / 1_000_000n) - (nanos < 0n && nanos % 1_000_000n !== 0n ? 1 : 0);
  if (zone === undefined || zone === 'UTC' || zone === '') return new Date(millis);
  const offset = /^([+-]?)(\d\d):(\d\d)$/.exec(zone);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3]);
    return new Date(millis + (offset[1] === '-' ? -1 : 1) * minutes * 60_000);
  }
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    const part = Object.fromEntries(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second, ((millis % 1000) + 1000) % 1000));
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}
