import type { ResponseHeaders, Transport, TransportFlow, TransportRequest, TransportSink } from './transport.js';

/** One answer of an {@link answeringTransport}. */
export interface Answer {
  readonly status?: number;
  readonly headers?: ResponseHeaders;
  /** JSON for an object; several chunks for an array. */
  readonly body?: string | Uint8Array | object | readonly (string | Uint8Array)[];
  /** Comes in place of the headers, or after the body if there is a `status`. */
  readonly error?: unknown;
  /** Stays open after the body; without a `status`, not even headers come. */
  readonly hangs?: boolean;
}

/** A transport without a server, for tests: it answers from a list or a function and keeps what it was asked. */
export interface AnsweringTransport extends Transport {
  readonly requests: readonly TransportRequest[];
  readonly closed: boolean;
}

/** The last of a list of answers is given again and again. */
export function answeringTransport(
  answers: readonly Answer[] | ((request: TransportRequest, nth: number) => Answer),
): AnsweringTransport {
  const requests: TransportRequest[] = [];
  const find = (request: TransportRequest, nth: number): Answer =>
    typeof answers === 'function' ? answers(request, nth) : (answers[Math.min(nth, answers.length - 1)] ?? {});
  const transport = {
    requests,
    closed: false,
    dispatch(request: TransportRequest, sink: TransportSink): void {
      const answer = find(request, requests.length);
      requests.push(request);
      queueMicrotask(() => new Play(request, sink, answer).start());
    },
    async close() {
      transport.closed = true;
    },
    [Symbol.asyncDispose]: () => transport.close(),
  };
  return transport;
}

/** Plays one answer, obeying pause, resume and abort as the contract of {@link TransportSink} has it. */
class Play implements TransportFlow {
  readonly #request: TransportRequest;
  readonly #sink: TransportSink;
  readonly #answer: Answer;
  readonly #chunks: Uint8Array[];
  #paused = false;
  #running = false;
  #done = false;

  constructor(request: TransportRequest, sink: TransportSink, answer: Answer) {
    this.#request = request;
    this.#sink = sink;
    this.#answer = answer;
    this.#chunks = chunksOf(answer.body);
  }

  start(): void {
    const { signal } = this.#request;
    const { status, headers = {}, error } = this.#answer;
    signal?.addEventListener('abort', () => this.#fail(signal.reason), { once: true });
    if (signal?.aborted) this.#fail(signal.reason);
    else if (error !== undefined && status === undefined) this.#fail(error);
    else if (status !== undefined || !this.#answer.hangs) {
      this.#sink.onHeaders(status ?? 200, headers, this);
      this.#run();
    }
  }

  #run(): void {
    if (this.#running) return;
    this.#running = true;
    while (!this.#paused && !this.#done) {
      const chunk = this.#chunks.shift();
      if (chunk) this.#sink.onData(chunk);
      else if (this.#answer.hangs) break;
      else if (this.#answer.error !== undefined) this.#fail(this.#answer.error);
      else {
        this.#done = true;
        this.#sink.onEnd();
      }
    }
    this.#running = false;
  }

  #fail(error: unknown): void {
    if (this.#done) return;
    this.#done = true;
    this.#sink.onError(error);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    queueMicrotask(() => this.#run());
  }

  abort(reason?: unknown): void {
    this.#fail(reason ?? new Error('aborted'));
  }
}

function chunksOf(body: Answer['body']): Uint8Array[] {
  if (body === undefined) return [];
  if (Array.isArray(body)) return body.map((part: string | Uint8Array) => Buffer.from(part as string));
  if (typeof body === 'string' || body instanceof Uint8Array) return [Buffer.from(body as string)];
  return [Buffer.from(JSON.stringify(body))];
}
