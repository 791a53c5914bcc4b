import { consoleLogger } from '../runtime/log/console-logger.js';
import type { Logger } from '../runtime/log/logger.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import { systemRandom } from '../runtime/random.js';
import { onAbort } from '../runtime/signals.js';
import type { Scheduler } from '../runtime/time/clock.js';
import { systemClock } from '../runtime/time/system-clock.js';
import { DelayedItems } from './delayed-items.js';
import type { ItemRateLimiter } from './item-rate-limiter.js';
import { isNumber, KeyReader } from './key-reader.js';
import { type Linked, LinkedList } from './linked-list.js';
import { type PendingKey, pendingKeys } from './pending-keys.js';
import { QueueEntries } from './queue-entries.js';
import type { QueueEntry, WorkItem } from './queue-entry.js';
import { QueueIterator } from './queue-iterator.js';
import { QueueMetrics } from './queue-metrics.js';
import { RankedOrder } from './ranked-order.js';
import { FifoOrder, type ReadyOrder } from './ready-order.js';
import {
  type AddOptions,
  agingMsOf,
  limiterOf,
  type WaitOptions,
  type WorkQueueArguments,
  type WorkQueueOptions,
  workQueueOptionNames,
} from './work-queue-options.js';

/** One `get` that waits for a key. */
interface Waiter<K, Note> extends Linked<Waiter<K, Note>> {
  resolve(item: WorkItem<K, Note> | undefined): void;
}

/**
 * Keys to be worked on, each once however often it is added, by one worker at a time (`workqueue.RateLimitingInterface`
 * of client-go, made there with `NewNamedRateLimitingQueue`; `priorityqueue.PriorityQueue` of controller-runtime).
 *
 * What may be relied on:
 * - A key that is added while it waits runs once. One that is added while a worker has it runs again after `done`,
 *   never at the same time.
 * - Every add is followed by a run that starts after it, as long as workers call `get` and `done`.
 * - Notes given with adds that end up in one run are merged and come with the key; the highest priority counts.
 * - Keys come in the order in which they were first added, or by `priority` and `fairness` where those are chosen.
 *
 * @example
 * const queue = new WorkQueue({ name: 'carts' });
 * queue.add('shop/cart');
 * for (let item = await queue.get(); item !== undefined; item = await queue.get()) {
 *   try {
 *     await work(item.key);
 *     queue.forget(item.key);
 *   } catch {
 *     queue.addRateLimited(item.key);
 *   } finally {
 *     queue.done(item.key);
 *   }
 * }
 */
export class WorkQueue<K = string, Note = undefined> implements Disposable, AsyncIterable<WorkItem<K, Note>> {
  /** As given; also the label `name` of the metrics. */
  readonly name: string;
  readonly #clock: Scheduler;
  readonly #keys: KeyReader<K>;
  readonly #merge: (earlier: Note, later: Note) => Note;
  readonly #limiter: ItemRateLimiter;
  readonly #metrics: QueueMetrics<K, Note> | undefined;
  #log: Logger | undefined;
  /** Whether an add takes the place of a waiting delay: so in controller-runtime, while client-go runs the key twice. */
  readonly #absorbDelays: boolean;
  /** All keys that are dirty or being worked on, and some that were. */
  readonly #entries = new QueueEntries<K, Note>();
  /** The dirty ones that are not in progress. Empty while a `get` waits. */
  readonly #ready: ReadyOrder<K, Note>;
  /**
   * Whether the metrics or the order need the time when keys are added and taken: reading the clock costs as much as an
   * add.
   */
  readonly #timed: boolean;
  readonly #delayed: DelayedItems<K, Note>;
  /** In the order of their calls. */
  readonly #waiters = new LinkedList<Waiter<K, Note>>();
  readonly #drainers = new Set<() => void>();
  /** Entries with an `item`. */
  #processing = 0;
  #order = 0;
  #down = false;

