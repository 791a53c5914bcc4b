import type { ReconcileRecord } from 'riata/controller';

/** Describes a reconcile in one line: its controller and key, why it ran, what it wrote, how long it took. */
export function reconcileLine({ controller, key, reasons, writes, durationMs, error }: ReconcileRecord): string {
  const why = [
    ...new Set(reasons.map(({ source, change }) => (change === undefined ? source : `${source} ${change}`))),
  ].join(', ');
  const what = error ?? (writes.map(({ verb, object }) => `${verb} ${object}`).join(', ') || 'nothing to do');
  const place = key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
  return `${controller.padEnd(14)} ${place} (${why}) → ${what}, ${durationMs.toFixed(1)} ms`;
}
