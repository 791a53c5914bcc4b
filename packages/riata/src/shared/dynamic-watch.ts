import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import type { Runtime } from '../runtime/runtime.js';
import { link } from '../runtime/signals.js';
import type { SharedControllerFactory } from './shared-controller-factory.js';
import type { HandlerContext, HandlerRegistration } from './shared-controller-handler.js';

/** As `SharedControllerHandler`, for objects of kinds that are known only at run time. */
export type DynamicHandler = (
  kind: KindRef,
  key: string,
  object: KubeObject | undefined,
  context: HandlerContext,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that changes nothing has no return statement.
) => KubeObject | undefined | void | Promise<KubeObject | undefined | void>;

/** What a {@link DynamicWatch} is made of. */
export interface DynamicWatchParts {
  readonly name: string;
  readonly handler: DynamicHandler;
  readonly factory: SharedControllerFactory;
  readonly runtime: Runtime;
  /** Removes the handler for good. */
  readonly signal: AbortSignal;
  /** Called before the handler is registered on the kind. */
  readonly onEnter: (kind: KindRef) => void;
  /** Called when the handler is removed from the kind. */
  readonly onLeft: (kind: KindRef) => Promise<void>;
}

/** One handler on one kind that may be added and removed at run time. */
export class DynamicWatch {
  readonly kind: KindRef;
  readonly #parts: DynamicWatchParts;
  /** Keys of objects that the handler was called for, and not yet for their deletion. */
  readonly #known = new Set<string>();
  #registration: HandlerRegistration | undefined;
  #leaving: AbortController | undefined;
  /** Registering and removing happen one after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(kind: KindRef, parts: DynamicWatchParts) {
    this.kind = kind;
    this.#parts = parts;
  }

  /** The kind is served. */
  enter(): void {
    this.#leaving?.abort();
    this.#next(async () => {
      this.#parts.onEnter(this.kind);
      const controller = this.#parts.factory.forKind(this.kind);
      this.#registration = controller.registerHandler(this.#parts.name, (key, object, context) =>
        this.#handle(key, object, context),
      );
      // Objects that are gone since then cause no event.
      for (const key of this.#known) controller.enqueueKey(key);
    });
  }

  /** The kind is no longer served. `isGone`: its objects are gone, too, and the handler is called for each. */
  leave({ isGone }: { readonly isGone: boolean }): Promise<void> {
    const leaving = new AbortController();
    this.#leaving = leaving;
    return this.#next(async () => {
      await this.#registration?.remove();
      this.#registration = undefined;
      await this.#parts.onLeft(this.kind);
      if (isGone) await this.#reportEnd(leaving.signal);
      else this.#known.clear();
    });
  }

  #next(step: () => Promise<void>): Promise<void> {
    const { log } = this.#parts.runtime;
    const report = (error: unknown) =>
      log.error('cannot register or remove a handler of a dynamic kind', { kind: this.kind.kind, error });
    this.#turn = this.#turn.then(step).catch(report);
    return this.#turn;
  }

  async #handle(key: string, object: KubeObject | undefined, context: HandlerContext): Promise<KubeObject | undefined> {
    if (object !== undefined) this.#known.add(key);
    const returned = await this.#parts.handler(this.kind, key, object, context);
    if (object === undefined) this.#known.delete(key);
    return returned ?? undefined;
  }

  /** Retries until the handler succeeded for all, or the kind is served again. */
  async #reportEnd(back: AbortSignal): Promise<void> {
    const { factory, name, runtime, signal: ended } = this.#parts;
    const { clock } = runtime;
    using lifetime = link(back, ended);
    const { signal } = lifetime;
    const client = factory.clients.forKind(this.kind).boundTo(signal);
    const log = runtime.log.child({ handler: name, kind: this.kind.kind });
    const reasons = [{ source: 'kind gone', count: 1, atMs: clock.monotonic() }];
    for (let attempt = 1; this.#known.size > 0; attempt += 1) {
      for (const key of [...this.#known]) {
        if (signal.aborted) return;
        try {
          await this.#handle(key, undefined, { signal, clock, client, reasons, attempt, log: log.child({ key }) });
        } catch (error) {
          if (!signal.aborted)
            log.error('handler failed for an object whose kind is no longer served', { key, attempt, error });
        }
      }
      if (this.#known.size === 0 || signal.aborted) return;
      await clock.sleep(Math.min(5 * 2 ** attempt, 30_000), { signal }).catch(() => {});
    }
  }
}
