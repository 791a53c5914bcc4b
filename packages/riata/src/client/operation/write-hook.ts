import { isApiError } from '../../rest/errors/api-error.js';
import { isTransportError } from '../../rest/errors/transport-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import { lineageOf } from '../../runtime/signals.js';
import { type Answers, isDryRun, isWrite, type Operation, type WriteVerb } from './operation.js';

/** A write that was sent, as all wrappers have left it. */
export type Write =
  /** The server has done it. */
  | { readonly operation: Operation<WriteVerb>; readonly answer: Answers[WriteVerb] }
  /** It may or may not have been done: the answer was lost, or the server ran out of time. */
  | { readonly operation: Operation<WriteVerb>; readonly error: unknown };

/** Called with writes; see `ConnectedClient.onWrite`. */
export type WriteListener = (write: Write) => void;

/** Which writes are reported to a listener. */
export interface OnWriteOptions {
  /** Those made with this signal, or with one that is linked to it. @default all */
  readonly under?: AbortSignal;
}

/** Called with the answers of reads of one object; see `ConnectedClient[onGet]`. */
export type GetListener = (kind: Operation['kind'], answer: unknown) => void;

type Entry = { readonly listener: WriteListener };

/** Notifies listeners of every write of a client, and of reads of one object. */
export class WriteHook {
  readonly #listeners = new Set<Entry>();
  readonly #under = new Map<AbortSignal, Set<Entry>>();
  readonly #gets = new Set<GetListener>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(listener: WriteListener, { under }: OnWriteOptions = {}): Disposable {
    const entry = { listener };
    if (under === undefined) {
      this.#listeners.add(entry);
      return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
    }
    const entries = this.#under.get(under) ?? new Set<Entry>();
    this.#under.set(under, entries.add(entry));
    return {
      [Symbol.dispose]: () => {
        entries.delete(entry);
        if (entries.size === 0 && this.#under.get(under) === entries) this.#under.delete(under);
      },
    };
  }

  addGet(listener: GetListener): void {
    this.#gets.add(listener);
  }

  /** The server has answered an operation. */
  answered(operation: Operation, answer: unknown): void {
    if (isStoring(operation)) this.#notify({ operation, answer: answer as Answers[WriteVerb] });
    else if (operation.verb === 'get') for (const listener of this.#gets) listener(operation.kind, answer);
  }

  /** An operation has failed; the server may have carried it out nevertheless. */
  failed(operation: Operation, error: unknown): void {
    if (isStoring(operation) && !wasRefused(error)) this.#notify({ operation, error });
  }

  #notify(write: Write): void {
    for (const { listener } of this.#listenersOf(write)) {
      try {
        listener(write);
      } catch (error) {
        const { verb, kind, namespace, name } = write.operation;
        this.#log.error('write listener failed', { error, verb, kind: kind.kind, namespace, name });
      }
    }
  }

  /** Those for all writes, and those for one of the signals that this one was made with; each once. */
  #listenersOf({ operation }: Write): Iterable<Entry> {
    const all = new Set(this.#listeners);
    if (this.#under.size === 0) return all;
    for (const signal of lineageOf(operation.signal)) for (const entry of this.#under.get(signal) ?? []) all.add(entry);
    return all;
  }
}

function isStoring(operation: Operation): operation is Operation<WriteVerb> {
  return isWrite(operation.verb) && !isDryRun(operation);
}

/** Whether it is certain that nothing was stored: the server refused, or nothing was sent. */
function wasRefused(error: unknown): boolean {
  if (isApiError(error)) return error.code >= 400 && error.code < 500;
  return isTransportError(error) ? !error.requestSent : error instanceof TypeError;
}
