import type { Cache, EventHandlerRegistration, SharedIndexInformer } from 'riata/cache';
import { ConfigMap } from 'riata/kinds';
import type { Random } from 'riata/runtime';
import { systemClock } from 'riata/runtime';
import { HandlerHistory } from './handler-history.js';
import { indexProblems } from './round-indexes.js';

/** Handlers of all sorts at one informer: quick, slow, failing, late, going, and one that iterates. */
export class RoundHandlers {
  readonly #informer: SharedIndexInformer<ConfigMap>;
  readonly #random: Random;
  /** Those that have to know all in the end. */
  readonly #staying: Record<string, HandlerHistory> = {};
  readonly #leaving: HandlerHistory;
  readonly #registrations: EventHandlerRegistration[] = [];
  readonly #leavingRegistration: EventHandlerRegistration;
  readonly #lateAt: number;
  readonly #leavesAt: number;
  readonly #iterating: Promise<void>;
  readonly #indexProblems: string[] = [];

  /** Before the informer runs. */
  constructor(informer: SharedIndexInformer<ConfigMap>, random: Random) {
    this.#informer = informer;
    this.#random = random;
    this.#lateAt = random.int(2, 25);
    this.#leavesAt = random.int(2, 35);
    const store = (key: string) => informer.getStore().getByKey(key);
    this.#add('sync', new HandlerHistory({ name: 'sync', store }), {}, () => {
      if (random.next() < 0.2) this.#indexProblems.push(...indexProblems(informer.getIndexer()));
    });
    this.#add('slow', new HandlerHistory({ name: 'slow' }), { bufferSize: random.int(1, 3) }, () => this.#wait(30));
    this.#add('failing', new HandlerHistory({ name: 'failing', store }), { resyncPeriod: '1s' }, async () => {
      if (random.next() < 0.3) throw new Error('a handler that fails');
    });
    this.#leaving = new HandlerHistory({ name: 'leaving', store });
    this.#leavingRegistration = informer.addEventHandler(this.#leaving.handler(() => this.#wait(3)));
    const iterator = new HandlerHistory({ name: 'iterator' });
    this.#staying.iterator = iterator;
    this.#iterating = (async () => {
      for await (const change of informer.changes({ bufferSize: random.int(1, 20) })) {
        iterator.take(change);
        await this.#wait(10);
      }
    })();
  }

  /** A handler at the cache, over the same network. */
  async watchCache(cache: Cache): Promise<void> {
    const history = new HandlerHistory({ name: 'cache' });
    this.#staying['handler of the cache'] = history;
    const informer = await cache.getInformer(ConfigMap, { blockUntilSynced: false });
    this.#registrations.push(informer.addEventHandler(history.handler()));
  }

  /** What happens to handlers after so many writes. */
  async step(nth: number): Promise<void> {
    if (nth === this.#lateAt) {
      this.#add('late', new HandlerHistory({ name: 'late' }), { bufferSize: 2 }, () => this.#wait(5));
    }
    if (nth === this.#leavesAt) {
      await this.#leavingRegistration.remove();
      this.#leaving.close();
    }
  }

  /** By name of the handler, what it knows. */
  states(): Record<string, string[]> {
    return Object.fromEntries(Object.entries(this.#staying).map(([name, history]) => [name, history.state()]));
  }

  /** Names of those that do not say that they know all there was. */
  unsynced(): string[] {
    return this.#registrations.filter((registration) => !registration.hasSynced()).map(({ name }) => name);
  }

  problems(): string[] {
    const histories = [...Object.values(this.#staying), this.#leaving];
    return [...histories.flatMap(({ problems }) => problems), ...this.#indexProblems];
  }

  /** While the informer runs. */
  counts(): Record<string, number> {
    const histories = [...Object.values(this.#staying), this.#leaving];
    const reported = histories.reduce((sum, { changes }) => sum + changes, 0);
    const merged = this.#informer.health.handlers.reduce((sum, { coalesced }) => sum + coalesced, 0);
    return { reported, merged };
  }

  /** When the informer has stopped. */
  async ended(): Promise<void> {
    await this.#iterating;
    for (const history of Object.values(this.#staying)) history.close();
  }

  #add(
    name: string,
    history: HandlerHistory,
    options: { readonly bufferSize?: number; readonly resyncPeriod?: '1s' },
    then: () => unknown,
  ): void {
    this.#staying[name] = history;
    this.#registrations.push(this.#informer.addEventHandler(history.handler(then), { name, ...options }));
  }

  /** Up to so many milliseconds; often none at all. */
  async #wait(longestMs: number): Promise<void> {
    if (this.#random.next() < 0.5) await systemClock.sleep(this.#random.int(0, longestMs));
  }
}
