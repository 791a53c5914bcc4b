import process from 'node:process';
import type { Cache, CacheHealth } from '../../cache/cache.js';
import type { InformerHealth } from '../../cache/informer/shared-informer.js';
import type { ControllerHealth } from '../../controller/loop/controller-health.js';
import type { ReconcileRecord } from '../../controller/loop/reconcile-record.js';
import type { Cause, Request } from '../../controller/loop/request.js';
import type { GroupVersionKind } from '../../object/gvk.js';
import type { KindRef } from '../../object/kind.js';
import type { PendingKey } from '../../queue/pending-keys.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Clock } from '../../runtime/time/clock.js';
import { version } from '../../version.js';
import type { WebhookRecord } from '../../webhook/webhook-route.js';
import type { ClusterSet } from '../clusters/cluster.js';
import type { CacheState, ClusterState, ControllerState, DebugState, WebhookState } from './debug-state.js';
import { quantile, type ReconcileTally } from './reconcile-tally.js';

/** The parts of a manager that a {@link DebugState} shows. */
export interface StateSource {
  readonly controllers: readonly ControllerHealth[];
  /** Finished reconciles, oldest first. */
  readonly explain: readonly ReconcileRecord[];
  readonly webhookCalls: readonly WebhookRecord[];
  readonly cache: Cache;
  readonly clusters: ClusterSet;
  readonly kinds: () => Iterable<{ readonly name: string; readonly kind: KindRef }>;
  readonly pending: (controller: string, most: number) => readonly PendingKey<Request, readonly Cause[]>[];
  readonly onReconciled: (listener: (record: ReconcileRecord) => void) => Disposable;
  readonly leader: () => DebugState['leader'];
  readonly shards: () =>
    | { identity: string; members: readonly string[]; owners: readonly (string | undefined)[] }
    | undefined;
  readonly webhookServer: () => DebugState['webhookServer'];
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
}

/** What was measured between two states. */
export interface Measured {
  readonly startedAt: number;
  readonly loopLagMs: number;
  readonly cpuPercent: number | undefined;
  readonly tallies: ReadonlyMap<string, ReconcileTally>;
  /** The estimated bytes of each informer, by its id. */
  readonly bytes: ReadonlyMap<string, number>;
}

const mostPending = 1_000;
const mostWaiting = 50;
const noLatency = { count: 0, p50: 0, p95: 0, max: 0, queuedP95: 0, queuedMax: 0 };

/** The state of a manager at this moment. */
export function collectState(source: StateSource, clock: Clock, measured: Measured): DebugState {
  const { rss, heapUsed } = process.memoryUsage();
  const [leader, shards, webhookServer] = [source.leader(), source.shards(), source.webhookServer()];
  const kinds = new Map([...source.kinds()].map(({ name, kind }) => [name, kind.gvk]));
  const time = { now: clock.now(), monotonic: clock.monotonic() };
  const caches = allCaches(source).flatMap(({ cluster, cache }) =>
    cache.health.flatMap((health) => cacheStates(health, { cluster, time, bytes: measured.bytes, mask: source.mask })),
  );
  return {
    process: {
      ...{ riata: version, node: process.versions.node, startedAt: measured.startedAt },
      ...{ rssBytes: rss, heapUsedBytes: heapUsed, loopLagMs: Math.round(measured.loopLagMs * 10) / 10 },
      ...(measured.cpuPercent !== undefined && { cpuPercent: Math.round(measured.cpuPercent * 10) / 10 }),
    },
    ...(leader && { leader }),
    ...(shards && { shards: { ...shards, owners: shards.owners.map((owner) => owner ?? null) } }),
    ...(webhookServer && { webhookServer }),
    controllers: source.controllers.map((health) =>
      controllerState(health, {
        kind: kinds.get(health.name),
        pending: source.pending(health.name, mostPending),
        tally: measured.tallies.get(health.name),
        time,
      }),
    ),
    caches,
    clusters: clusterStates(source, caches),
    webhooks: webhookStates(source.webhookCalls),
  };
}

/** The manager's own cache, and those of added clusters. */
export function allCaches({ cache, clusters }: Pick<StateSource, 'cache' | 'clusters'>) {
  const added = clusters.names.flatMap((name) => {
    const cluster = clusters.get(name);
    return cluster === undefined ? [] : [{ cluster: name, cache: cluster.cache }];
  });
  return [{ cluster: undefined, cache } as { cluster: string | undefined; cache: Cache }, ...added];
}

/** The id of a `CacheState`. */
export function cacheId(cluster: string | undefined, informer: string): string {
  return cluster === undefined ? informer : `${cluster} ${informer}`;
}

interface Time {
  readonly now: number;
  readonly monotonic: number;
}

