import { type Duration, durationMs } from '../../object/duration.js';

/**
 * The result of a reconcile (`reconcile.Result`). Nothing: done until something changes. `requeueAfter`: reconcile
 * again after that time, changes or not; for a computed duration, use `${ms}ms`; a negative one means at once (the
 * original takes 0 for none). `requeue`: reconcile again with the rate limiter's backoff.
 *
 * @example
 * const again: Result = { requeueAfter: `${dueAt - clock.now()}ms` };
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a reconciler without a return statement is the usual one.
export type Result = void | undefined | { readonly requeueAfter: Duration } | { readonly requeue: boolean };

/** When to reconcile again: after some milliseconds, as the rate limiter says, or only when something changes. */
export type Requeue = { readonly afterMs: number } | 'rate-limited' | 'none';

/** Reads a result; throws a `TypeError` if it is invalid. */
export function requeueOf(result: unknown): Requeue {
  if (result === undefined || result === null) return 'none';
  if (typeof result === 'object') {
    if ('requeueAfter' in result) {
      return { afterMs: durationMs(readable(result.requeueAfter), 'requeueAfter') };
    }
    if ('requeue' in result && typeof result.requeue === 'boolean') return result.requeue ? 'rate-limited' : 'none';
    if (Object.keys(result).length === 0) return 'none';
  }
  throw new TypeError(
    `a reconciler returns nothing, { requeueAfter: '10m' } or { requeue: true }; this one returned ${describe(result)}`,
  );
}

/** Numbers as JavaScript formats them: with a sign, or an exponent. */
const computed = /^(-?\d+(?:\.\d+)?(?:e[+-]\d+)?)(ms|s|m|h|d)$/;

function readable(given: unknown): Duration {
  const [, number = '', unit = ''] = (typeof given === 'string' && computed.exec(given)) || [];
  if (number === '' || !/[-e]/.test(number)) return given as Duration;
  return `${Math.max(0, Number(number)).toFixed(6)}${unit}` as Duration;
}

function describe(result: unknown): string {
  return typeof result === 'object' && result !== null ? `{ ${Object.keys(result).join(', ')} }` : typeof result;
}
