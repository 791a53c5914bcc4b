import type { KubeObject } from '../object/meta.js';
import { findApiError } from '../rest/api-error.js';
import { isGone, isResourceExpired, isTooLargeResourceVersion } from '../rest/error-guards.js';
import type { ListStream } from '../rest/list-stream.js';
import { isTransportError } from '../rest/transport-error.js';
import type { WatchEvent } from '../rest/watch-event.js';
import type { WatchStream } from '../rest/watch-stream.js';
import type { Scheduler } from '../runtime/clock.js';
import type { Random } from '../runtime/random.js';
import { link } from '../runtime/signals.js';
import type { ListOptions, WatchOptions } from './options.js';

/** Options of `retryingWatch`. */
export interface RetryingWatchOptions
  extends Omit<WatchOptions, 'sendInitialEvents' | 'resourceVersionMatch' | 'timeoutSeconds'> {
  /** Told of every failure that is survived, before the wait; for logs. */
  readonly onRetry?: (error: unknown, delayMs: number) => void;
}

/**
 * What a retrying watch says. `RESET` means: forget what you know, all that exists follows as ADDED; `SYNCED` that this
 * was all. Both come at the start, unless it starts from a resourceVersion, and again whenever the server could not
 * bridge a gap. In between, the events of a watch.
 */
export type RetryingWatchEvent<R extends KubeObject> =
  | Exclude<WatchEvent<R>, { readonly type: 'ERROR' }>
  | { readonly type: 'RESET' }
  | { readonly type: 'SYNCED'; readonly resourceVersion: string };

/** Where a {@link RetryingWatch} gets its data. */
export interface RetryingWatchSource<R extends KubeObject> {
  list(options: ListOptions): Promise<ListStream<KubeObject>>;
  watch(options: WatchOptions): Promise<WatchStream<R>>;
}

const firstDelayMs = 800;
const longestDelayMs = 30_000;
/** A watch that lived at least this long was a good one: what comes after it starts with a short wait again. */
const goodWatchMs = 1_000;

/**
 * A watch that goes on over disconnects, 429, 5xx and expiry (`watchtools.RetryWatcher`, which gives up on expiry).
 * Iterate it once; ending the iteration, `stop()` or the signal end it. Rejects only on what waiting cannot mend: no
 * right to list or watch, no such kind, a bad selector.
 */
export class RetryingWatch<R extends KubeObject> implements AsyncIterable<RetryingWatchEvent<R>>, AsyncDisposable {
  readonly #source: RetryingWatchSource<R>;
  readonly #options: RetryingWatchOptions;
  readonly #clock: Scheduler;
  readonly #random: Random;
  readonly #stop = new AbortController();
  #failures = 0;
  #started = false;

  constructor(
    source: RetryingWatchSource<R>,
    options: RetryingWatchOptions,
    runtime: { readonly clock: Scheduler; readonly random: Random },
  ) {
    this.#source = source;
    this.#options = options;
    this.#clock = runtime.clock;
    this.#random = runtime.random;
  }

  /** Ends the watch; an iteration that waits ends too. */
  stop(): void {
    this.#stop.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<RetryingWatchEvent<R>> {
    if (this.#started) throw new TypeError('a retrying watch can be iterated once; make another one');
    this.#started = true;
    using linked = link(this.#stop.signal, this.#options.signal);
    const { signal } = linked;
    let resourceVersion = this.#options.resourceVersion;
    try {
      while (!signal.aborted) {
        try {
          resourceVersion ??= yield* this.#list(signal);
          resourceVersion = yield* this.#watch(resourceVersion, signal);
        } catch (error) {
          if (signal.aborted) break;
          const gap = error instanceof Gap ? error : new Gap(error, resourceVersion);
          resourceVersion = isExpired(gap.cause) ? undefined : gap.resourceVersion;
          await this.#wait(gap.cause, signal);
        }
      }
    } finally {
      this.stop();
    }
    if (this.#options.signal?.aborted) throw this.#options.signal.reason;
  }

  /** All that exists; gives the resourceVersion to watch from. */
  async *#list(signal: AbortSignal): AsyncGenerator<RetryingWatchEvent<R>, string> {
    yield { type: 'RESET' };
    const { namespace, labelSelector, fieldSelector, cutManagedFields } = this.#options;
    const list = await this.#source.list({ namespace, labelSelector, fieldSelector, cutManagedFields, signal });
    for await (const object of list) yield { type: 'ADDED', object: object as R };
    const resourceVersion = list.metadata?.resourceVersion ?? '';
    yield { type: 'SYNCED', resourceVersion };
    return resourceVersion;
  }

  /** One watch to its end; gives the resourceVersion to go on from. */
  async *#watch(from: string, signal: AbortSignal): AsyncGenerator<RetryingWatchEvent<R>, string> {
    let resourceVersion = from;
    const openedAt = this.#clock.monotonic();
    const timeoutSeconds = Math.round(300 * (1 + this.#random.next()));
    const { onRetry: _, ...options } = this.#options;
    const stream = await this.#source.watch({ ...options, resourceVersion, timeoutSeconds, signal });
    try {
      for await (const event of stream) {
        if (event.type === 'ERROR') throw new Gap(event.error, resourceVersion);
        resourceVersion = event.object.metadata.resourceVersion;
        this.#failures = 0;
        yield event;
      }
    } catch (error) {
      throw error instanceof Gap ? error : new Gap(error, resourceVersion);
    } finally {
      stream.stop();
    }
    if (this.#clock.monotonic() - openedAt < goodWatchMs && resourceVersion === from) {
      throw new Gap(new Error('the server ended the watch within a second, without an event'), resourceVersion);
    }
    return resourceVersion;
  }

  async #wait(error: unknown, signal: AbortSignal): Promise<void> {
    const expired = isExpired(error);
    if (!expired && !isTransient(error)) throw error;
    // The first relist after an expiry is made at once: the events missed are waiting.
    const delayMs = expired && this.#failures === 0 ? 0 : this.#delay(error);
    this.#failures += 1;
    this.#options.onRetry?.(error, delayMs);
    if (delayMs > 0) await this.#clock.sleep(delayMs, { signal }).catch(ignoreAbort);
  }

  #delay(error: unknown): number {
    const asked = findApiError(error)?.retryAfterMs;
    const backoff = Math.min(firstDelayMs * 2 ** this.#failures, longestDelayMs);
    return Math.max(asked ?? 0, this.#random.jitter(backoff, 1));
  }
}

/** A failure, and the place in the stream where it came. */
class Gap extends Error {
  readonly resourceVersion: string | undefined;

  constructor(cause: unknown, resourceVersion: string | undefined) {
    super('the watch was interrupted', { cause });
    this.resourceVersion = resourceVersion;
  }
}

function isExpired(error: unknown): boolean {
  return isGone(error) || isResourceExpired(error) || isTooLargeResourceVersion(error);
}

/** Whether trying again can help. */
function isTransient(error: unknown): boolean {
  const refused = findApiError(error);
  if (refused === undefined) return isTransportError(error) || !(error instanceof TypeError);
  return refused.code === 429 || refused.code >= 500 || refused.code === 408 || refused.code === 0;
}

/** The loop looks at the signal itself. */
function ignoreAbort(): void {}
