import type { KubeObject } from '../../object/meta.js';
import { OutageDetector, type ServerContact } from '../../rest/chain/server-contact.js';
import { findApiError } from '../../rest/errors/api-error.js';
import { isGone, isResourceExpired, isTooLargeResourceVersion } from '../../rest/errors/error-guards.js';
import { isTransportError } from '../../rest/errors/transport-error.js';
import type { ListStream } from '../../rest/stream/list-stream.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import type { WatchStream } from '../../rest/stream/watch-stream.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Random } from '../../runtime/random.js';
import { link, throwIfAborted } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { ListOptions, WatchOptions } from '../options.js';

/** Options of `retryingWatch`. */
export interface RetryingWatchOptions
  extends Omit<
    WatchOptions,
    'resourceVersion' | 'sendInitialEvents' | 'resourceVersionMatch' | 'timeoutSeconds' | 'timer' | 'maxRetries'
  > {
  /**
   * Where to start, from a list or an earlier event. @default none (`''` and `'0'` too): all existing objects come
   * first
   */
  readonly resourceVersion?: string;
  /**
   * Called with every failure that is retried, and with the longest wait before the next try: a server that answers
   * another request of the same client is tried sooner. For logs. If it throws, the watch ends.
   */
  readonly onRetry?: (error: unknown, delayMs: number) => void;
}

export const retryingWatchOptionNames = optionNames<RetryingWatchOptions>({
  resourceVersion: true,
  onRetry: true,
  labelSelector: true,
  fieldSelector: true,
  allowWatchBookmarks: true,
  cutManagedFields: true,
  decoder: true,
  idleTimeoutMs: true,
  signal: true,
  span: true,
  namespace: true,
});

/**
 * The events of a retrying watch. `RESET` means: forget what you know, all existing objects follow as ADDED; `SYNCED`
 * marks their end. Both come at the start, unless it starts from a resourceVersion, and again whenever the server could
 * not bridge a gap. In between, the events of a watch.
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

/** What a {@link RetryingWatch} runs on. */
export interface RetryingWatchRuntime {
  readonly clock: Scheduler;
  readonly random: Random;
  readonly closing?: AbortSignal;
  readonly contact?: ServerContact;
}

const firstDelayMs = 800;
const longestDelayMs = 30_000;
/** A server may request a longer delay, but not so long that the watch looks dead. */
const longestAskedMs = 60_000;
/** Requests are retried here, where `onRetry` is called, and not by the client. */
const once = { maxRetries: 0 };
/** A watch that lived at least this long was a good one: the next retry starts with a short wait again. */
const goodWatchMs = 1_000;
/** Only the first of several expiries within this time is answered by a list at once. */
const calmMs = 120_000;

/**
 * A watch that survives disconnects, 429, 5xx and expiry (`watchtools.RetryWatcher`, which gives up on expiry).
 * Iterate it once; ending the iteration, `stop()` or the signal end it, the last by rejecting with its reason. Rejects
 * otherwise only on what waiting cannot mend: not who or not allowed (401, 403), no such kind, a bad selector, a client
 * that was closed.
 *
 * From one `SYNCED` to the next `RESET` no event is lost and none comes twice. Nothing is held back: while the reader
 * is busy, the server waits, and may end the watch, which is then taken up where the reader is.
 */
export class RetryingWatch<R extends KubeObject> implements AsyncIterable<RetryingWatchEvent<R>>, AsyncDisposable {
  readonly #source: RetryingWatchSource<R>;
  readonly #options: RetryingWatchOptions;
  readonly #clock: Scheduler;
  readonly #random: Random;
  readonly #closing: AbortSignal | undefined;
  readonly #contact: ServerContact | undefined;
  readonly #outages: OutageDetector | undefined;
  readonly #stop = new AbortController();
  /** In a row, without an event or a good watch in between: the wait grows with them. */
  #failures = 0;
  /** As `#failures`, for a server that cannot be reached: how long it is away says nothing about it once it is back. */
  #away = 0;
  /** In a row, without calm in between. Events do not count: a server may send one before each expiry. */
  #expiries = 0;
  #expiredAt = Number.NEGATIVE_INFINITY;
  #started = false;
  /** The reader got a RESET, and nothing since. */
  #isReset = false;

