import type { ReconcileOutcome, ReconcileRecord } from 'riata/controller';
import { keyId } from 'riata/object';
import { describeError } from 'riata/runtime';
import type { TestManager } from './test-manager.js';

/** How many are named where there are more. */
const mostNamed = 3;

/** The last failures of each key, in words. */
export function failingReconciles(
  records: readonly ReconcileRecord[],
  failures: readonly ReconcileOutcome[] = ['error', 'gave_up', 'not_enqueued'],
): readonly string[] {
  const last = new Map<string, ReconcileRecord>();
  for (const record of records) last.set(`${record.controller} ${keyId(record.key)}`, record);
  return [...last.values()]
    .filter(({ outcome }) => failures.includes(outcome))
    .map(({ controller, key, attempt, error }) => `${controller} ${keyId(key)}, attempt ${attempt}: ${error}`);
}

/** Failures of managers, in words: probably the cause of what the test is missing. */
export function troublesOf(managers: Iterable<Pick<TestManager, 'name' | 'exit' | 'explain'>>): readonly string[] {
  const all = [...managers].flatMap(({ name, exit, explain }) => {
    if (exit?.reason === 'failed') return [`${name} has failed: ${exit.runnable}: ${describeError(exit.error)}`];
    return exit === undefined ? failingReconciles(explain, ['error', 'gave_up', 'terminal_error', 'not_enqueued']) : [];
  });
  return all.length > mostNamed ? [...all.slice(0, mostNamed), `and ${all.length - mostNamed} more`] : all;
}
