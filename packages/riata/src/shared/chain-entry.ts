import type { KubeObject } from '../object/meta.js';
import { onAbort } from '../runtime/signals.js';
import { Removed } from '../runtime/stop-reasons.js';
import type { HandlerContext, HandlerRegistration, SharedControllerHandler } from './shared-controller-handler.js';

/** One handler in a chain. It may run for several keys at once. */
export class ChainEntry<R extends KubeObject> implements HandlerRegistration {
  readonly name: string;
  readonly #handler: SharedControllerHandler<R>;
  readonly #stop = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #onRemove: (entry: ChainEntry<R>) => void;
  #waiting: Disposable | undefined;

  constructor(name: string, handler: SharedControllerHandler<R>, onRemove: (entry: ChainEntry<R>) => void) {
    this.name = name;
    this.#handler = handler;
    this.#onRemove = onRemove;
  }

  /** Removes it when the signal aborts. */
  until(signal: AbortSignal | undefined): this {
    this.#waiting = onAbort(signal, () => this.#end(signal?.reason));
    return this;
  }

  /** Aborts when it is removed. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isRemoved(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Calls the handler; rejects with what it throws. */
  async call(key: string, object: R | undefined, context: HandlerContext<R>): Promise<R | undefined> {
    const call = (async () => this.#handler(key, object, context))();
    this.#running.add(call);
    try {
      return (await call) ?? undefined;
    } finally {
      this.#running.delete(call);
    }
  }

  async remove(): Promise<void> {
    this.#end(new Removed(`handler "${this.name}" was removed`));
    await Promise.allSettled(this.#running);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  #end(reason: unknown): void {
    if (this.isRemoved) return;
    this.#waiting?.[Symbol.dispose]();
    this.#stop.abort(reason);
    this.#onRemove(this);
  }
}
