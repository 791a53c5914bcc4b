import type { Cause } from '../controller/loop/request.js';
import type { KubeObject } from '../object/meta.js';
import type { Logger } from '../runtime/log/logger.js';
import { optionNames } from '../runtime/option-names.js';
import type { Scheduler } from '../runtime/time/clock.js';
import type { HandlerTransaction } from './handler-transaction.js';
import type { KindClient } from './kind-client.js';

/** What a handler gets besides the object. */
export interface HandlerContext<R extends KubeObject = KubeObject> {
  /**
   * Aborts when the handler is removed, on shutdown, and when the time allowed is over. Pass it on: `explain` shows the
   * writes that were made with it, whichever the client.
   */
  readonly signal: AbortSignal;
  /** What time it is, and waiting: that of the factory, so that a test which moves it moves the handler, too. */
  readonly clock: Scheduler;
  /** Names controller, handler and key in every line. */
  readonly log: Logger;
  /** Why the handler runs: what changed, who enqueued the key, or that it failed before. */
  readonly reasons: readonly Cause[];
  /** 1, and one more for each failure of the key in a row. */
  readonly attempt: number;
  /** Talks to the server about the kind; its calls end with {@link signal}. */
  readonly client: KindClient<R>;
}

/**
 * Does one thing about objects of a kind (`SharedControllerHandler`, `SharedControllerHandlerFunc`). `object` is frozen;
 * undefined: it is gone. What is returned, if it has a UID, is what the next handler sees: return what a write answered.
 * What is thrown is tried again, with waits that grow; an `IgnoreError` is not, nor a `TerminalError`.
 */
export type SharedControllerHandler<R extends KubeObject = KubeObject> = (
  key: string,
  object: R | undefined,
  context: HandlerContext<R>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that changes nothing has no return statement.
) => R | undefined | void | Promise<R | undefined | void>;

/** How long a handler stays, and when it comes. */
export interface RegisterOptions {
  /** Removes the handler when it aborts, also while it runs. @default it stays */
  readonly signal?: AbortSignal;
  /** The handler comes when this is committed, and not at all when it is rolled back. @default at once */
  readonly transaction?: HandlerTransaction;
}

export const registerOptionNames = optionNames<RegisterOptions>({ signal: true, transaction: true });

/** A handler's place; disposing is removing. */
export interface HandlerRegistration extends AsyncDisposable {
  readonly name: string;
  /** The handler is not called any more; resolves when calls under way have ended, so the handler must not wait for it. */
  remove(): Promise<void>;
}
