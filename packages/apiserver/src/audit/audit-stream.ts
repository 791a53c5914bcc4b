import type { AuditEvent, AuditSink } from './audit-event.js';

/**
 * The events of a server as a stream, for tests. It keeps what has not been read yet; one reader at a time.
 *
 * @example
 * const audit = new AuditStream();
 * await using server = await ApiServer.start({ audit: { policy, sink: audit } });
 * for await (const { verb, objectRef } of audit) …
 */
export class AuditStream implements AuditSink, AsyncIterable<AuditEvent> {
  #events: AuditEvent[] = [];
  #waiting: (() => void) | undefined;
  #ended = false;

  write(event: AuditEvent): void {
    if (this.#ended) return;
    this.#events.push(event);
    this.#wake();
  }

  /** Takes what has come so far, without waiting. */
  take(): readonly AuditEvent[] {
    const taken = this.#events;
    this.#events = [];
    return taken;
  }

  /** Ends the stream for its reader, after what has come so far. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<AuditEvent, void, undefined> {
    for (;;) {
      const next = this.#events.shift();
      if (next !== undefined) yield next;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#waiting = resolve;
        });
      }
    }
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}
