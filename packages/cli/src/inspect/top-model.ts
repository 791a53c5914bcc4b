import type { ReconcileRecord } from 'riata/controller';
import type { CacheState, OperatorState } from './operator-state.js';

/** Rates and latencies are those of this time. */
const windowMs = 10_000;

/** One controller, over all replicas. */
export interface ControllerRow {
  readonly name: string;
  /** Where it runs; else the phase of the first replica. */
  readonly phase: string;
  readonly perSecond: number;
  readonly errorsPerSecond: number;
  /** Undefined without a reconcile lately. */
  readonly medianMs: number | undefined;
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
  /** Oldest first. */
  readonly latest: readonly ReconcileRecord[];
}

/** A replica as it was just read. */
export interface ReplicaSample {
  readonly state: OperatorState;
  /** New ones, and perhaps some that are known. */
  readonly records: readonly ReconcileRecord[];
}

/** Turns what replicas report, time after time, into frames. */
export class TopModel {
  readonly #operator: string;
  /** By id, in the order in which they ended; not older than a minute. */
  readonly #records = new Map<string, ReconcileRecord>();
  /** The last one of each controller and key that failed. */
  readonly #failed = new Map<string, ReconcileRecord>();

  constructor(operator: string) {
    this.#operator = operator;
  }

  /** Takes in new samples of all replicas, at least one, and gives the frame of this moment. */
  update(samples: readonly ReplicaSample[]): TopFrame {
    const states = samples.map(({ state }) => state);
    const nowMs = Math.max(...states.map(({ process }) => process.now));
    for (const record of samples.flatMap(({ records }) => records)) this.#take(record);
    for (const [id, { startedAt, durationMs }] of this.#records) {
      if (startedAt + durationMs < nowMs - 60_000) this.#records.delete(id);
    }
    const sum = (of: (state: OperatorState) => number) => states.reduce((total, state) => total + of(state), 0);
    return {
      ...{ operator: this.#operator, replicas: states.length, nowMs },
      upMs: Math.max(...states.map(({ process }) => process.upMs)),
      riata: states[0]?.process.riata ?? '',
      rssBytes: sum(({ process }) => process.memory.rssBytes),
      heapUsedBytes: sum(({ process }) => process.memory.heapUsedBytes),
      controllers: this.#controllers(states, nowMs),
      failing: this.#failing(states, nowMs),
      caches: states.flatMap(({ caches }) => caches.map(cacheRow)),
      latest: [...this.#records.values()].sort((a, b) => a.startedAt - b.startedAt),
    };
  }

  #take(record: ReconcileRecord): void {
    const { reconcileID, controller, key, outcome, startedAt } = record;
    // Without one, nothing was reconciled: the state of the controller shows it.
    if (reconcileID === '' || this.#records.has(reconcileID)) return;
    this.#records.set(reconcileID, record);
    const id = `${controller} ${keyText(key)}`;
    const known = this.#failed.get(id);
    if (known !== undefined && known.startedAt > startedAt) return;
    if (outcome === 'error' || outcome === 'terminal_error' || outcome === 'gave_up') this.#failed.set(id, record);
    else if (outcome !== 'stopped') this.#failed.delete(id);
  }

  #controllers(states: readonly OperatorState[], nowMs: number): ControllerRow[] {
    const names = new Set(states.flatMap(({ controllers }) => controllers.map(({ name }) => name)));
    const recent = [...this.#records.values()].filter((each) => each.startedAt + each.durationMs > nowMs - windowMs);
    return [...names].sort().map((name) => {
      const healths = states.flatMap(({ controllers }) => controllers.filter((each) => each.name === name));
      const own = recent.filter(({ controller }) => controller === name);
      const durations = own.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
      const active = healths.flatMap((each) => each.active);
      return {
        name,
        phase: healths.some(({ phase }) => phase === 'running') ? 'running' : (healths[0]?.phase ?? ''),
        perSecond: own.length / (windowMs / 1_000),
        errorsPerSecond: own.filter(({ error }) => error !== undefined).length / (windowMs / 1_000),
        medianMs: durations[Math.floor(durations.length / 2)],
        p95Ms: durations[Math.min(durations.length - 1, Math.floor(durations.length * 0.95))],
        queued: healths.reduce((total, { queued }) => total + queued, 0),
        waitedMs: own.length === 0 ? undefined : Math.max(...own.map(({ queuedMs }) => queuedMs)),
        delayed: healths.reduce((total, { delayed }) => total + delayed, 0),
        active: active.length,
        overdue: active.filter(({ isOverdue }) => isOverdue).length,
      };
    });
  }

  #failing(states: readonly OperatorState[], nowMs: number): FailingRow[] {
    const reconciles = [...this.#failed.values()].map((record): FailingRow => {
      const { controller, key, attempt, requeueAfterMs, startedAt, durationMs, error = '' } = record;
      const dueMs = requeueAfterMs === undefined ? undefined : startedAt + durationMs + requeueAfterMs - nowMs;
      const retryInMs = dueMs === undefined ? undefined : Math.max(0, dueMs);
      return { controller, key: keyText(key), attempt, retryInMs, error };
    });
    const sources = states.flatMap(({ controllers }) =>
      controllers.flatMap(({ name, failing }) =>
        failing.map(({ key, source, error }): FailingRow => {
          return { controller: name, key, attempt: 0, retryInMs: undefined, error: `${source}: ${String(error)}` };
        }),
      ),
    );
    return [...reconciles, ...sources];
  }
}

function cacheRow({ kind, cluster, synced, informers }: CacheState): CacheRow {
  const events = informers.flatMap(({ lastEventMs }) => lastEventMs ?? []);
  const failing = informers.find(({ consecutiveFailures }) => consecutiveFailures > 0);
  const malformed = informers.reduce((total, { failingObjects }) => total + failingObjects, 0);
  return {
    kind: `${kind.kind}${kind.group === '' ? '' : `.${kind.group}`}${cluster === undefined ? '' : ` in ${cluster}`}`,
    objects: informers.reduce((total, { objects }) => total + objects, 0),
    synced,
    lastEventMs: events.length === 0 ? undefined : Math.min(...events),
    problem: failing?.lastError ?? (malformed > 0 ? `${malformed} objects are withheld` : undefined),
  };
}

function keyText({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
