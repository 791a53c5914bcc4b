/** What a span is about, by name. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work with a start and an end. */
export interface Span {
  /** Adds attributes; one of the same name is replaced. */
  set(attributes: SpanAttributes): void;
  /** Marks the work as failed. */
  error(error: unknown): void;
  /** Must be called once; later calls are ignored. */
  end(): void;
}

/**
 * Receives how long Riata's work took and what it was part of. The parent is handed on by hand, never by
 * `AsyncLocalStorage`.
 *
 * @example
 * // OpenTelemetry; `spans` is a WeakMap from our span to theirs
 * span(name, attributes, parent) {
 *   const theirs = parent && spans.get(parent);
 *   const around = theirs ? trace.setSpan(context.active(), theirs) : context.active();
 *   const span = tracer.startSpan(name, { attributes }, around);
 *   const ours = {
 *     set: (more) => void span.setAttributes(more),
 *     error: (e) => { span.recordException(e); span.setStatus({ code: SpanStatusCode.ERROR }); },
 *     end: () => span.end(),
 *   };
 *   spans.set(ours, span);
 *   return ours;
 * }
 */
export interface Tracer {
  /** False when spans are dropped: attributes that cost something to build may be left out. */
  readonly enabled: boolean;
  /** Starts a span; the caller ends it. */
  span(name: string, attributes?: SpanAttributes, parent?: Span): Span;
}

/** The span of {@link noTracer}: there is only one. */
export const noSpan: Span = Object.freeze({ set() {}, error() {}, end() {} });

/** Traces nothing and makes no object per span. */
export const noTracer: Tracer = Object.freeze({ enabled: false, span: () => noSpan });
