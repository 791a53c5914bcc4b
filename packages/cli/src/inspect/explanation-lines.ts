import { type Cause, describeCause, type ReconcileRecord } from 'riata/controller';
import type { ExplainedReconcile, Explanation } from './explanation.js';
import { clockTime, type Paint, shortDuration } from './view/text.js';

const indent = ' '.repeat(12);

/** Writes an explanation for people. @param nowMs the operator's wall time */
export function explanationLines({ reconciles, webhooks, now }: Explanation, nowMs: number, paint: Paint): string[] {
  const several = new Set([...reconciles, ...webhooks].map(({ replica }) => replica)).size > 1;
  return [
    ...reconciles.flatMap((record) => reconcileLines(record, nowMs, several, paint)),
    ...webhooks.flatMap(({ startedAt, webhook, operation, user, outcome, details, durationMs }) => [
      `${clockTime(startedAt)}Z   webhook ${webhook}: ${operation}${user === undefined ? '' : ` by ${user}`}, ${paint(outcome === 'allowed' ? 'green' : 'red', outcome)}, ${shortDuration(durationMs)}`,
      ...details.map((detail) => `${indent}${detail}`),
    ]),
    ...now.map((line) => paint('yellow', `now         ${line}`)),
  ];
}

function reconcileLines(record: ExplainedReconcile, nowMs: number, several: boolean, paint: Paint): string[] {
  const { startedAt, durationMs, queuedMs, attempt, reasons, writes, error, errorAt, controller, key, relation } =
    record;
  const place = key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
  const whose = relation === 'reconciled' ? controller : `${controller} for ${place}, ${relations[relation]}`;
  const where = several ? ` on ${record.replica}` : '';
  const took = `${shortDuration(durationMs)} after ${shortDuration(queuedMs)} in the queue${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  return [
    `${paint('bold', `${clockTime(startedAt)}Z`)}   ${paint('cyan', whose)}${where}, ${took} (${shortDuration(Math.max(0, nowMs - startedAt))} ago)`,
    ...reasons.map((cause: Cause) => `${indent}why: ${describeCause(cause)}`),
    ...writes.map(
      ({ verb, object, resourceVersion }) =>
        `${indent}${verb} ${object}${resourceVersion === undefined ? '' : paint('gray', ` → ${resourceVersion}`)}`,
    ),
    ...(writes.length === 0 && error === undefined ? [paint('gray', `${indent}nothing to write`)] : []),
    ...(error === undefined ? [] : [paint('red', `${indent}${error}`)]),
    ...(errorAt === undefined ? [] : [`${indent}  at ${errorAt}`]),
    ...next(record, nowMs).map((line) => `${indent}${line}`),
  ];
}

const relations = { wrote: 'which wrote it', caused: 'caused by it' } as const;

function next({ outcome, requeueAfterMs, startedAt, durationMs }: ReconcileRecord, nowMs: number): string[] {
  switch (outcome) {
    case 'terminal_error':
      return ['not retried until the object changes'];
    case 'gave_up':
      return ['given up until the object changes'];
    case 'stopped':
      return ['stopped by a shutdown, a lost lease or a removed controller'];
    case 'not_enqueued':
      return ['not reconciled: a predicate or map function fails for it'];
    default: {
      if (requeueAfterMs === undefined) return [];
      const dueMs = startedAt + durationMs + requeueAfterMs - nowMs;
      const what = outcome === 'error' ? 'retry' : 'requeue';
      return [dueMs > 0 ? `${what} in ${shortDuration(dueMs)}` : `${what} after ${shortDuration(requeueAfterMs)}`];
    }
  }
}
