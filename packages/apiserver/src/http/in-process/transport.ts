/**
 * The seam at which clients in the same process meet the server: the same as riata's own `Transport`, declared again,
 * as neither side imports the other.
 */
export interface Transport extends AsyncDisposable {
  /** Starts the exchange; never throws, and nothing comes before this returns. */
  dispatch(request: TransportRequest, sink: TransportSink): void;
  /** Ends running exchanges. */
  close(): Promise<void>;
}

export interface TransportRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | string;
  /** The body in pieces, in place of `body`. */
  readonly bodyStream?: AsyncIterable<Uint8Array>;
  /** Aborting ends the exchange; the sink gets its reason. */
  readonly signal?: AbortSignal;
  /** Longest wait for the head of the answer. 0 = none. @default none */
  readonly headersTimeoutMs?: number;
  /** Longest silence between two pieces of the body. 0 = none. @default none */
  readonly idleTimeoutMs?: number;
  /** The protocol that the connection is to be switched to. @default HTTP */
  readonly upgrade?: string;
}

/** Handle on a running exchange. */
export interface TransportFlow {
  pause(): void;
  resume(): void;
  abort(reason?: unknown): void;
  /** After a 101 only: sends bytes. False when the server does not keep up. */
  write?(bytes: Uint8Array): boolean;
  /** After a 101 only: no more is sent. */
  endWriting?(): void;
}

/** Takes what an exchange brings: `onHeaders`, any number of `onData`, then `onEnd` or `onError`. */
export interface TransportSink {
  onHeaders(
    status: number,
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
    flow: TransportFlow,
  ): void;
  onData(chunk: Uint8Array): void;
  onEnd(): void;
  onError(error: unknown): void;
  /** After a 101, and a `write` that returned false: more can be sent. */
  onDrain?(): void;
}
