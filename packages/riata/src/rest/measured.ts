import type { Span } from '../runtime/tracing.js';
import type { RequestContext } from './perform.js';
import { pathTemplate } from './request-path.js';

/** Measures and traces the whole of a call: waits, repetitions and the body included. Costs nothing if nobody listens. */
export async function measured<T>(
  { metrics, host, runtime, basePath }: RequestContext,
  { verb, path, parent }: { readonly verb: string; readonly path: () => string; readonly parent?: Span },
  call: () => Promise<T>,
): Promise<T> {
  if (!metrics.enabled && !runtime.tracer.enabled) return call();
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
