import type { Span } from '../runtime/tracing.js';
import type { RequestContext } from './perform.js';
import { pathTemplate } from './request-path.js';

/** Measures and traces the whole of a call: waits, repetitions and the body included. Costs nothing if nobody listens. */
export async function measured<T>(
  context: RequestContext,
  { verb, path, parent }: { readonly verb: string; readonly path: () => string; readonly parent?: Span },
  call: () => Promise<T>,
): Promise<T> {
  if (!isMeasured(context)) return call();
  const { metrics, host, runtime, basePath } = context;
  const span = runtime.tracer.span('rest request', { verb, route: pathTemplate(path(), basePath), host }, parent);
  const start = runtime.clock.monotonic();
  try {
    return await call();
  } catch (error) {
    span.error(error);
    throw error;
  } finally {
    metrics.durations.with({ verb, host }).observe((runtime.clock.monotonic() - start) / 1000);
    span.end();
  }
}

/** Whether anybody listens. */
export function isMeasured({ metrics, runtime }: RequestContext): boolean {
  return metrics.enabled || runtime.tracer.enabled;
}
