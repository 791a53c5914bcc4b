import type { Span } from '../../runtime/tracing.js';
import type { RequestContext } from '../request/perform.js';
import { pathTemplate } from '../request/request-path.js';
import type { ApiResponse } from './send.js';

/** What a call is about. */
export interface MeasuredCall {
  readonly verb: string;
  readonly path: () => string;
  readonly parent?: Span;
}

/** Measures and traces the whole of a call: waits, repetitions and the body included. Costs nothing if nobody listens. */
export async function measured<T>(context: RequestContext, about: MeasuredCall, call: () => Promise<T>): Promise<T> {
  if (!isMeasured(context)) return call();
  const over = begin(context, about, true);
  try {
    const result = await call();
    over();
    return result;
  } catch (error) {
    over({ error });
    throw error;
  }
}

/**
 * The same for an answer that is taken bit by bit. One that is `whole` is measured to its end, as a list is; of one without
 * end, as that of a watch, there is a span until it begins.
 */
export async function measuredStream(
  context: RequestContext,
  about: MeasuredCall,
  whole: boolean,
  open: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  if (!isMeasured(context)) return open();
  const over = begin(context, about, whole);
  try {
    const response = await open();
    if (whole) response.whenClosed(over);
    else over();
    return response;
  } catch (error) {
    over({ error });
    throw error;
  }
}

/** Whether anybody listens. */
export function isMeasured({ metrics, runtime }: RequestContext): boolean {
  return metrics.enabled || runtime.tracer.enabled;
}

/** Begins to measure; gives what to call in the end. */
function begin(
  { metrics, host, runtime, basePath }: RequestContext,
  { verb, path, parent }: MeasuredCall,
  timed: boolean,
): (failure?: { readonly error: unknown }) => void {
  const span = runtime.tracer.span('rest request', { verb, route: pathTemplate(path(), basePath), host }, parent);
  const start = runtime.clock.monotonic();
  return (failure) => {
    if (failure !== undefined) span.error(failure.error);
    if (timed) metrics.durations.with({ verb, host }).observe((runtime.clock.monotonic() - start) / 1000);
    span.end();
  };
}
