import type { ResponseHeaders, Transport, TransportFlow, TransportRequest } from 'riata/rest';

/** A running exchange whose sink keeps all that comes. */
export interface Exchange {
  /** Resolves with the headers, rejects when none come. */
  readonly answered: Promise<Answer>;
  /** Resolves to the whole body, rejects with what `onError` got. */
  readonly completed: Promise<Buffer>;
  /** What `onError` got; rejects when the exchange comes to a good end. */
  readonly failure: Promise<unknown>;
  /** Pieces of the body, as they came. */
  readonly chunks: readonly Buffer[];
  /** The sink's calls in order, several `onData` in a row counting once: `['onHeaders', 'onData', 'onEnd']`. */
  readonly calls: readonly string[];
  /** Resolves when so many bytes of the body have come. */
  received(bytes: number): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly flow: TransportFlow;
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // Not every test looks at every outcome.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/** Dispatches a request, `GET /` by default, and follows it. `onData` sees each piece as it comes. */
export function startExchange(
  transport: Transport,
  request: Partial<TransportRequest> = {},
  onData: (chunk: Uint8Array, flow: TransportFlow) => void = () => {},
): Exchange {
  const answered = deferred<Answer>();
  const completed = deferred<Buffer>();
  const failure = deferred<unknown>();
  const chunks: Buffer[] = [];
  const calls: string[] = [];
  const waiting = new Set<{ readonly bytes: number; readonly resolve: () => void }>();
  let flow: TransportFlow | undefined;
  let size = 0;
  const call = (name: string) => {
    if (name !== 'onData' || calls.at(-1) !== name) calls.push(name);
  };
  const check = () => {
    for (const entry of waiting) if (size >= entry.bytes) entry.resolve();
  };
  transport.dispatch(
    { method: 'GET', path: '/', headers: {}, ...request },
    {
      onHeaders(status, headers, given) {
        call('onHeaders');
        flow = given;
        answered.resolve({ status, headers, flow });
      },
      onData(chunk) {
        call('onData');
        const copy = Buffer.from(chunk);
        chunks.push(copy);
        size += copy.length;
        if (flow) onData(copy, flow);
        check();
      },
      onEnd() {
        call('onEnd');
        completed.resolve(Buffer.concat(chunks));
        failure.reject(new Error('the exchange came to a good end'));
      },
      onError(error) {
        call('onError');
        answered.reject(error);
        completed.reject(error);
        failure.resolve(error);
      },
    },
  );
  const received = (bytes: number) =>
    new Promise<void>((resolve) => {
      waiting.add({ bytes, resolve });
      check();
    });
  return {
    answered: answered.promise,
    completed: completed.promise,
    failure: failure.promise,
    chunks,
    calls,
    received,
  };
}
