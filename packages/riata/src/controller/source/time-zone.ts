/** How far local time is ahead of UTC at a moment. */
export type OffsetAt = (ms: number) => number;

/**
 * The offsets of a time zone such as `Europe/Berlin`, by the machine's own data (`Intl`). Throws a `RangeError` for one
 * that it does not know.
 */
export function offsetsOf(timeZone: string): OffsetAt {
  if (timeZone === 'UTC') return () => 0;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, calendar: 'iso8601', hourCycle: 'h23', era: 'short' },
      ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
  } catch (cause) {
    throw new RangeError(`time zone ${JSON.stringify(timeZone)} is unknown; expected one like "Europe/Berlin"`, {
      cause,
    });
  }
  return (ms) => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
    const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
    return local - Math.floor(ms / 1000) * 1000;
  };
}

const dayMs = 86_400_000;

/**
 * The moments at which clocks show a local time, given as if it were UTC: one; two, if clocks are set back over it; or
 * none, if they are set forward over it.
 */
export function momentsOf(localMs: number, offsetAt: OffsetAt): readonly number[] {
  const before = offsetAt(localMs - dayMs);
  const after = offsetAt(localMs + dayMs);
  const guesses = before === after ? [localMs - before] : [localMs - before, localMs - after];
  return guesses.filter((ms) => ms + offsetAt(ms) === localMs).sort((a, b) => a - b);
}

/** The moment of a local time that is skipped: as long after the change as it would have been. */
export function momentOfSkipped(localMs: number, offsetAt: OffsetAt): number {
  return localMs - offsetAt(localMs - dayMs);
}
