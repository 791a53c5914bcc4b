/** Response headers: names in lower case; a header that came several times is an array. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** One HTTP request as the layers above describe it. */
export interface TransportRequest {
  readonly method: string;
  /** Path and query, starting with `/`; the transport puts the server's address before it. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | string;
  /**
   * The body in pieces, in place of `body`: read only as fast as the server takes it. It is read once, so that the
   * request is never sent again. If reading it fails, the exchange does.
   */
  readonly bodyStream?: AsyncIterable<Uint8Array>;
  /** Aborting ends the exchange; the sink's `onError` gets the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Longest wait for the response's headers, from sending the request. 0 = none, as for the log of a Pod that has not
   * written yet. @default the transport's own
   */
  readonly headersTimeoutMs?: number;
  /**
   * Longest silence between two pieces of the body: notices a half-open stream. 0 = none. A watch sets what fits its
   * bookmarks. @default the transport's own
   */
  readonly idleTimeoutMs?: number;
  /**
   * Asks the server to switch the connection to this protocol, e.g. `websocket`. If it does (101), `onData` and `onEnd`
   * bring what it sends from then on, and the flow can write. The connection is a new one, and is not used again.
   * @default HTTP
   */
  readonly upgrade?: string;
}

/** Handle on a running exchange, given to the sink with the headers. */
export interface TransportFlow {
  /**
   * Stop handing out data (back-pressure reaches the peer); `resume` continues. While paused neither data nor the end
   * comes, only a failure may, and silence is not counted.
   */
  pause(): void;
  /** Hand out data again; the first may come before this returns, but none before `onHeaders` has returned. */
  resume(): void;
  /** End the exchange now. The sink gets `onError(reason)`, unless it has already ended. */
  abort(reason?: unknown): void;
  /**
   * After a 101 only: sends bytes, which must not change afterwards. False when the peer does not keep up; go on after
   * `onDrain`.
   */
  write?(bytes: Uint8Array): boolean;
  /** After a 101 only: no more is written. What the server still sends comes. */
  endWriting?(): void;
}

/**
 * Receives the response of an exchange. After `onHeaders` any number of `onData`, then exactly one of `onEnd` and `onError`,
 * nothing after it; `onError` may also come alone. A chunk is only valid during the call unless copied; after a 101, it is
 * left to the sink, which may keep and change it.
 */
export interface TransportSink {
  /** The response has started; informational ones (1xx) are skipped. */
  onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow): void;
  /** The next bytes of the body, decompressed. */
  onData(chunk: Uint8Array): void;
  /** The body is complete. */
  onEnd(): void;
  /** The exchange failed: a `TransportError`, or the reason of the abort. */
  onError(error: unknown): void;
  /** After a 101, and a `write` that returned false: more can be written. */
  onDrain?(): void;
}

/**
 * Moves bytes to one API server and back: over HTTP(S), or to a server in the same process. It knows no Kubernetes.
 * Calls back instead of returning streams: a watch gets one chunk per event, and Node's streams cost 10–20 µs each.
 */
export interface Transport extends AsyncDisposable {
  /** Starts the exchange; never throws, failures come by `sink.onError`, and nothing comes before this returns. */
  dispatch(request: TransportRequest, sink: TransportSink): void;
  /**
   * Closes the connections that no exchange uses now (`CloseIdleConnections`); the next one opens another.
   * @default none are kept
   */
  closeIdle?(): void;
  /** Ends idle and running exchanges and frees sockets. */
  close(): Promise<void>;
}
