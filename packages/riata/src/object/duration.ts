/**
 * A span of time as users write it: a number and a unit, `'30s'`, `'1.5h'`, `'7d'`. The compiler checks the form,
 * {@link durationMs} the rest.
 */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const userForm = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;

/**
 * A duration in milliseconds, `'never'` as `Infinity`. Throws a `TypeError` for anything but digits, perhaps a
 * fraction, and a unit (a day is 24 hours): signs, exponents and blanks are refused. `what` names the option in the
 * message.
 */
export function durationMs(duration: Duration | 'never', what = 'duration'): number {
  if (duration === 'never') return Number.POSITIVE_INFINITY;
  const match = typeof duration === 'string' ? userForm.exec(duration) : null;
  if (!match) {
    const hint = typeof duration === 'number' ? `; in milliseconds that is "${duration}ms"` : '';
    const got = `got ${JSON.stringify(duration)}${hint}`;
    throw new TypeError(`${what}: expected a number and one of ms, s, m, h, d, as in "30s", or "never"; ${got}`);
  }
  // Products such as 1.1 × 1000 miss by a few units in the last place; whole nanoseconds hide that.
  const ms = Math.round(Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] * 1e6) / 1e6;
  if (ms > Number.MAX_SAFE_INTEGER) {
    throw new TypeError(`${what}: ${JSON.stringify(duration)} is too long; write "never" for no limit`);
  }
  return ms;
}
