import type { ReconcileRecord } from 'riata/controller';
import { keyId } from 'riata/object';
import { optionNames } from 'riata/runtime';
import { clustersOf } from './clusters-of.js';
import { failingReconciles } from './failing-reconciles.js';
import type { RecordedRequest } from './requests/request-recorder.js';
import { type SettleOptions, type SettleParts, settle } from './settle.js';

/** Options of `TestEnvironment.expectConverged`. */
export interface ConvergedOptions extends SettleOptions {
  /**
   * Writes that may be made all the same, e.g. of Events. Those to Leases always may. Of those to an added cluster on
   * another server only verb, kind and object are known, and the cluster's name as `client`. @default none
   */
  readonly ignore?: (request: RecordedRequest) => boolean;
}

export const convergedOptionNames = optionNames<ConvergedOptions>({
  ignore: true,
  horizon: true,
  timeout: true,
  maxRequests: true,
});

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
  const writes = [...requests.writes.filter((write) => seen.has(write)), ...unrecorded(parts, again)].filter(
    (write) => write.group !== 'coordination.k8s.io' && !options.ignore?.(write),
  );
  if (writes.length > 0) {
    const lines = [...new Set(writes.map((write) => `  ${write.verb} ${write.object}${by(write, again)}`))];
    throw new Error(
      `expectConverged: a second pass over ${passed} objects made ${writes.length} writes, and should make none:\n` +
        `${lines.join('\n')}\nWrite only differences: apply and status of a reconcile skip no-ops.`,
    );
  }
  refuseFailures(again);
}

/** Writes to clusters on servers whose requests are not recorded, as reported by the reconciles. */
function unrecorded({ managers, client, clientOf }: SettleParts, records: readonly ReconcileRecord[]) {
  const clusters = [...managers].flatMap(({ manager }) => clustersOf(manager));
  const elsewhere = new Set(clusters.filter((each) => clientOf(each) !== client).map(({ name }) => name));
  const blank = { group: '', version: '', path: '', headers: {}, isDryRun: false };
  return records
    .filter(({ key: { cluster } }) => cluster !== undefined && elsewhere.has(cluster))
    .flatMap(({ key: { cluster = '' }, startedAt: atMs, writes }) =>
      writes.map(({ verb, object }): RecordedRequest => {
        const [kind = ''] = object.split(' ');
        return { ...blank, client: cluster, atMs, verb, kind, object };
      }),
    );
}

/** Of those that run: how others ended does not matter any more. */
function recordsOf({ managers }: SettleParts): ReconcileRecord[] {
  return [...managers].flatMap(({ exit, explain }) => (exit === undefined ? explain : []));
}

/** Of each key, only the last reconcile counts. */
function refuseFailures(records: readonly ReconcileRecord[]): void {
  const failing = failingReconciles(records);
  if (failing.length === 0) return;
  const lines = failing.map((each) => `  ${each}`);
  throw new Error(`expectConverged: not converged, the last reconcile of these failed:\n${lines.join('\n')}`);
}

function by({ object }: RecordedRequest, records: readonly ReconcileRecord[]): string {
  const record = records.find(({ writes }) => writes.some((write) => write.object === object));
  return record === undefined ? '' : `, by controller "${record.controller}" reconciling ${keyId(record.key)}`;
}
