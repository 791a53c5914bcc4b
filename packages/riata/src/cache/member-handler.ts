import type { KubeObject } from '../object/meta.js';
import type { Logger } from '../runtime/log/logger.js';
import { onAbort } from '../runtime/signals.js';
import { SlicedWork } from '../runtime/time/sliced-work.js';
import type { CacheMember } from './cache-member.js';
import { StoredChange } from './informer/change.js';
import { callHandler } from './informer/event-listener.js';
import type {
  EventHandlerOptions,
  EventHandlerRegistration,
  ResourceEventHandler,
} from './informer/resource-event-handler.js';

/** One handler on several informers, which come and go. */
export class MemberHandler<R extends KubeObject> implements EventHandlerRegistration {
  readonly name: string;
  readonly #handler: ResourceEventHandler<R>;
  readonly #options: EventHandlerOptions;
  readonly #log: Logger;
  readonly #places = new Map<CacheMember<R>, EventHandlerRegistration>();
  readonly #onRemove: () => void;
  #removed: Promise<void> | undefined;
  #aborting: Disposable | undefined;

  constructor(handler: ResourceEventHandler<R>, options: EventHandlerOptions, log: Logger, onRemove: () => void) {
    const { signal: _, ...rest } = options;
    this.#handler = handler;
    this.#options = rest;
    this.#log = log;
    this.#onRemove = onRemove;
    this.name = options.name ?? 'handler';
  }

  /** Once it has joined all there are: the signal may have aborted already. */
  removeOn(signal: AbortSignal | undefined): void {
    this.#aborting = onAbort(signal, () => void this.remove());
  }

  join(member: CacheMember<R>): void {
    if (this.#removed === undefined) {
      this.#places.set(member, member.informer.addEventHandler(this.#handler, this.#options));
    }
  }

  /** Delivers the deletion of objects that are no longer held, except those that another member holds now. */
  async leave(member: CacheMember<R>, isHeld: (key: string, object: R) => boolean): Promise<void> {
    const place = this.#places.get(member);
    if (place === undefined) return;
    this.#places.delete(member);
    await place.remove();
    const work = new SlicedWork(member.clock);
    work.begin();
    for (const key of member.base.listKeys()) {
      const object = member.base.getByKey(key);
      if (object === undefined || isHeld(key, object)) continue;
      try {
        const change = new StoredChange<R>('Deleted', key, object, undefined, { isFinalStateUnknown: true });
        const call = callHandler(this.#handler, change);
        if (call !== undefined) await work.waitFor(call);
      } catch (error) {
        this.#log.error('event handler failed for an object that is no longer cached', {
          handler: this.name,
          key,
          error,
        });
      }
      if (work.isOver) await work.rest();
    }
    void work.end();
  }

  hasSynced(): boolean {
    return [...this.#places.values()].every((place) => place.hasSynced());
  }

  async synced(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    // Others may have joined meanwhile; one that has left is not waited for.
    while (!this.hasSynced()) {
      await Promise.all(
        Array.from(this.#places, async ([member, place]) => {
          try {
            await place.synced(options);
          } catch (error) {
            if (options.signal?.aborted || this.#places.has(member)) throw error;
          }
        }),
      );
    }
  }

  remove(): Promise<void> {
    this.#removed ??= this.#leaveAll();
    return this.#removed;
  }

  async #leaveAll(): Promise<void> {
    this.#aborting?.[Symbol.dispose]();
    this.#onRemove();
    await Promise.all([...this.#places.values()].map((place) => place.remove()));
  }
}
