import type { KubeObject } from '../object/meta.js';
import type { StoredChange } from './change.js';
import type { EventListener } from './event-listener.js';

/** The listeners of an informer (`sharedProcessor`). */
export class SharedProcessor<T extends KubeObject> {
  /** Never changed, only replaced: who goes through it sees those who were there when he began. */
  #listeners: readonly EventListener<T>[] = [];

  get listeners(): readonly EventListener<T>[] {
    return this.#listeners;
  }

  add(listener: EventListener<T>): void {
    this.#listeners = [...this.#listeners, listener];
  }

  delete(listener: EventListener<T>): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  /** What did not change goes to those alone who are resyncing. */
  distribute(change: StoredChange<T>, to: readonly EventListener<T>[] = this.#listeners): void {
    const isSync = change.type === 'Sync';
    for (let at = 0; at < to.length; at += 1) {
      const listener = to[at] as EventListener<T>;
      if (!isSync || listener.isResyncing) listener.add(change);
    }
  }

  /** Resolves when no call is under way any more. */
  async close(reason: unknown): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close(reason)));
  }
}
