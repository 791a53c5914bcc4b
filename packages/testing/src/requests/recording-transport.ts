import { type Transport, TransportError, type TransportRequest, type TransportSink } from 'riata/rest';
import { type Clock, onAbort, optionNames } from 'riata/runtime';
import type { RecordedRequest, RequestRecorder } from './request-recorder.js';
import type { RequestReader, RequestTarget } from './request-target.js';

/** Reports every request to recorders on its way through, and can cut open connections. */
export class RecordingTransport implements Transport {
  readonly #inner: Transport;
  readonly #parts: RecordingParts;
  readonly #open = new Set<Exchange>();

  constructor(inner: Transport, parts: RecordingParts) {
    this.#inner = inner;
    this.#parts = parts;
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    const { recorders, reader, client, clock, onRequest } = this.#parts;
    const { path, headers: sent } = request;
    const { authorization: _, ...headers } = sent;
    const target = reader.read(request.method, path, request.body);
    const recorded = { ...target, client, path, headers, atMs: clock.monotonic() };
    const answered = recorders.map((recorder) => recorder.note(recorded));
    const send = () => this.#send(request, sink, target, (code) => answered.forEach((note) => void note(code)));
    if (onRequest === undefined) send();
    else void this.#sendAfter(onRequest, recorded, request, sink, send);
  }

  /** Ends everything in flight, as a broken network does; `graceful`: watches only, in order. */
  cut({ graceful = false }: CutOptions = {}): void {
    for (const { fail, finish } of [...this.#open]) {
      if (graceful) finish?.();
      else fail(new TransportError('the connection was cut by the test', { kind: 'reset', requestSent: true }));
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #send(request: TransportRequest, sink: TransportSink, target: RequestTarget, note: (code: number) => void): void {
    const line = new AbortController();
    const exchange: Exchange = { fail: (error) => line.abort(error) };
    this.#open.add(exchange);
    const given = onAbort(request.signal, () => line.abort(request.signal?.reason));
    let isOver = false;
    const end = (notify: () => void) => {
      if (isOver) return;
      isOver = true;
      given[Symbol.dispose]();
      this.#open.delete(exchange);
      notify();
    };
    this.#inner.dispatch(
      { ...request, signal: line.signal },
      {
        onHeaders: (status, headers, flow) => {
          note(status);
          if (status === 201 && !target.isDryRun) this.#parts.onCreated?.(target);
          if (target.verb === 'watch') {
            exchange.finish = () => {
              end(() => sink.onEnd());
              line.abort();
            };
          }
          sink.onHeaders(status, headers, flow);
        },
        onData: (chunk) => {
          if (!isOver) sink.onData(chunk);
        },
        onEnd: () => end(() => sink.onEnd()),
        onError: (error) => end(() => sink.onError(error)),
      },
    );
  }

  /** Nothing comes to the sink before `dispatch` has returned. */
  async #sendAfter(
    onRequest: NonNullable<RecordingParts['onRequest']>,
    recorded: RecordedRequest,
    { signal }: TransportRequest,
    sink: TransportSink,
    send: () => void,
  ): Promise<void> {
    let isGivenUp = false;
    const asked = (async () => onRequest(recorded))();
    await undefined;
    const waiting = onAbort(signal, () => {
      isGivenUp = true;
      sink.onError(signal?.reason);
    });
    try {
      await asked;
    } catch (error) {
      if (!isGivenUp) sink.onError(error);
      isGivenUp = true;
    }
    waiting[Symbol.dispose]();
    if (!isGivenUp) send();
  }
}

/** How connections are cut. */
export interface CutOptions {
  /**
   * As servers do from time to time: watches end in order, and other requests in flight are answered. Otherwise all
   * break off where they are, and clients back off. @default false
   */
  readonly graceful?: boolean;
}

export const cutOptionNames = optionNames<CutOptions>({ graceful: true });

/** A request in flight. */
interface Exchange {
  readonly fail: (error: Error) => void;
  /** Ends it in order, if it can be. */
  finish?: () => void;
}

/** What a {@link RecordingTransport} needs. */
export interface RecordingParts {
  /** Every recorder gets all requests. */
  readonly recorders: readonly RequestRecorder[];
  readonly reader: RequestReader;
  /** The client's name in the record. */
  readonly client: string;
  readonly clock: Clock;
  /** Called with every object that a request has created, before its answer is read. @default not called */
  readonly onCreated?: (target: RequestTarget) => void;
  /** Called with every request, which is sent when the promise resolves. @default at once */
  readonly onRequest?: (request: RecordedRequest) => unknown;
}
