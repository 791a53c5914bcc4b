import type { KubeObject } from '../../object/meta.js';
import type { StoredChange } from './change.js';
import type { EventListener } from './event-listener.js';

/** The listeners of an informer (`sharedProcessor`). */
export class SharedProcessor<T extends KubeObject> {
  /** Copy-on-write: an iteration sees the listeners of when it started. */
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

  distribute(change: StoredChange<T>): void {
    const to = this.#listeners;
    for (let at = 0; at < to.length; ) at = deliverSome(change, to, at);
  }

  /** Resolves when no call is under way any more. */
  async close(reason: unknown): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close(reason)));
  }
}

/** Handlers between two looks at the time: with a thousand of them, one change takes longer than a slice. */
const fewListeners = 16;

/** Delivers a change to a few listeners; returns where the next ones begin. A `Sync` goes to those alone who are resyncing. */
export function deliverSome<T extends KubeObject>(
  change: StoredChange<T>,
  to: readonly EventListener<T>[],
  from: number,
): number {
  const isSync = change.type === 'Sync';
  const end = Math.min(to.length, from + fewListeners);
  for (let at = from; at < end; at += 1) {
    const listener = to[at] as EventListener<T>;
    if (!isSync || listener.isResyncing) listener.add(change);
  }
  return end;
}
