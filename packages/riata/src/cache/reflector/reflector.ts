import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { OutageDetector, type ServerContact, serverContact } from '../../rest/chain/server-contact.js';
import { findApiError } from '../../rest/errors/api-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Random } from '../../runtime/random.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { ReflectorStore } from '../store/store.js';
import type { WithheldObjects } from '../store/withheld-objects.js';
import type { ListerWatcher } from './list-watch.js';
import { ReflectorBackoff } from './reflector-backoff.js';
import { explain } from './reflector-error.js';
import { type EventTarget, ReflectorEvents } from './reflector-events.js';
import { ReflectorIntake } from './reflector-intake.js';
import { type ListedObjects, ReflectorLister } from './reflector-lister.js';
import { type ReflectorMetrics, reflectorMetrics } from './reflector-metrics.js';
import { type ReflectorHealth, type ReflectorOptions, reflectorOptionNames } from './reflector-options.js';
import { ReflectorPosition } from './reflector-position.js';
import { ReflectorResync } from './reflector-resync.js';
import { reflectorSettings } from './reflector-settings.js';
import { ReflectorStatus } from './reflector-status.js';
import { ReflectorWatcher } from './reflector-watcher.js';
import { watchErrorLogger } from './watch-error-logger.js';
import { judgeWatch, judgeWatchList, type WatchEnd } from './watch-verdict.js';

/** Interval between warnings about an unfinished WatchList. */
const unfinishedMs = 10_000;

/** Why a wait is needed; see `Verdict`. */
interface Failure {
  readonly error?: unknown;
  readonly isPrompt?: boolean;
}

/**
 * Keeps a store equal to what a server has of one kind of object (`cache.Reflector`, `NewNamedReflector`): all there is
 * first, then every change, for as long as it runs.
 *
 * What may be relied on: the store gets whole lists by `replace`, then each change once and in the server's order, and
 * after any interruption resumes where it was. Only where the server cannot bridge the gap (410, or a stream that cannot be
 * read on) another `replace` follows. A watch that says nothing for longer than `silence` is replaced, without a list and
 * without losing or repeating an event. Whatever the server does, it keeps trying, after waits of 0.8 to 60 s.
 *
 * @example
 * const store = createStore<Pod>();
 * const reflector = new Reflector(listWatch(client, Pod), store, { kind: Pod });
 * await reflector.run({ signal });
 */
export class Reflector<T extends KubeObject> {
  /** In logs, metrics and errors. */
  readonly name: string;
  readonly #kind: KindRef<T> | undefined;
  readonly #clock: Scheduler;
  readonly #log: Logger;
  readonly #metrics: ReflectorMetrics;
  readonly #useWatchList: boolean;
  readonly #position = new ReflectorPosition();
  readonly #status: ReflectorStatus;
  readonly #backoff: ReflectorBackoff;
  readonly #random: Random;
  readonly #contact: ServerContact | undefined;
  readonly #outages: OutageDetector | undefined;
  readonly #intake: ReflectorIntake<T>;
  readonly #lister: ReflectorLister<T>;
  readonly #watcher: ReflectorWatcher<T>;
  readonly #resync: ReflectorResync;
  readonly #target: EventTarget<T>;
  #running = false;