function controllerState(
  health: ControllerHealth,
  parts: {
    readonly kind: GroupVersionKind | undefined;
    readonly pending: readonly PendingKey<Request, readonly Cause[]>[];
    readonly tally: ReconcileTally | undefined;
    readonly time: Time;
  },
): ControllerState {
  const { kind, pending, tally, time } = parts;
  const { name, phase, waitingFor, queued, delayed, active, failing: notEnqueued } = health;
  const counts = new Map<number, { priority: number; ready: number; delayed: number }>();
  for (const { priority, dueMs } of pending) {
    const count = counts.get(priority) ?? { priority, ready: 0, delayed: 0 };
    counts.set(priority, count);
    if (dueMs === undefined) count.ready += 1;
    else count.delayed += 1;
  }
  return {
    ...{ id: name, kind, phase, waitingFor, queued, delayed, notEnqueued },
    priorities: [...counts.values()].sort((a, b) => b.priority - a.priority),
    waiting: pending.slice(0, mostWaiting).map(({ key, note = [], priority, dueMs }) => {
      const firstMs = note.reduce((earliest, { atMs }) => Math.min(earliest, atMs), Number.POSITIVE_INFINITY);
      return {
        ...{ key, priority, reasons: note },
        ...(Number.isFinite(firstMs) && dueMs === undefined && { since: tenth(time.now - (time.monotonic - firstMs)) }),
        ...(dueMs !== undefined && { dueAt: tenth(time.now + dueMs) }),
      };
    }),
    active: active.map(({ key, reconcileID, runningMs, isOverdue }) => {
      return { key, reconcileID, isOverdue, startedAt: tenth(time.now - runningMs) };
    }),
    failing: tally?.failing ?? 0,
    failingKeys: tally?.failingKeys ?? [],
    outcomes: tally?.outcomes ?? {},
    latency: tally?.takeLatency() ?? noLatency,
  };
}

function cacheStates(
  { kind, informers }: CacheHealth,
  parts: {
    readonly cluster: string | undefined;
    readonly time: Time;
    readonly bytes: ReadonlyMap<string, number>;
    readonly mask: StateSource['mask'];
  },
): readonly CacheState[] {
  const { cluster, time, bytes, mask } = parts;
  return informers.map((health: InformerHealth): CacheState => {
    const id = cacheId(cluster, health.name);
    const { synced, objects, phase, consecutiveFailures, failingObjects, missing, lastError, lastEventMs } = health;
    const size = bytes.get(id);
    return {
      ...{ id, kind: kind.gvk, synced, objects, phase, consecutiveFailures, failingObjects, missing },
      ...(cluster !== undefined && { cluster }),
      ...(size !== undefined && { bytes: size }),
      phaseSince: tenth(time.now - health.phaseMs),
      ...(lastEventMs !== undefined && { lastEventAt: tenth(time.now - lastEventMs) }),
      restarts: Math.max(0, health.watches - 1),
      ...(lastError !== undefined && { lastError: mask(describeError(lastError)) }),
      pending: health.handlers.reduce((sum, { pending }) => sum + pending, 0),
    };
  });
}

function clusterStates({ clusters, mask }: StateSource, caches: readonly CacheState[]): readonly ClusterState[] {
  const counted = (name: string | undefined) => {
    const own = caches.filter(({ cluster }) => cluster === name);
    return { caches: own.length, objects: own.reduce((sum, { objects }) => sum + objects, 0) };
  };
  const isOwnWell = caches.every(
    ({ cluster, consecutiveFailures }) => cluster !== undefined || consecutiveFailures === 0,
  );
  const added = clusters.names.map((name): ClusterState => {
    const failure = problemOf(() => clusters.get(name)?.check());
    const problem = failure === undefined ? undefined : mask(failure);
    return { id: name, healthy: problem === undefined, ...(problem !== undefined && { problem }), ...counted(name) };
  });
  return [{ id: '', healthy: isOwnWell, ...counted(undefined) }, ...added];
}

function webhookStates(calls: readonly WebhookRecord[]): readonly WebhookState[] {
  const byName = new Map<string, WebhookRecord[]>();
  for (const call of calls) {
    const own = byName.get(call.webhook);
    if (own === undefined) byName.set(call.webhook, [call]);
    else own.push(call);
  }
  return [...byName].map(([id, own]) => {
    const durations = own.map(({ durationMs }) => Math.round(durationMs * 100) / 100).sort((a, b) => a - b);
    const count = (wanted: WebhookRecord['outcome']) => own.filter(({ outcome }) => outcome === wanted).length;
    return {
      ...{ id, path: own.at(-1)?.path ?? '' },
      ...{ allowed: count('allowed'), denied: count('denied'), failed: count('failed') },
      ...{ p50: quantile(durations, 0.5), p95: quantile(durations, 0.95) },
    };
  });
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

/** To tenths of a second: a moment that is computed twice is the same one. */
function tenth(ms: number): number {
  return Math.round(ms / 100) * 100;
}
