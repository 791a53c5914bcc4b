import { copyBytes } from '../transport/copy-bytes.js';
import type { TransportFlow } from '../transport/transport.js';
import type { BodySink } from './send.js';

/** A longer body is not worth reading for the sake of the connection. */
const maxDiscardBytes = 2048;

/** Drops a body. A short one is read to its end so that the connection can be reused. */
export class DiscardSink implements BodySink {
  readonly #flow: TransportFlow;
  #size = 0;

  constructor(flow: TransportFlow) {
    this.#flow = flow;
  }

  onData(chunk: Uint8Array): void {
    this.#size += chunk.byteLength;
    if (this.#size > maxDiscardBytes) this.#flow.abort(new Error('the rest of the response was discarded'));
  }

  onEnd(): void {}

  onError(): void {}
}

/** What a {@link CollectSink} calls: one of both, once. */
export interface Collected {
  /** The body is cut off after the limit, where it is longer. */
  onBody(body: Uint8Array, isCut: boolean): void;
  onError(error: unknown): void;
}

/** Reads a body up to a limit; a longer one ends the exchange. */
export class CollectSink implements BodySink {
  readonly #flow: TransportFlow;
  readonly #limit: number;
  readonly #collected: Collected;
  #chunks: Uint8Array[] = [];
  #size = 0;
  #isOver = false;

  constructor(flow: TransportFlow, limit: number, collected: Collected) {
    this.#flow = flow;
    this.#limit = limit;
    this.#collected = collected;
  }

  onData(chunk: Uint8Array): void {
    if (this.#isOver) return;
    this.#size += chunk.byteLength;
    this.#chunks.push(copyBytes(chunk));
    if (this.#size <= this.#limit) return;
    this.#finish(Buffer.concat(this.#chunks, this.#limit), true);
    this.#flow.abort(new Error(`the response is longer than ${this.#limit} bytes`));
  }

  onEnd(): void {
    if (!this.#isOver) this.#finish(Buffer.concat(this.#chunks, this.#size), false);
  }

  onError(error: unknown): void {
    if (!this.#isOver) this.#collected.onError(error);
    this.#isOver = true;
  }

  #finish(body: Uint8Array, isCut: boolean): void {
    this.#isOver = true;
    this.#chunks = [];
    this.#collected.onBody(body, isCut);
  }
}

/** The same body; `onOver` is called before its end or its failure is passed on, with the error. */
export function withEnd(body: BodySink, onOver: (failure?: { readonly error: unknown }) => void): BodySink {
  return {
    onData: (chunk) => body.onData(chunk),
    onEnd() {
      onOver();
      body.onEnd();
    },
    onError(error) {
      onOver({ error });
      body.onError(error);
    },
  };
}