  constructor(...args: WorkQueueArguments<K, Note>) {
    const options: WorkQueueOptions<K, Note> = args[0] ?? {};
    const { name = '', clock = systemClock, random = systemRandom, metrics, priority = false, fairness } = options;
    this.name = name;
    this.#clock = clock;
    refuseUnknownOptions(`queue "${name}"`, options, workQueueOptionNames);
    this.#keys = new KeyReader(name, options.id, fairness);
    this.#merge = options.merge ?? ((_, later) => later);
    this.#limiter = limiterOf(name, options.rateLimiter)({ clock, random });
    const agingMs = agingMsOf(name, priority);
    this.#log = options.log;
    const priorities = priority !== false;
    this.#absorbDelays = priorities;
    this.#ready =
      priorities || fairness !== undefined ? new RankedOrder({ clock, priorities, agingMs }) : new FifoOrder();
    if (metrics?.enabled && name !== '') this.#metrics = new QueueMetrics(metrics, name, priorities, clock);
    this.#timed = this.#ready.timed || this.#metrics !== undefined;
    this.#delayed = new DelayedItems<K, Note>({
      clock,
      merge: (earlier, later) => this.#merged(earlier, later),
      release: (id, key, note, priority) => this.#release(id, key, note, priority),
    });
  }

  /** Marks a key as in need of a run. Does nothing after a shutdown. */
  add(key: K, options?: AddOptions<Note>): void {
    if (this.#down) return;
    this.#put(this.#keys.idOf(key), key, options?.note, options?.priority ?? 0);
  }

  /**
   * Adds a key after `ms` milliseconds (`AddAfter`); at once when that is 0 or less. A key has only one delay: of
   * several the earliest counts. Delayed keys are dropped at a shutdown. A key that is being worked on keeps its
   * priority unless another is given.
   *
   * The delay and a plain `add` of the key are independent, so the key runs for both; with `priority`, as in
   * controller-runtime, one run at the earlier time answers both.
   */
  addAfter(key: K, ms: number, options?: AddOptions<Note>): void {
    if (!isNumber(ms))
      throw new TypeError(`queue "${this.name}": addAfter requires a number of milliseconds, got ${ms}`);
    if (this.#down) return;
    this.#delay(this.#keys.idOf(key), key, ms, options);
  }

  /**
   * Adds a key once the rate limiter says so, and counts a failure of it (`AddRateLimited`). Gives the delay in milliseconds;
   * undefined if the queue is shut down. For the rest see {@link addAfter}.
   */
  addRateLimited(key: K, options?: AddOptions<Note>): number | undefined {
    if (this.#down) return undefined;
    const id = this.#keys.idOf(key);
    const ms = this.#limiter.when(id);
    if (!isNumber(ms)) {
      throw new TypeError(`queue "${this.name}": the rate limiter returned ${ms} for "${id}"; expected milliseconds`);
    }
    this.#delay(id, key, ms, options);
    return ms;
  }

  /** Resets the rate limiter for a key that succeeded or is given up: its next failure counts as the first. */
  forget(key: K): void {
    this.#limiter.forget(this.#keys.idOf(key));
  }

  /** Failures of the key since it was last forgotten. */
  numRequeues(key: K): number {
    return this.#limiter.numRequeues(this.#keys.idOf(key));
  }

  /**
   * Resolves to the next key, which from then on is being worked on: call {@link done} when that is over. Resolves to
   * undefined once the queue is shut down and nothing is left. Rejects with the signal's reason, and takes no key,
   * when the signal aborts first. Several waiting calls are served in order.
   */
  get(options?: WaitOptions): Promise<WorkItem<K, Note> | undefined> {
    const signal = options?.signal;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const entry = this.#ready.pop();
    if (entry !== undefined) return Promise.resolve(this.#take(entry));
    if (this.#down) return Promise.resolve(undefined);
    return this.#wait(signal);
  }

  /** The next key if there is one right now: {@link get} without waiting. */
  tryGet(): WorkItem<K, Note> | undefined {
    const entry = this.#ready.pop();
    return entry === undefined ? undefined : this.#take(entry);
  }

  /**
   * Keys until the queue is shut down and empty, each done as soon as the next one is requested or the loop is left.
   * Several loops over one queue share its keys.
   */
  items(options?: WaitOptions): AsyncGenerator<WorkItem<K, Note>, void, undefined> {
    let entry: QueueEntry<K, Note> | undefined;
    const get = async (wait: WaitOptions) => {
      const item = await this.get(wait);
      entry = item && this.#entries.get(this.#keys.idOf(item.key));
      return item;
    };
    // The loop's body may have called done, and another worker may have the key by now.
    const done = (item: WorkItem<K, Note>) => void (entry?.item === item && this.#finish(entry));
    const putBack = (item: WorkItem<K, Note>) => {
      if (entry !== undefined) this.#put(entry.id, item.key, item.note, item.priority);
      done(item);
    };
    return new QueueIterator({ get, done, putBack }, options?.signal);
  }

  /** The same as {@link items}. */
  [Symbol.asyncIterator](): AsyncGenerator<WorkItem<K, Note>, void, undefined> {
    return this.items();
  }

  /** Ends the work on a key; if it was added meanwhile, it is ready again. Does nothing for other keys. */
  done(key: K): void {
    const entry = this.#entries.get(this.#keys.idOf(key));
    if (entry?.item !== undefined) this.#finish(entry);
  }

  /** How many keys could be handed out now, without those that are delayed or being worked on. */
  len(): number {
    return this.#ready.size;
  }

  /** How many keys wait for their time. */
  delayed(): number {
    return this.#delayed.size;
  }

  /** Milliseconds until the first of them is due, 0 if it is overdue; undefined if none waits. */
  nextDelayedMs(): number | undefined {
    const { nextAt } = this.#delayed;
    return nextAt === undefined ? undefined : Math.max(0, nextAt - this.#clock.monotonic());
  }

  /** The first `most` keys that wait, ready ones before delayed ones: for a look at a queue that is stuck. */
  pending(most = 1_000): readonly PendingKey<K, Note>[] {
    return pendingKeys({ entries: this.#entries, delayed: this.#delayed, nowMs: this.#clock.monotonic() }, most);
  }

  /**
   * Refuses new keys and drops delayed ones (`ShutDown`). Ready keys are still handed out; then `get` resolves to
   * undefined. Also ends the wait of every {@link shutDownWithDrain}. May be called again.
   */
  shutDown(): void {
    this.#close();
    this.#endDrain();
  }

  /**
   * {@link shutDown}, and resolves (`ShutDownWithDrain`) once workers have called `done` for everything that was in the
   * queue, keys added meanwhile included. If no worker has a key and none takes the rest, it does not wait. Rejects
   * with the signal's reason when that aborts first; a worker that never calls `done` is awaited until then.
   */
  async shutDownWithDrain(options?: WaitOptions): Promise<void> {
    const signal = options?.signal;
    this.#close();
    signal?.throwIfAborted();
    if (this.#processing === 0) {
      if (this.#ready.size === 0) return;
      // A worker may be between two keys.
      await this.#clock.yield();
      if (this.#processing === 0) return;
    }
    await new Promise<void>((resolve, reject) => {
      const drained = () => {
        waiting[Symbol.dispose]();
        resolve();
      };
      this.#drainers.add(drained);
      const waiting = onAbort(signal, () => {
        this.#drainers.delete(drained);
        reject(signal?.reason);
      });
    });
  }

  /** Whether {@link shutDown} or {@link shutDownWithDrain} was called (`ShuttingDown`). */
  shuttingDown(): boolean {
    return this.#down;
  }

  /** {@link shutDown} */
  [Symbol.dispose](): void {
    this.shutDown();
  }

  #put(id: string, key: K, note: Note | undefined, priority: number, group?: string): void {
    this.#checkPriority(id, priority);
    const found = this.#entries.get(id);
    if (found?.dirty) {
      this.#mergeInto(found, note, priority);
      return;
    }
    // Functions of the user may throw, so they come first: a refused add changes nothing.
    const turn = group ?? this.#keys.groupOf(key);
    const delayed = this.#absorbDelays && this.#delayed.size > 0 ? this.#delayed.peek(id) : undefined;
    const allNotes = delayed === undefined ? note : this.#merged(delayed.note, note);
    if (delayed !== undefined) this.#delayed.remove(id);
    const entry = this.#entries.wake(found, id, key);
    entry.note = allNotes;
    entry.priority = delayed === undefined ? priority : Math.max(delayed.priority, priority);
    entry.group = turn;
    entry.order = this.#order++;
    entry.dirty = true;
    const now = this.#timed ? this.#clock.monotonic() : 0;
    if (this.#metrics !== undefined) this.#metrics.added(entry, now);
    if (entry.item === undefined) this.#makeReady(entry, now);
  }

  /** Adds a key that is due. There is no caller to report a failure to, and the key must not be lost. */
  #release(id: string, key: K, note: Note | undefined, priority: number): void {
    try {
      this.#put(id, key, note, priority);
    } catch (error) {
      this.#put(id, key, undefined, priority, '');
      this.#log ??= consoleLogger({ clock: this.#clock });
      this.#log.error('a delayed key was added without its note: merge or fairness failed', {
        queue: this.name,
        key: id,
        error,
      });
    }
  }

  #mergeInto(entry: QueueEntry<K, Note>, note: Note | undefined, priority: number): void {
    if (note !== undefined) entry.note = this.#merged(entry.note, note);
    if (priority <= entry.priority) return;
    this.#metrics?.raised(entry.priority, priority);
    if (entry.item === undefined) this.#ready.raise(entry, priority);
    else entry.priority = priority;
  }

  #merged(earlier: Note | undefined, later: Note | undefined): Note | undefined {
    if (earlier === undefined) return later;
    return later === undefined ? earlier : this.#merge(earlier, later);
  }

  #delay(id: string, key: K, ms: number, options: AddOptions<Note> | undefined): void {
    const entry = this.#entries.get(id);
    const note = options?.note;
    const priority = options?.priority ?? entry?.item?.priority ?? 0;
    if (ms <= 0 || (this.#absorbDelays && entry?.dirty)) this.#put(id, key, note, priority);
    else {
      this.#checkPriority(id, priority);
      // Called now, while there is a caller to get its error.
      this.#keys.groupOf(key);
      this.#delayed.add(id, key, this.#clock.monotonic() + ms, note, priority);
    }
    this.#metrics?.retried();
  }

  #makeReady(entry: QueueEntry<K, Note>, now: number): void {
    const waiter = this.#waiters.first;
    if (waiter === undefined) {
      this.#ready.push(entry, now);
      return;
    }
    this.#waiters.remove(waiter);
    waiter.resolve(this.#take(entry));
  }

  #take(entry: QueueEntry<K, Note>): WorkItem<K, Note> {
    const item: WorkItem<K, Note> = { key: entry.key, note: entry.note, priority: entry.priority };
    entry.item = item;
    entry.dirty = false;
    entry.note = undefined;
    this.#processing += 1;
    if (this.#metrics !== undefined) this.#metrics.taken(entry);
    return item;
  }

  #finish(entry: QueueEntry<K, Note>): void {
    entry.item = undefined;
    this.#processing -= 1;
    const now = this.#metrics !== undefined || (entry.dirty && this.#timed) ? this.#clock.monotonic() : 0;
    if (this.#metrics !== undefined) this.#metrics.done(entry, now);
    if (entry.dirty) this.#makeReady(entry, now);
    else this.#entries.rest(entry);
    if (this.#processing === 0 && this.#ready.size === 0) this.#endDrain();
  }

  #wait(signal: AbortSignal | undefined): Promise<WorkItem<K, Note> | undefined> {
    return new Promise((resolve, reject) => {
      if (signal === undefined) {
        this.#waiters.append({ resolve, previous: undefined, next: undefined });
        return;
      }
      const waiter: Waiter<K, Note> = {
        resolve: (item) => {
          waiting[Symbol.dispose]();
          resolve(item);
        },
        previous: undefined,
        next: undefined,
      };
      this.#waiters.append(waiter);
      const waiting = onAbort(signal, () => {
        this.#waiters.remove(waiter);
        reject(signal.reason);
      });
    });
  }

  #close(): void {
    if (this.#down) return;
    this.#down = true;
    this.#delayed.clear();
    for (let waiter = this.#waiters.first; waiter !== undefined; waiter = this.#waiters.first) {
      this.#waiters.remove(waiter);
      waiter.resolve(undefined);
    }
  }

  #endDrain(): void {
    for (const drained of this.#drainers) drained();
    this.#drainers.clear();
  }

  #checkPriority(id: string, priority: number): void {
    if (isNumber(priority)) return;
    throw new TypeError(`queue "${this.name}": the priority of "${id}" must be a number, got ${priority}`);
  }
}
