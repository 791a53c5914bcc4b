import { isApiError } from '../rest/api-error.js';
import { isTransportError } from '../rest/transport-error.js';
import type { Logger } from '../runtime/logger.js';
import { type Answers, isDryRun, isWrite, type Operation, type Run, type Verb, type WriteVerb } from './operation.js';

/** A write that was sent, as it went over the wire: all wrappers have had their say. */
export type Write =
  /** The server has done it. */
  | { readonly operation: Operation<WriteVerb>; readonly answer: Answers[WriteVerb] }
  /** It may or may not have been done: the answer was lost, or the server ran out of time. */
  | { readonly operation: Operation<WriteVerb>; readonly error: unknown };

/** Hears of writes; see `ConnectedClient.onWrite`. */
export type WriteListener = (write: Write) => void;

/** Tells listeners of every write that goes through a {@link Run}. */
export class WriteHook {
  readonly #listeners = new Set<{ readonly listener: WriteListener }>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(listener: WriteListener): Disposable {
    const entry = { listener };
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
  }

  wrap(run: Run): Run {
    return async <V extends Verb>(operation: Operation<V>): Promise<Answers[V]> => {
      if (!isStoring(operation)) return run(operation);
      try {
        const answer = await run(operation);
        this.#tell({ operation, answer: answer as Answers[WriteVerb] });
        return answer;
      } catch (error) {
        if (!wasRefused(error)) this.#tell({ operation, error });
        throw error;
      }
    };
  }

  #tell(write: Write): void {
    for (const { listener } of [...this.#listeners]) {
      try {
        listener(write);
      } catch (error) {
        const { verb, kind, namespace, name } = write.operation;
        this.#log.error('a listener for writes failed', { error, verb, kind: kind.kind, namespace, name });
      }
    }
  }
}

function isStoring(operation: Operation): operation is Operation<WriteVerb> {
  return isWrite(operation.verb) && !isDryRun(operation);
}

/** Whether it is certain that nothing was stored: the server said so, or nothing was sent. */
function wasRefused(error: unknown): boolean {
  if (isApiError(error)) return error.code >= 400 && error.code < 500;
  return isTransportError(error) ? !error.requestSent : error instanceof TypeError;
}
