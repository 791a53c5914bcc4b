import type { WatchOptions } from '../../client/options.js';
import type { KubeObject } from '../../object/meta.js';
import type { ObjectDecoder } from '../../object/scan/decode-object.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import { abortable, link, onAbort } from '../../runtime/signals.js';
import type { ListerWatcher, WatchSource } from './list-watch.js';
import { deathError, Liveness, type LivenessOptions } from './liveness.js';
import type { ReflectorMetrics } from './reflector-metrics.js';
import type { WatchEnd } from './watch-verdict.js';

/** A watch that ends sooner, without an event, is a very short one. */
const shortMs = 1_000;
/** Servers put requests in line when they are busy: an answer may take longer to begin than a running watch may be silent. */
const shortestOpeningMs = 30_000;
const shortestTimeoutS = 300;

/** What a {@link ReflectorWatcher} works with. */
export interface ReflectorWatcherOptions<T extends KubeObject> {
  readonly listerWatcher: ListerWatcher<T>;
  readonly decoder: ObjectDecoder | undefined;
  readonly liveness: LivenessOptions;
  readonly metrics: ReflectorMetrics;
  readonly status: WatchStatus;
}

/** Receives how a watch is doing. */
export interface WatchStatus {
  /** The server has begun to answer. */
  opened(): void;
  /** A sign of life came, at this time on the monotonic clock. */
  sign(at: number): void;
  closed(): void;
}

/** Opens watches and reads them to their end, whatever that is; never rejects. */
export class ReflectorWatcher<T extends KubeObject> {
  readonly #options: ReflectorWatcherOptions<T>;

  constructor(options: ReflectorWatcherOptions<T>) {
    this.#options = options;
  }

  /**
   * One watch, from its request to its end. `onEvent` gets every event but `ERROR`; if it throws, the watch ends. After
   * the promise has settled it is not called again, whatever the source does: the next watch resumes right there.
   */
  async watch(
    options: WatchOptions,
    onEvent: (event: Exclude<WatchEvent<T>, { readonly type: 'ERROR' }>) => void,
    signal: AbortSignal,
  ): Promise<WatchEnd> {
    const { liveness, metrics, status } = this.#options;
    using alive = new Liveness({ ...liveness, silenceMs: Math.max(liveness.silenceMs, shortestOpeningMs) });
    let source: WatchSource<T>;
    try {
      source = await this.#open(options, alive, signal);
    } catch (error) {
      return signal.aborted ? { how: 'stopped' } : { how: 'refused', error };
    }
    alive.limitSilence(liveness.silenceMs);
    metrics.watches.inc();
    status.opened();
    const openedAt = liveness.clock.monotonic();
    let events = 0;
    const end = await this.#read(
      source,
      (event) => {
        if (event.type === 'ERROR') throw event.error;
        events += 1;
        onEvent(event);
      },
      alive,
      signal,
    );
    status.closed();
    const lastedMs = liveness.clock.monotonic() - openedAt;
    metrics.watchDuration.observe(lastedMs / 1000);
    metrics.itemsPerWatch.observe(events);
    if (end.how === 'silent' || end.how === 'slept') metrics.silentWatches.inc();
    if (end.how === 'failed') return { ...end, lasted: lastedMs >= shortMs };
    if (end.how !== 'closed' || lastedMs >= shortMs || events > 0) return end;
    metrics.shortWatches.inc();
    return { how: 'short' };
  }

  async #open(options: WatchOptions, alive: Liveness, signal: AbortSignal): Promise<WatchSource<T>> {
    const { listerWatcher, decoder, liveness } = this.#options;
    using scope = link(signal);
    alive.onDead = (why) => scope.abort(deathError('watch', why));
    const opening = listerWatcher.watch({
      ...options,
      decoder,
      allowWatchBookmarks: true,
      // Spread, so that the watches of many clients do not end together for ever.
      timeoutSeconds: Math.floor(shortestTimeoutS * (1 + liveness.random.next())),
      // Retries happen here, where they are reported: below, a Retry-After would be waited for in silence.
      maxRetries: 0,
      // Silence is noticed here, by events: a proxy may keep a dead watch's connection alive.
      ...(liveness.silenceMs !== Number.POSITIVE_INFINITY && { idleTimeoutMs: 0 }),
      timer: alive.timer,
      signal: scope.signal,
    });
    opening.then(
      (late) => scope.signal.aborted && late.stop(),
      () => {},
    );
    return await abortable(opening, scope.signal);
  }

  #read(
    source: WatchSource<T>,
    onEvent: (event: WatchEvent<T>) => void,
    alive: Liveness,
    signal: AbortSignal,
  ): Promise<WatchEnd> {
    const { status } = this.#options;
    return new Promise((resolve) => {
      let isOpen = true;
      const end = (how: WatchEnd): void => {
        if (!isOpen) return;
        isOpen = false;
        alive[Symbol.dispose]();
        aborting?.[Symbol.dispose]();
        try {
          source.stop();
        } catch {
          // A custom source; its late events are ignored.
        }
        resolve(how);
      };
      alive.onDead = (how) => end({ how });
      let aborting: Disposable | undefined;
      aborting = onAbort(signal, () => end({ how: 'stopped' }));
      if (!isOpen) return;
      const consumer = {
        onEvent(event: WatchEvent<T>): void {
          if (!isOpen) return;
          const now = alive.touch();
          try {
            onEvent(event);
            status.sign(now);
          } catch (error) {
            end({ how: 'failed', error, lasted: false });
          }
        },
        onEnd(error?: unknown): void {
          end(error === undefined ? { how: 'closed' } : { how: 'failed', error, lasted: false });
        },
      };
      try {
        if (source.consume !== undefined) source.consume(consumer);
        else void iterate(source, consumer.onEvent, () => isOpen).then(() => consumer.onEnd(), consumer.onEnd);
      } catch (error) {
        consumer.onEnd(error);
      }
    });
  }
}

async function iterate<T>(
  source: WatchSource<T>,
  onEvent: (event: WatchEvent<T>) => void,
  isOpen: () => boolean,
): Promise<void> {
  for await (const event of source) {
    onEvent(event);
    if (!isOpen()) return;
  }
}
