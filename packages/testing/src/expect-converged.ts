import type { ReconcileRecord } from 'riata/controller';
import { formatKey } from 'riata/object';
import type { RecordedRequest } from './request-recorder.js';
import { type SettleOptions, type SettleParts, settle } from './settle.js';

/** Options of `TestEnvironment.expectConverged`. */
export interface ConvergedOptions extends SettleOptions {
  /** Writes that may be made all the same, e.g. of Events. Those to Leases always may. @default none */
  readonly ignore?: (request: RecordedRequest) => boolean;
}

/** See `TestEnvironment.expectConverged`. */
export async function expectConverged(parts: SettleParts, options: ConvergedOptions = {}): Promise<void> {
  const { managers, time, requests } = parts;
  await settle(parts, options);
  refuseFailures(recordsOf(parts));
  const before = new Set(recordsOf(parts).map(({ reconcileID }) => reconcileID));
  const from = requests.all.length;
  let passed = 0;
  for (const manager of managers) {
    passed += await time.drive(manager.passAgain(), `expectConverged: the second pass of ${manager.name}`);
  }
  await settle(parts, options);
  const again = recordsOf(parts).filter(({ reconcileID }) => !before.has(reconcileID));
  const seen = new Set(requests.all.slice(from));
  const writes = requests.writes.filter(
    (write) => seen.has(write) && write.group !== 'coordination.k8s.io' && !options.ignore?.(write),
  );
  if (writes.length > 0) {
    const lines = [...new Set(writes.map((write) => `  ${write.verb} ${write.object}${by(write, again)}`))];
    throw new Error(
      `expectConverged: a second pass over ${passed} objects made ${writes.length} writes, and should make none:\n` +
        `${lines.join('\n')}\nWrite only what differs: apply and status of a reconcile skip what would change nothing.`,
    );
  }
  refuseFailures(again);
}

/** Of those that run: how others ended does not matter any more. */
function recordsOf({ managers }: SettleParts): ReconcileRecord[] {
  return [...managers].flatMap(({ exit, explain }) => (exit === undefined ? explain : []));
}

/** Of each key, only the last reconcile counts. */
function refuseFailures(records: readonly ReconcileRecord[]): void {
  const last = new Map<string, ReconcileRecord>();
  for (const record of records) last.set(`${record.controller} ${formatKey(record.key)}`, record);
  const failed = [...last.values()].filter(({ outcome }) => outcome === 'error' || outcome === 'gave_up');
  if (failed.length === 0) return;
  const lines = failed.map(
    ({ controller, key, attempt, error }) => `  ${controller} ${formatKey(key)}, attempt ${attempt}: ${error}`,
  );
  throw new Error(`expectConverged: not converged, the last reconcile of these failed:\n${lines.join('\n')}`);
}

function by({ object }: RecordedRequest, records: readonly ReconcileRecord[]): string {
  const record = records.find(({ writes }) => writes.some((write) => write.object === object));
  return record === undefined ? '' : `, by controller "${record.controller}" reconciling ${formatKey(record.key)}`;
}
