import type { ReconcileRecord } from 'riata/controller';
import type { CacheState, DebugState } from 'riata/manager';
import type { StreamedReplica } from './operator-stream.js';

/** Rates and latencies are those of this time. */
export const windowMs = 10_000;

/** One controller, over all replicas. */
export interface ControllerRow {
  readonly name: string;
  /** Where it runs; else the phase of the first replica. */
  readonly phase: string;
  readonly perSecond: number;
  readonly errorsPerSecond: number;
  /** The mean of the medians of each second, weighted by reconciles. Undefined without a reconcile lately. */
  readonly medianMs: number | undefined;
  /** The mean of the 95th percentiles of each second, weighted by reconciles. */
  readonly p95Ms: number | undefined;
  readonly queued: number;
  /** The longest time that a key waited in the queue lately. */
  readonly waitedMs: number | undefined;
  readonly delayed: number;
  readonly active: number;
  /** In flight past the timeout. */
  readonly overdue: number;
}

/** A key whose last reconcile failed, or an object that leads to none. */
export interface FailingRow {
  readonly controller: string;
  readonly key: string;
  readonly attempt: number;
  /** Undefined if it is not retried. */
  readonly retryInMs: number | undefined;
  readonly error: string;
}

/** The cache of one kind. */
export interface CacheRow {
  readonly kind: string;
  readonly objects: number;
  readonly synced: boolean;
  readonly lastEventMs: number | undefined;
  readonly problem: string | undefined;
}

/** Everything that one frame shows. */
export interface TopFrame {
  readonly operator: string;
  readonly replicas: number;
  /** The operator's wall time. */
  readonly nowMs: number;
  readonly upMs: number;
  readonly riata: string;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  readonly controllers: readonly ControllerRow[];
  readonly failing: readonly FailingRow[];
  readonly caches: readonly CacheRow[];
  /** The newest ones, oldest first. */
  readonly latest: readonly ReconcileRecord[];
  /** How many reconciles ended in the last second, and how many of them are among the latest. */
  readonly sampling: { readonly seen: number; readonly sent: number };
}

/** The frame of this moment, of replicas that have a state, at least one. */
export function topFrame(operator: string, replicas: readonly StreamedReplica[]): TopFrame {
  const known = replicas.flatMap((replica) => {
    const { state, atMs } = replica;
    return state === undefined ? [] : [{ replica, state, atMs }];
  });
  const states = known.map(({ state }) => state);
  const nowMs = Math.max(...known.map(({ atMs }) => atMs));
  const sum = (of: (state: DebugState) => number) => states.reduce((total, state) => total + of(state), 0);
  return {
    ...{ operator, replicas: known.length, nowMs },
    upMs: Math.max(...known.map(({ state, atMs }) => atMs - state.process.startedAt)),
    riata: states[0]?.process.riata ?? '',
    rssBytes: sum(({ process }) => process.rssBytes),
    heapUsedBytes: sum(({ process }) => process.heapUsedBytes),
    controllers: controllerRows(known),
    failing: known.flatMap(({ state, atMs }) => failingRows(state, atMs)),
    caches: known.flatMap(({ state, atMs }) => cacheRows(state.caches, atMs)),
    latest: replicas.flatMap(({ records }) => records).sort((a, b) => a.startedAt - b.startedAt),
    sampling: {
      seen: replicas.reduce((total, { sampling }) => total + sampling.seen, 0),
      sent: replicas.reduce((total, { sampling }) => total + sampling.sent, 0),
    },
  };
}

interface KnownReplica {
  readonly replica: StreamedReplica;
  readonly state: DebugState;
  readonly atMs: number;
}

