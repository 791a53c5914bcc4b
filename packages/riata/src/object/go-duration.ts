const unitNs: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const limit = 2n ** 63n;
const tooManyDigits = (limit - 1n) / 10n;

/**
 * Reads a duration as objects carry it (`metav1.Duration`, Go's `time.ParseDuration`), e.g. `1h2m3.5s`: nanoseconds.
 * Units are ns, us (or µs), ms, s, m, h. Throws a `SyntaxError` for any other text and for spans past 292 years.
 */
export function parseGoDuration(text: string): bigint {
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  if (text.length === sign.length) throw refuse(text, 'is empty');
  if (text.slice(sign.length) === '0') return 0n;
  const term = /(\d*)(?:(\.)(\d*))?([^\d.]*)/y;
  let total = 0n;
  term.lastIndex = sign.length;
  while (term.lastIndex < text.length) {
    const match = term.exec(text);
    const [, whole = '', dot, fraction = '', unit = ''] = match ?? [];
    if (whole === '' && fraction === '') throw refuse(text, 'lacks a number');
    const ns = unitNs.get(unit);
    if (ns === undefined) throw refuse(text, unit === '' ? 'lacks a unit' : `has the unknown unit "${unit}"`);
    if (whole.replace(/^0+/, '').length > 19) throw refuse(text, 'is too long');
    total += BigInt(whole || '0') * ns + (dot ? fractionOf(fraction, ns) : 0n);
    if (total > limit) throw refuse(text, 'is too long');
  }
  if (sign === '-') return -total;
  if (total === limit) throw refuse(text, 'is too long');
  return total;
}

/** Writes nanoseconds as Go's `time.Duration.String` does: `1h2m3.5s`, `1m0s`, `1.5ms`, `0s`. */
export function formatGoDuration(ns: bigint): string {
  if (ns < 0n) return `-${formatGoDuration(-ns)}`;
  if (ns === 0n) return '0s';
  if (ns < 1_000n) return `${ns}ns`;
  if (ns < 1_000_000n) return `${decimal(ns, 3)}µs`;
  if (ns < 1_000_000_000n) return `${decimal(ns, 6)}ms`;
  const minutes = ns / 60_000_000_000n;
  const seconds = `${decimal(ns % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** Go multiplies a fraction as a float and drops what is left of a nanosecond: so do we, to get the same number. */
function fractionOf(digits: string, ns: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    if (value > tooManyDigits) break;
    const next = value * 10n + BigInt(digit);
    if (next > limit) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(ns) / scale)));
}

function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return digits.slice(0, -places) + (fraction && `.${fraction}`);
}

function refuse(text: string, why: string): SyntaxError {
  return new SyntaxError(`duration ${JSON.stringify(text)} ${why}: expected one like "1h30m" or "2.5s"`);
}
