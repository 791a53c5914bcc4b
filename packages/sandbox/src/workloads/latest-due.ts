import type { CronSchedule } from 'riata/controller';

/** More missed times than this hint at a wrong clock or a too long starting deadline. */
const manyMissed = 100;

/** The newest moment after `from` and not after `now` at which something was due, and whether many others were missed. */
export function latestDue(
  times: CronSchedule,
  from: number,
  now: number,
): { readonly due: number | undefined; readonly hasMissedMany: boolean } {
  const first = times.next(from);
  if (now < first) return { due: undefined, hasMissedMany: false };
  const second = times.next(first);
  if (now < second) return { due: first, hasMissedMany: false };
  // Times in between are not counted one by one: after years that would take long.
  const interval = second - first;
  const missed = Math.floor((now - first) / interval) + 1;
  let due: number | undefined;
  for (let at = times.next(first + (missed - 2) * interval); at <= now; at = times.next(at)) due = at;
  return { due, hasMissedMany: missed > manyMissed };
}
