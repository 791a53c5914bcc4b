import { failedClientRuntime } from '../../client/client-runtime.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { throwIfAborted } from '../../runtime/signals.js';

/** How often and after what times something is tried (`wait.Backoff`). */
export interface Backoff {
  /** Tries in all, the first included. */
  readonly steps: number;
  /** Between the first two. */
  readonly delayMs: number;
  /** By how much the wait grows each time. */
  readonly factor: number;
  /** Each wait is longer by up to this part of it, by chance. */
  readonly jitter: number;
}

/** For conflicts between writers: five tries, 10 ms apart (`retry.DefaultRetry`). */
export const defaultRetry: Backoff = Object.freeze({ steps: 5, delayMs: 10, factor: 1, jitter: 0.1 });

/** For conflicts that may last: four tries, 10, 50 and 250 ms apart (`retry.DefaultBackoff`). */
export const defaultBackoff: Backoff = Object.freeze({ steps: 4, delayMs: 10, factor: 5, jitter: 0.1 });

/** Options of {@link retryOnError}. */
export interface RetryOptions {
  /** @default defaultRetry */
  readonly backoff?: Backoff;
  /** Ends the waiting; it rejects with the signal's reason then. */
  readonly signal?: AbortSignal;
  /** @default that of the client whose call has failed */
  readonly runtime?: Partial<Pick<Runtime, 'clock' | 'random'>>;
}

export const retryOptionNames = optionNames<RetryOptions>({ backoff: true, signal: true, runtime: true });

/**
 * Calls `fn` again while it fails with an error that `isRetriable` says may pass (`retry.OnError`). Rejects with the last
 * one when the tries are used up, and with any other at once.
 */
export async function retryOnError<T>(
  isRetriable: (error: unknown) => boolean,
  fn: (attempt: number) => T | Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  refuseUnknownOptions('retry', options, retryOptionNames);
  const { steps, delayMs, factor, jitter } = options.backoff ?? defaultRetry;
  if (!Number.isInteger(steps) || steps < 1) {
    throw new RangeError(`retry: backoff.steps must be an integer ≥ 1, got ${steps}`);
  }
  for (let attempt = 1; ; attempt += 1) {
    throwIfAborted(options.signal);
    try {
      return await fn(attempt);
    } catch (error) {
      if (attempt >= steps || !isRetriable(error)) throw error;
      const { clock, random } = resolveRuntime({ ...failedClientRuntime(error), ...options.runtime });
      await clock.sleep(random.jitter(delayMs * factor ** (attempt - 1), jitter), { signal: options.signal });
    }
  }
}

/**
 * Calls `fn` again while it fails because another writer was faster (`retry.RetryOnConflict`). It must read the object
 * each time, from the server and not from a cache.
 *
 * @example
 * await retryOnConflict(async () => {
 *   const cart = await client.get(Cart, key);
 *   await client.update(edit(cart, (draft) => { draft.spec.size += 1; }));
 * });
 */
export function retryOnConflict<T>(fn: (attempt: number) => T | Promise<T>, options?: RetryOptions): Promise<T> {
  return retryOnError(isConflict, fn, options);
}
