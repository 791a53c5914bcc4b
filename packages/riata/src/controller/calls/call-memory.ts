import { formatKey } from '../../object/key.js';
import { isApiError } from '../../rest/errors/api-error.js';
import { isTransportError } from '../../rest/errors/transport-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import { errorChain, framesOf, userFrame } from '../../runtime/log/user-frame.js';
import { readableError } from '../loop/failure-fields.js';

/** A call and its arguments; formatted only when it is reported. */
export interface CallName {
  readonly verb: string;
  /** The first one is a kind, an object or a key; the second one may be a key, or options. */
  readonly args: readonly unknown[];
}

/** Makes a call for user code; the user's code is to await the promise. */
export type Track = <T>(work: () => Promise<T>, name: CallName) => Promise<T>;

/** Holds the stack of a call. */
export interface CallSite {
  stack?: string;
}

/** A call that has failed, and the code that decides what an unhandled failure of it means. */
export interface FailedCall {
  readonly site: CallSite | undefined;
  /** Its failure reached no handler. */
  readonly onUnhandled: (error: unknown) => void;
}

/** After this many awaited calls of a verb and kind, the caller's stack is no longer captured: that takes microseconds. */
const trustedAfter = 100;
/** At most this many lines are reported. */
const mostLines = 100;

/** Says in a log line how to fix a call that is not awaited. */
export const awaitHint =
  'await the call, or return its promise; in a loop use for…of, or await Promise.all(…), and not forEach(async …)';

/** What is known about calls of user code: which mistakes were reported, and which error belongs to which call. */
export class CallMemory {
  readonly #trust = new Map<string, Map<string, number>>();
  readonly #reported = new Set<string>();
  readonly #failed = new WeakMap<object, FailedCall>();

  /** The stack of the caller; undefined once calls like this one have always been awaited. */
  siteOf({ verb, args }: CallName): CallSite | undefined {
    const count = this.#trust.get(verb)?.get(kindOf(args)) ?? 0;
    if (count >= trustedAfter) return undefined;
    const site: CallSite = {};
    Error.captureStackTrace(site);
    return site;
  }

  /** A call was awaited. */
  used({ verb, args }: CallName): void {
    const count = this.#trust.get(verb)?.get(kindOf(args)) ?? 0;
    if (count < trustedAfter) this.#setTrust({ verb, args }, count + 1);
  }

  /** Logs a call that was not awaited, once for each line of user code. */
  report(call: { name: CallName; site: CallSite | undefined; state: string }, log: Logger, message: string): void {
    const { name, site, state } = call;
    this.#setTrust(name, Number.NEGATIVE_INFINITY);
    const at = userFrame(site?.stack);
    const line = at ?? `${name.verb} ${kindOf(name.args)}`;
    if (this.#reported.has(line) || this.#reported.size >= mostLines) return;
    this.#reported.add(line);
    log.warn(message, { call: describeCall(name), state, ...(at !== undefined && { at }), hint: awaitHint });
  }

  /** Captures the stack of every call like this one from now on. */
  distrust(name: CallName): void {
    this.#setTrust(name, Number.NEGATIVE_INFINITY);
  }

  /** An error has failed a call. */
  failed(error: unknown, call: FailedCall): void {
    if (typeof error === 'object' && error !== null) this.#failed.set(error, call);
  }

  /** Receives a rejection that nothing handled; true if it comes from a call that was tracked here. */
  readonly take = (reason: unknown): boolean => {
    const call = this.nameCaller(readableError(reason));
    call?.onUnhandled(reason);
    return call !== undefined;
  };

  /** Adds the user's line to the stack of an error that failed a call, unless it has one. Returns that call. */
  nameCaller(thrown: unknown): FailedCall | undefined {
    for (const error of errorChain(thrown)) {
      const call = this.#failed.get(error);
      if (call === undefined) continue;
      withCaller(error, call.site);
      return call;
    }
    return undefined;
  }

  #setTrust({ verb, args }: CallName, count: number): void {
    const kinds = this.#trust.get(verb) ?? new Map<string, number>();
    this.#trust.set(verb, kinds.set(kindOf(args), count));
  }
}

/** The stack of an answer that was not awaited has no line of user code: appends the stack of the call. */
export function withCaller(error: unknown, site: CallSite | undefined): unknown {
  const isAnswer = isApiError(error) || isTransportError(error);
  if (isAnswer && userFrame(error.stack) === undefined) {
    const lines = framesOf(site?.stack).map((frame) => `\n    at ${frame}`);
    error.stack = `${error.stack ?? error}${lines.join('')}`;
  }
  return error;
}

/** As `patch ConfigMap shop/cart`. */
export function describeCall({ verb, args }: CallName): string {
  type Named = { readonly metadata?: Named; readonly namespace?: string; readonly name?: string };
  const [first, second] = args as readonly (Named | undefined)[];
  const { name, namespace } = first?.metadata ?? (kindOf(args) === '' ? first : second) ?? {};
  const key = name === undefined ? namespace : formatKey({ namespace, name });
  return [verb, kindOf(args), key].filter(Boolean).join(' ');
}

function kindOf([first]: readonly unknown[]): string {
  const kind = (first as { readonly kind?: unknown } | undefined)?.kind;
  return typeof kind === 'string' ? kind : '';
}
