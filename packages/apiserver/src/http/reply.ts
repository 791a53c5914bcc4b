/** Headers of an answer: names in lower case. */
export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * Where an answer goes: `head` once, then any number of `write`, then `end`. A writer need not watch the client: bytes
 * after the end of the exchange are dropped.
 */
export interface Reply {
  /** Whether the head has been sent: the status cannot be changed any more. */
  readonly started: boolean;
  /** Whether the answer is complete, or the client has disconnected. */
  readonly ended: boolean;
  /** Bytes that were written and that the peer has not taken yet. */
  readonly bufferedBytes: number;
  head(status: number, headers: ReplyHeaders): void;
  /**
   * Sends bytes at once. They are not copied: leave them as they are. False when the peer does not keep up; nothing is
   * lost, but it waits in memory: go on after {@link drained}.
   */
  write(bytes: Uint8Array): boolean;
  /** Completes the answer. */
  end(): void;
  /** Breaks the answer off, so that the client notices that it is not complete. */
  abort(): void;
  /** Resolves when the peer has taken what was written, or the exchange has ended. */
  drained(): Promise<void>;
}

/** Sends a whole answer. */
export function sendBytes(reply: Reply, status: number, headers: ReplyHeaders, bytes: Uint8Array): void {
  reply.head(status, { ...headers, 'content-length': String(bytes.length) });
  if (bytes.length > 0) reply.write(bytes);
  reply.end();
}

/** Sends what comes in pieces, not faster than the peer takes it. */
export async function sendPieces(
  reply: Reply,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const piece of pieces) {
    if (reply.ended) return;
    if (!reply.write(piece)) await reply.drained();
  }
  reply.end();
}

/** The same exchange without a body, for HEAD. */
export function withoutBody(reply: Reply): Reply {
  return {
    get started() {
      return reply.started;
    },
    get ended() {
      return reply.ended;
    },
    bufferedBytes: 0,
    head: (status, headers) => reply.head(status, headers),
    write: () => true,
    end: () => reply.end(),
    abort: () => reply.abort(),
    drained: async () => {},
  };
}
