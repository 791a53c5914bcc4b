import type { Runtime } from '../../runtime/runtime.js';
import type { Span } from '../../runtime/tracing.js';
import { pathTemplate } from '../request/request-path.js';
import type { ResponseHeaders, TransportFlow } from '../transport/transport.js';
import { withEnd } from './response-sinks.js';
import type { RestMetrics } from './rest-metrics.js';
import { type BodySink, ResponseFilter, type ResponseNotes, type ResponseSink, type Send } from './send.js';

export interface MeasurementOptions {
  readonly host: string;
  /** The server's path prefix. */
  readonly basePath: string;
  readonly runtime: Runtime;
}

/**
 * Measures and traces requests: waits, retries and the body included. A body without an end, such as that of a watch,
 * has a span until it starts, and no duration. Adds nothing without metrics and a tracer.
 */
export function withMeasurement(send: Send, metrics: RestMetrics, options: MeasurementOptions): Send {
  const { host, basePath, runtime } = options;
  const { tracer, clock } = runtime;
  if (!metrics.enabled && !tracer.enabled) return send;
  return (request, sink) => {
    const { method: verb, path, span: parent, mode } = request;
    const route = pathTemplate(basePath + path.split('?', 1)[0], basePath);
    const span = tracer.span('rest request', { verb, route, host }, parent);
    const start = clock.monotonic();
    const isTimed = mode === 'whole';
    const onDone = () => {
      if (isTimed) metrics.durations.with({ verb, host }).observe((clock.monotonic() - start) / 1000);
      span.end();
    };
    send(request, new MeasuredResponse(sink, span, isTimed, onDone));
  };
}

class MeasuredResponse extends ResponseFilter {
  readonly #span: Span;
  readonly #isWhole: boolean;
  readonly #onDone: () => void;
  #isDone = false;
  #isAborted = false;

  constructor(next: ResponseSink, span: Span, isWhole: boolean, onDone: () => void) {
    super(next);
    this.#span = span;
    this.#isWhole = isWhole;
    this.#onDone = onDone;
  }

  override onHeaders(status: number, headers: ResponseHeaders, flow: TransportFlow, notes?: ResponseNotes): BodySink {
    if (!this.#isWhole) {
      this.#end();
      return this.next.onHeaders(status, headers, flow, notes);
    }
    // A reader that stops reading is no failure.
    const abort = (reason?: unknown) => {
      this.#isAborted = true;
      flow.abort(reason);
    };
    const watched = { pause: () => flow.pause(), resume: () => flow.resume(), abort };
    return withEnd(this.next.onHeaders(status, headers, watched, notes), (failure) => this.#over(failure));
  }

  override onError(error: unknown): void {
    this.#over({ error });
    this.next.onError(error);
  }

  #over(failure?: { readonly error: unknown }): void {
    if (failure !== undefined && !this.#isDone && !this.#isAborted) this.#span.error(failure.error);
    this.#end();
  }

  #end(): void {
    if (!this.#isDone) this.#onDone();
    this.#isDone = true;
  }
}