  constructor(source: RetryingWatchSource<R>, options: RetryingWatchOptions, runtime: RetryingWatchRuntime) {
    this.#source = source;
    this.#options = options;
    this.#clock = runtime.clock;
    this.#random = runtime.random;
    this.#closing = runtime.closing;
    this.#contact = runtime.contact;
    this.#outages = this.#contact && new OutageDetector(this.#contact);
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
    using linked = link(this.#stop.signal, this.#options.signal, this.#closing);
    const { signal } = linked;
    let resourceVersion = startOf(this.#options.resourceVersion);
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
    throwIfAborted(this.#options.signal);
    // A watch that was stopped before the client was closed reports nothing.
    if (signal.reason === this.#closing?.reason) throwIfAborted(this.#closing);
  }

  /** Lists all existing objects; returns the resourceVersion to watch from. */
  async *#list(signal: AbortSignal): AsyncGenerator<RetryingWatchEvent<R>, string> {
    if (!this.#isReset) yield { type: 'RESET' };
    this.#isReset = true;
    const { namespace, labelSelector, fieldSelector, cutManagedFields, span } = this.#options;
    const selection = { namespace, labelSelector, fieldSelector };
    this.#outages?.begin();
    const list = await this.#source.list({ ...selection, cutManagedFields, span, ...once, signal });
    for await (const object of list) {
      this.#isReset = false;
      yield { type: 'ADDED', object: object as R };
    }
    const resourceVersion = list.metadata?.resourceVersion;
    if (!resourceVersion)
      throw new Error('the list has no metadata.resourceVersion to watch from; is it a Kubernetes list?');
    this.#isReset = false;
    yield { type: 'SYNCED', resourceVersion };
    return resourceVersion;
  }

  /** One watch to its end; gives the resourceVersion to go on from. */
  async *#watch(from: string, signal: AbortSignal): AsyncGenerator<RetryingWatchEvent<R>, string> {
    let resourceVersion = from;
    const timeoutSeconds = Math.round(300 * (1 + this.#random.next()));
    const { onRetry: _, ...options } = this.#options;
    this.#outages?.begin();
    const stream = await this.#source.watch({ ...options, ...once, resourceVersion, timeoutSeconds, signal });
    const openedAt = this.#clock.monotonic();
    const isGood = () => this.#clock.monotonic() - openedAt >= goodWatchMs;
    try {
      for await (const event of stream) {
        if (event.type === 'ERROR') throw event.error;
        resourceVersion = event.object.metadata?.resourceVersion || resourceVersion;
        this.#failures = 0;
        yield event;
      }
    } catch (error) {
      if (isGood()) this.#failures = 0;
      throw new Gap(error, resourceVersion);
    }
    if (isGood()) this.#failures = 0;
    else if (resourceVersion === from) {
      throw new Gap(new Error('the server ended the watch within a second, without an event'), resourceVersion);
    }
    return resourceVersion;
  }

  async #wait(error: unknown, signal: AbortSignal): Promise<void> {
    const expired = isExpired(error);
    if (!expired && !isTransient(error)) throw error;
    const outage = this.#outages?.judge(error);
    const isAway = outage === 'certain';
    const delayMs = expired ? this.#delayAfterExpiry(error) : this.#delay(error, isAway ? this.#away : this.#failures);
    this.#away = isAway ? this.#away + 1 : 0;
    if (!isAway) this.#failures += 1;
    this.#options.onRetry?.(error, delayMs);
    if (delayMs <= 0) return;
    const [clock, random] = [this.#clock, this.#random];
    const waited = outage && this.#contact?.wait(delayMs, { clock, random, signal });
    await (waited ?? clock.sleep(delayMs, { signal })).catch(ignoreAbort);
  }

  /** The first relist is made at once: the events missed are waiting. */
  #delayAfterExpiry(error: unknown): number {
    const now = this.#clock.monotonic();
    this.#expiries = now - this.#expiredAt < calmMs ? this.#expiries + 1 : 0;
    this.#expiredAt = now;
    return this.#expiries === 0 ? 0 : this.#delay(error, Math.max(this.#failures, this.#expiries) - 1);
  }

  #delay(error: unknown, failures: number): number {
    const asked = Math.min(findApiError(error)?.retryAfterMs ?? 0, longestAskedMs);
    return Math.max(asked, this.#random.jitter(Math.min(firstDelayMs * 2 ** failures, longestDelayMs), 1));
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

/** Watches from these start with all existing objects, too, but do not mark the end. */
function startOf(resourceVersion: string | undefined): string | undefined {
  return resourceVersion === '' || resourceVersion === '0' ? undefined : resourceVersion;
}

/** Whether trying again can help. Of what is not known, it is assumed; but a mistake of the caller stays one. */
function isTransient(error: unknown): boolean {
  const refused = findApiError(error);
  if (refused !== undefined)
    return refused.code === 429 || refused.code === 408 || refused.code === 0 || refused.code >= 500;
  if (isTransportError(error)) return error.kind !== 'closed' && error.kind !== 'invalid-request';
  return !(error instanceof TypeError);
}

/** The loop looks at the signal itself. */
function ignoreAbort(): void {}
