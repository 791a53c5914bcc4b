import type { ControllerPhase } from '../../controller/loop/controller-health.js';
import type { ReconcileRecord } from '../../controller/loop/reconcile-record.js';
import type { Cause, Request } from '../../controller/loop/request.js';
import type { FailingSourceObject } from '../../controller/source/source-failures.js';
import type { GroupVersionKind } from '../../object/gvk.js';
import type { WebhookRecord } from '../../webhook/webhook-route.js';

/** A key in the queue of a controller. */
export interface WaitingKey {
  readonly key: Request;
  readonly priority: number;
  /** When its first cause came; times are wall times, in milliseconds since the epoch. */
  readonly since?: number;
  /** Of a key that waits for its time. */
  readonly dueAt?: number;
  readonly reasons: readonly Cause[];
}

/** A key whose last reconcile failed. */
export interface FailingKey {
  readonly key: Request;
  readonly attempt: number;
  /** When it failed last. */
  readonly at: number;
  /** Undefined if it is not retried until the object changes. */
  readonly retryAt?: number;
  readonly outcome: string;
  readonly error: string;
  /** The line of user code, as `reconcile (/app/main.ts:41:12)`. */
  readonly errorAt?: string;
}

/** Milliseconds of the reconciles since the delta before. */
export interface LatencyState {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
  /** Between the first cause and the start. */
  readonly queuedP95: number;
  readonly queuedMax: number;
}

/** One controller of a {@link DebugState}. */
export interface ControllerState {
  /** Its name. */
  readonly id: string;
  readonly kind: GroupVersionKind | undefined;
  readonly phase: ControllerPhase;
  readonly waitingFor: readonly string[];
  readonly queued: number;
  readonly delayed: number;
  /** How many of the first 1,000 waiting keys have each priority. */
  readonly priorities: readonly { readonly priority: number; readonly ready: number; readonly delayed: number }[];
  /** The first 50. */
  readonly waiting: readonly WaitingKey[];
  readonly active: readonly {
    readonly key: Request;
    readonly reconcileID: string;
    readonly startedAt: number;
    readonly isOverdue: boolean;
  }[];
  readonly failing: number;
  /** The first 100 of them. */
  readonly failingKeys: readonly FailingKey[];
  /** Objects that a predicate, map function or the like fails for. */
  readonly notEnqueued: readonly FailingSourceObject[];
  /** Ended reconciles by outcome, since somebody looks. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly latency: LatencyState;
}

/** One informer of a {@link DebugState}. */
export interface CacheState {
  /** The cluster and the name of the informer. */
  readonly id: string;
  readonly cluster?: string;
  readonly kind: GroupVersionKind;
  readonly synced: boolean;
  readonly objects: number;
  /** Of the objects as JSON, estimated by a few of them. */
  readonly bytes?: number;
  readonly phase: string;
  /** When the phase began: the age of a watch. */
  readonly phaseSince: number;
  /** When the server last gave a list, an event or a bookmark. */
  readonly lastEventAt?: number;
  /** Watches after the first one. */
  readonly restarts: number;
  readonly consecutiveFailures: number;
  readonly lastError?: string;
  /** Changes that wait for handlers. */
  readonly pending: number;
  readonly failingObjects: number;
  readonly missing: number;
}

/** A cluster of a {@link DebugState}. */
export interface ClusterState {
  /** Its name; `''` for the manager's own. */
  readonly id: string;
  readonly healthy: boolean;
  readonly problem?: string;
  readonly caches: number;
  readonly objects: number;
}

/** A webhook of a {@link DebugState}, by its newest calls, at most 1,000 of all webhooks. */
export interface WebhookState {
  /** Its name. */
  readonly id: string;
  readonly path: string;
  readonly allowed: number;
  readonly denied: number;
  readonly failed: number;
  readonly p50: number;
  readonly p95: number;
}

/** What `/debug/stream` sends: sections that are lists have members with an `id`. */
export interface DebugState {
  readonly process: {
    readonly riata: string;
    readonly node: string;
    readonly startedAt: number;
    readonly rssBytes: number;
    readonly heapUsedBytes: number;
    /** Of one core, since the delta before. */
    readonly cpuPercent?: number;
    /** The longest block of the event loop since the delta before. */
    readonly loopLagMs: number;
  };
  readonly leader?: { readonly identity: string; readonly isLeader: boolean; readonly holder?: string };
  readonly shards?: {
    readonly identity: string;
    readonly members: readonly string[];
    /** The owner of each slot; null for a slot without one. */
    readonly owners: readonly (string | null)[];
  };
  readonly webhookServer?: { readonly url?: string; readonly certificateExpiresAt?: number };
  readonly controllers: readonly ControllerState[];
  readonly caches: readonly CacheState[];
  readonly clusters: readonly ClusterState[];
  readonly webhooks: readonly WebhookState[];
}

/** Sections of a {@link DebugState} that are lists. */
export const listSections = ['controllers', 'caches', 'clusters', 'webhooks'] as const;
/** The other ones. */
export const valueSections = ['process', 'leader', 'shards', 'webhookServer'] as const;

/** The data of the event `snapshot`: the first one, after each connect. */
export interface SnapshotEvent {
  /** Of this format. New members may come without a new version. */
  readonly version: 1;
  readonly at: number;
  readonly state: DebugState;
  /** The newest ones, oldest first. */
  readonly reconciles: readonly ReconcileRecord[];
  readonly webhookCalls: readonly WebhookRecord[];
}

/** The data of the event `delta`: what has changed since the delta or snapshot before. */
export interface DeltaEvent {
  readonly at: number;
  /** Of lists, members that are new or differ; values as a whole. */
  readonly changed: Partial<DebugState>;
  /** The ids of members that are gone, and `true` for values. */
  readonly removed: Readonly<Record<string, readonly string[] | true>>;
}

/** The data of the events `reconciles` and `webhookCalls`: what has ended since the one before. */
export interface RecordsEvent<T> {
  readonly at: number;
  readonly records: readonly T[];
  /** How many there were: if more than `records`, these are a sample, with all failures as far as they fit. */
  readonly seen: number;
}
