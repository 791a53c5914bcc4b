import { formatKey } from '../../object/key.js';
import type { Span, Tracer } from '../../runtime/tracing.js';
import type { ActiveReconcile } from './active-reconcile.js';
import type { ReconcileOutcome } from './reconcile-record.js';

/** The span of a reconcile: what it is about. */
export function beginSpan(tracer: Tracer, controller: string, reconcile: ActiveReconcile): Span {
  const { key, reconcileID, attempt, priority } = reconcile;
  const where = { controller, key: formatKey(key), ...(key.cluster && { cluster: key.cluster }) };
  return tracer.span('reconcile', { ...where, reconcileID, attempt, priority });
}

/** And how it ended. */
export function endSpan(span: Span, outcome: ReconcileOutcome): void {
  span.set({ outcome });
  span.end();
}