  constructor(listerWatcher: ListerWatcher<T>, store: ReflectorStore<T>, options: ReflectorOptions<T> = {}) {
    const { kind, shouldResync, decoder } = options;
    const runtime = resolveRuntime(options.runtime);
    const { clock, random, log, metrics } = runtime;
    const name = options.name ?? nameOf(kind);
    refuseUnknownOptions(`reflector "${name}"`, options, reflectorOptionNames);
    this.name = name;
    this.#kind = kind;
    this.#clock = clock;
    this.#log = log.child({ reflector: name });
    this.#metrics = reflectorMetrics(metrics, name);
    this.#useWatchList = options.useWatchList ?? true;
    const { pageSize, silenceMs, resyncMs: periodMs } = reflectorSettings(name, options);
    const position = this.#position;
    const liveness = { clock, random, silenceMs };
    const onError = options.onError ?? watchErrorLogger(log);
    this.#status = new ReflectorStatus({
      ...{ name, clock, log: this.#log, position, onError },
      withheld: () => this.#intake.withheld.size,
    });
    this.#backoff = new ReflectorBackoff(clock, random);
    this.#random = random;
    this.#contact = listerWatcher[serverContact];
    this.#outages = this.#contact && new OutageDetector(this.#contact);
    const onRecovered = (object: T) => this.#recovered(object);
    this.#intake = new ReflectorIntake(options, { name, log: this.#log, runtime, onRecovered });
    this.#lister = new ReflectorLister({ listerWatcher, decoder, position, intake: this.#intake, pageSize, liveness });
    this.#watcher = new ReflectorWatcher({
      ...{ listerWatcher, decoder, liveness, metrics: this.#metrics, status: this.#status },
    });
    this.#resync = new ReflectorResync({ clock, log: this.#log, periodMs, shouldResync, resync: () => store.resync() });
    const onBookmark = () => this.#countVersion();
    this.#target = { store, position, intake: this.#intake, log: this.#log, onBookmark };
  }

  /**
   * Lists and watches until the signal aborts, and resolves then: nothing reaches the store any more. Never rejects for what
   * a server, a transform or a store does. May run again later, and resumes where it was; not twice at a time.
   */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#running) throw new TypeError(`reflector "${this.name}" is already running; create another one`);
    this.#running = true;
    try {
      while (!signal.aborted) await this.#listAndWatch(signal);
    } finally {
      this.#running = false;
      this.#resync.stop();
      this.#intake.withheld.end();
      this.#status.enter('stopped');
    }
  }

  /** How far the store has come (`LastSyncResourceVersion`); `''` before the first list. */
  lastSyncResourceVersion(): string {
    return this.#position.version;
  }

  /** Objects that are withheld from the store: the transform fails for them, or their metadata are malformed. */
  get withheld(): Pick<WithheldObjects<T>, 'size' | 'list' | 'ids' | 'errorOf'> {
    return this.#intake.withheld;
  }

  /** How it is doing now. */
  get health(): ReflectorHealth {
    return this.#status.health;
  }

  /** A list, then watches for as long as each can go on where the one before ended (`ListAndWatch`). */
  async #listAndWatch(signal: AbortSignal): Promise<void> {
    try {
      let end = await this.#begin(signal);
      while (!signal.aborted) {
        if (end !== undefined) {
          const verdict = judgeWatch(end, this.#status.failures);
          this.#log.debug('watch ended', { ...end, next: verdict.next, resourceVersion: this.#position.version });
          if (verdict.error !== undefined) await this.#failAndWait('watch', verdict, signal);
          if (verdict.next === 'list') return;
          if (signal.aborted) return;
        }
        this.#status.enter('watching');
        const resourceVersion = this.#position.version;
        this.#outages?.begin();
        const events = ReflectorEvents.from(resourceVersion, this.#target);
        end = await this.#watcher.watch({ resourceVersion }, events.take, signal);
        this.#countVersion();
      }
    } catch (error) {
      if (!signal.aborted) await this.#failAndWait('list', { error }, signal);
    }
  }

  /** Fills the store. By WatchList, the stream stays open and is watched on: then, how it ended. */
  async #begin(signal: AbortSignal): Promise<WatchEnd | undefined> {
    while (this.#useWatchList && !signal.aborted) {
      this.#status.enter('listing');
      this.#outages?.begin();
      const { isComplete, end } = await this.#watchList(signal);
      if (isComplete || signal.aborted) return end;
      const verdict = judgeWatchList(end, this.#position.unavailable);
      if (verdict.next === 'list') {
        this.#log.debug('WatchList failed, falling back to LIST', { error: verdict.why });
        break;
      }
      if (verdict.lost) this.#position.lost();
      if (verdict.error !== undefined) await this.#failAndWait('watch', verdict, signal);
    }
    if (signal.aborted) return undefined;
    this.#status.enter('listing');
    this.#outages?.begin();
    const startedAt = this.#clock.monotonic();
    this.#intake.withheld.beginList();
    this.#replace(await this.#lister.list(signal), startedAt);
    return undefined;
  }

  /** One stream: all there is, then, once that is complete, what happens. */
  async #watchList(signal: AbortSignal): Promise<{ readonly isComplete: boolean; readonly end: WatchEnd }> {
    const startedAt = this.#clock.monotonic();
    this.#intake.withheld.beginList();
    const events = ReflectorEvents.ofWatchList(this.#target, (listed) => {
      reminder.cancel();
      this.#replace(listed, startedAt);
      this.#status.enter('watching');
    });
    const wait = () => this.#clock.after(unfinishedMs, remind, { background: true });
    const remind = () => {
      const waitedMs = this.#clock.monotonic() - startedAt;
      this.#log.warn('WatchList is still incomplete', { waitedMs, objects: events.collected });
      reminder = wait();
    };
    let reminder = wait();
    try {
      const end = await this.#watcher.watch(
        { resourceVersion: this.#position.forWatchList, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' },
        events.take,
        signal,
      );
      return { isComplete: events.isListed, end };
    } finally {
      reminder.cancel();
      this.#countVersion();
    }
  }

  #replace({ items, resourceVersion }: ListedObjects<T>, startedAt: number): void {
    const count = items.length;
    this.#target.store.replace(items, resourceVersion);
    this.#intake.withheld.endList();
    this.#position.listed(resourceVersion);
    this.#status.listed();
    this.#resync.start();
    this.#metrics.lists.inc();
    this.#metrics.itemsPerList.observe(count);
    this.#metrics.listDuration.observe((this.#clock.monotonic() - startedAt) / 1000);
    this.#countVersion();
  }

  /** A withheld object comes late: the store must not believe that it has gone back to that version. */
  #recovered(object: T): void {
    const { store } = this.#target;
    store.update(object);
    if (this.#position.version !== '') store.bookmark(this.#position.version);
  }

  /** Reports the failure, and waits before the next try; as long as the server requests, if it does. */
  async #failAndWait(verb: 'list' | 'watch', { error, isPrompt }: Failure, signal: AbortSignal): Promise<void> {
    this.#status.enter('waiting');
    this.#status.failed(explain(error, { reflector: this.name, verb, kind: this.#kind }));
    // The loops look at the signal themselves.
    await this.#wait(error, isPrompt, signal).catch(() => {});
  }

  async #wait(error: unknown, isPrompt: boolean | undefined, signal: AbortSignal): Promise<void> {
    const outage = this.#outages?.judge(error);
    if (outage === undefined || this.#contact === undefined) {
      const askedMs = findApiError(error)?.retryAfterMs;
      const waitMs = isPrompt ? this.#backoff.prompt(askedMs) : this.#backoff.next(askedMs);
      return this.#clock.sleep(waitMs, { signal });
    }
    const limitMs = outage === 'certain' ? this.#backoff.outage() : this.#backoff.next();
    const answered = await this.#contact.wait(limitMs, { clock: this.#clock, random: this.#random, signal });
    if (answered) this.#backoff.recovered();
  }

  #countVersion(): void {
    if (!this.#metrics.enabled) return;
    const version = Number(this.#position.version);
    if (Number.isFinite(version)) this.#metrics.lastResourceVersion.set(version);
  }
}

function nameOf(kind: KindRef | undefined): string {
  if (kind === undefined) return 'reflector';
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}
