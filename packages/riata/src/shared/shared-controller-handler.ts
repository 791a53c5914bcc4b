import type { Cause } from '../controller/loop/request.js';
import type { KubeObject } from '../object/meta.js';
import type { Logger } from '../runtime/log/logger.js';
import { optionNames } from '../runtime/option-names.js';
import type { Scheduler } from '../runtime/time/clock.js';
import type { HandlerTransaction } from './handler-transaction.js';
import type { KindClient } from './kind-client.js';

/** The context of a handler call. */
export interface HandlerContext<R extends KubeObject = KubeObject> {
  /**
   * Aborts when the handler is removed, on shutdown, and on timeout. Pass it on: `explain` shows the writes made with it,
   * through any client.
   */
  readonly signal: AbortSignal;
  /** The factory's clock, which tests control. */
  readonly clock: Scheduler;
  /** Names controller, handler and key in every line. */
  readonly log: Logger;
  /** Why the handler runs: what changed, what enqueued the key, or that it failed before. */
  readonly reasons: readonly Cause[];
  /** 1, and one more for each failure of the key in a row. */
  readonly attempt: number;
  /** The client of the kind; its calls abort with {@link signal}. */
  readonly client: KindClient<R>;
}

/**
 * Handles objects of a kind (`SharedControllerHandler`, `SharedControllerHandlerFunc`). `object` is frozen; undefined if it
 * is gone. The next handler gets the returned object, if it has a UID: return the result of a write. If the handler throws,
 * it is retried with backoff, except for an `IgnoreError` or a `TerminalError`.
 */
export type SharedControllerHandler<R extends KubeObject = KubeObject> = (
  key: string,
  object: R | undefined,
  context: HandlerContext<R>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that changes nothing has no return statement.
) => R | undefined | void | Promise<R | undefined | void>;

/** Options of a registration. */
export interface RegisterOptions {
  /** Removes the handler when it aborts, also during a call. @default never */
  readonly signal?: AbortSignal;
  /** Registers the handler when this is committed. @default immediately */
  readonly transaction?: HandlerTransaction;
}

export const registerOptionNames = optionNames<RegisterOptions>({ signal: true, transaction: true });

/** A registered handler; disposing removes it. */
export interface HandlerRegistration extends AsyncDisposable {
  readonly name: string;
  /** Removes the handler. Resolves when calls in flight have ended, so the handler itself must not wait for it. */
  remove(): Promise<void>;
}
