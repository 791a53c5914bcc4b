import type { Transport, TransportRequest, TransportSink } from 'riata/rest';
import type { Clock } from 'riata/runtime';
import type { RequestRecorder } from './request-recorder.js';
import type { RequestReader, RequestTarget } from './request-target.js';

/** Tells a recorder of every request on its way through. */
export class RecordingTransport implements Transport {
  readonly #inner: Transport;
  readonly #parts: RecordingParts;

  constructor(inner: Transport, parts: RecordingParts) {
    this.#inner = inner;
    this.#parts = parts;
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    const { recorder, reader, client, clock, onCreated } = this.#parts;
    const target = reader.read(request.method, request.path, request.body);
    const answered = recorder.note({ ...target, client, atMs: clock.monotonic() });
    this.#inner.dispatch(request, {
      onHeaders: (status, headers, flow) => {
        answered(status);
        if (status === 201 && !target.isDryRun) onCreated(target);
        sink.onHeaders(status, headers, flow);
      },
      onData: (chunk) => sink.onData(chunk),
      onEnd: () => sink.onEnd(),
      onError: (error) => sink.onError(error),
    });
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** What a {@link RecordingTransport} needs. */
export interface RecordingParts {
  readonly recorder: RequestRecorder;
  readonly reader: RequestReader;
  /** What the requests are recorded under. */
  readonly client: string;
  readonly clock: Clock;
  /** Hears of every object that a request has made, before its answer is read. */
  readonly onCreated: (target: RequestTarget) => void;
}