function controllerRows(known: readonly KnownReplica[]): readonly ControllerRow[] {
  const names = new Set(known.flatMap(({ state }) => state.controllers.map(({ id }) => id)));
  return [...names].sort().map((name) => {
    const states = known.flatMap(({ state }) => state.controllers.filter(({ id }) => id === name));
    const active = states.flatMap((each) => each.active);
    // Rates of replicas add up; each has a clock of its own.
    const rates = known.map(({ replica }) => rateOf(replica.counted(name)));
    const spans = known.flatMap(({ replica }) => replica.counted(name)).filter(({ count }) => count > 0);
    const total = spans.reduce((sum, { count }) => sum + count, 0);
    const mean = (of: (span: (typeof spans)[number]) => number) =>
      total === 0 ? undefined : spans.reduce((sum, span) => sum + of(span) * span.count, 0) / total;
    return {
      name,
      phase: states.some(({ phase }) => phase === 'running') ? 'running' : (states[0]?.phase ?? ''),
      perSecond: rates.reduce((sum, { count }) => sum + count, 0),
      errorsPerSecond: rates.reduce((sum, { errors }) => sum + errors, 0),
      medianMs: mean(({ medianMs }) => medianMs),
      p95Ms: mean(({ p95Ms }) => p95Ms),
      queued: states.reduce((sum, { queued }) => sum + queued, 0),
      waitedMs: total === 0 ? undefined : Math.max(...spans.map(({ waitedMs }) => waitedMs)),
      delayed: states.reduce((sum, { delayed }) => sum + delayed, 0),
      active: active.length,
      overdue: active.filter(({ isOverdue }) => isOverdue).length,
    };
  });
}

/** Per second, over the part of the window that is known. */
function rateOf(spans: ReturnType<StreamedReplica['counted']>): { readonly count: number; readonly errors: number } {
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined) return { count: 0, errors: 0 };
  const fromMs = Math.max(first.fromMs, last.toMs - windowMs);
  const seconds = Math.max(0.25, (last.toMs - fromMs) / 1_000);
  // Of the oldest one, only the part within the window counts.
  const within = (span: (typeof spans)[number]) =>
    span.toMs === span.fromMs ? 1 : Math.min(1, (span.toMs - fromMs) / (span.toMs - span.fromMs));
  const sum = (of: 'count' | 'errors') => spans.reduce((total, span) => total + span[of] * within(span), 0);
  return { count: sum('count') / seconds, errors: sum('errors') / seconds };
}

function failingRows({ controllers }: DebugState, nowMs: number): readonly FailingRow[] {
  return controllers.flatMap(({ id: controller, failingKeys, notEnqueued }) => [
    ...failingKeys.map(({ key, attempt, retryAt, error }): FailingRow => {
      const retryInMs = retryAt === undefined ? undefined : Math.max(0, retryAt - nowMs);
      return { controller, key: keyText(key), attempt, retryInMs, error };
    }),
    ...notEnqueued.map(({ key, source, error }): FailingRow => {
      return { controller, key, attempt: 0, retryInMs: undefined, error: `${source}: ${String(error)}` };
    }),
  ]);
}

/** One for each kind and cluster: a kind may have several informers. */
function cacheRows(caches: readonly CacheState[], nowMs: number): readonly CacheRow[] {
  const groups = new Map<string, CacheState[]>();
  for (const each of caches) {
    const { kind, cluster } = each;
    const name = `${kind.kind}${kind.group === '' ? '' : `.${kind.group}`}${cluster === undefined ? '' : ` in ${cluster}`}`;
    groups.set(name, [...(groups.get(name) ?? []), each]);
  }
  return [...groups].map(([kind, own]) => {
    const events = own.flatMap(({ lastEventAt }) => lastEventAt ?? []);
    const malformed = own.reduce((total, { failingObjects }) => total + failingObjects, 0);
    const failing = own.find(({ consecutiveFailures }) => consecutiveFailures > 0);
    return {
      kind,
      objects: own.reduce((total, { objects }) => total + objects, 0),
      synced: own.every(({ synced }) => synced),
      lastEventMs: events.length === 0 ? undefined : Math.max(0, nowMs - Math.max(...events)),
      problem: failing?.lastError ?? (malformed > 0 ? `${malformed} objects are withheld` : undefined),
    };
  });
}

function keyText({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
