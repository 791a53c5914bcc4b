import type { Client } from '../../client/interfaces.js';
import { findApiError } from '../../rest/errors/api-error.js';
import {
  isAlreadyExists,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  reasonForError,
} from '../../rest/errors/error-guards.js';
import { isTransportError } from '../../rest/errors/transport-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import { isTimeout } from '../../runtime/stop-reasons.js';
import type { EventWrite } from './event-write.js';
import { LruMap } from './lru-map.js';

/** The part of a client that events need. It must not be fenced: every replica may report what it saw. */
export type EventClient = Pick<Client, 'create' | 'patch'>;

/** How a write ended. `refused`: the server will never take it. `failed`: it was tried for long enough. */
export type EventOutcome = 'written' | 'refused' | 'failed';

/** When to give up. */
export interface EventSinkSignals {
  /** From then on everything is tried once, with no waiting. */
  readonly stopping: AbortSignal;
  /** From then on nothing is sent. */
  readonly deadline: AbortSignal;
}

const mostTries = 12;
const betweenTriesMs = 10_000;

/** Writes Events to the server, and tries again what may go well later. Never rejects. */
export class EventSink {
  readonly #client: EventClient;
  readonly #runtime: Runtime;
  /** Refusals that were logged: each sort of them once. */
  readonly #reported = new LruMap<true>(256);

  constructor(client: EventClient, runtime: Runtime) {
    this.#client = client;
    this.#runtime = runtime;
  }

  async write(write: EventWrite, { stopping, deadline }: EventSinkSignals): Promise<EventOutcome> {
    const { clock, random, log } = this.#runtime;
    for (let tries = 1; ; tries += 1) {
      if (deadline.aborted) return 'failed';
      try {
        await this.#send(write, deadline);
        return 'written';
      } catch (error) {
        // Sent before, and the answer got lost.
        if (isAlreadyExists(error)) return 'written';
        if (!deadline.aborted && !isTransient(error)) {
          this.#reportRefusal(write, error);
          return 'refused';
        }
        if (tries >= mostTries || stopping.aborted) {
          log.warn('cannot write an event', { event: describe(write), tries, error });
          return 'failed';
        }
        log.debug('cannot write an event, will be retried', { event: describe(write), tries, error });
      }
      // Not all programs of a cluster at the same time, when its server comes back.
      const delayMs = tries === 1 ? betweenTriesMs * random.next() : betweenTriesMs;
      await clock.sleep(delayMs, { signal: stopping, background: true }).catch(() => {});
    }
  }

  async #send({ kind, key, object, change }: EventWrite, signal: AbortSignal): Promise<void> {
    if (change !== undefined) {
      try {
        await this.#client.patch(kind, key, { type: 'merge', body: change as object }, { signal });
        return;
      } catch (error) {
        // Servers forget events after an hour.
        if (!isNotFound(error)) throw error;
      }
    }
    await this.#client.create(object, { signal });
  }

  #reportRefusal(write: EventWrite, error: unknown): void {
    const { reason } = write.object as { readonly reason?: string };
    const problem = `${reasonForError(error)} ${findApiError(error)?.code}`;
    // One event may fail for another reason than the next; but without permission, none can be written.
    const sort = `${write.key.namespace} ${problem}${isInvalid(error) ? ` ${reason}` : ''}`;
    const { log } = this.#runtime;
    const fields = { event: describe(write), reason, error };
    if (this.#reported.get(sort)) {
      log.debug('the server refused an event, as before', fields);
      return;
    }
    this.#reported.set(sort, true);
    log.warn('the server refused an event; further refusals of this sort are not logged', fields);
  }
}

/** Whether the same may go well later. */
function isTransient(error: unknown): boolean {
  if (isTransportError(error)) return error.kind !== 'invalid-request' && error.kind !== 'closed';
  const code = findApiError(error)?.code;
  return isTooManyRequests(error) || (code !== undefined && code >= 500) || isTimeout(error);
}

function describe({ kind, key }: EventWrite): string {
  return `${kind.apiVersion} Event ${key.namespace}/${key.name}`;
}
