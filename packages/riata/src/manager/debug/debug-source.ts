import type { Client } from '../../client/interfaces.js';
import type { ReconcileRecord } from '../../controller/loop/reconcile-record.js';
import type { LeaderElector } from '../election/leader-elector.js';
import type { EventRecorder } from '../events/event-recorder.js';
import type { ManagedControllers } from '../managed-controllers.js';
import type { ShardRing } from '../sharding/shard-ring.js';
import type { ManagedWebhooks } from '../webhook-options.js';
import type { StateSource } from './collect-state.js';
import type { DebugParts } from './debug-routes.js';

/** A manager, from outside. */
export interface ShownManager
  extends Pick<StateSource, 'cache' | 'clusters' | 'controllers' | 'explain' | 'webhookCalls'> {
  readonly shards: ShardRing | undefined;
  eventRecorder(name: string): EventRecorder;
}

/** The parts of a manager that only itself knows. */
export interface HiddenParts {
  readonly controllers: ManagedControllers;
  readonly elector: LeaderElector | undefined;
  readonly webhooks: () => ManagedWebhooks | undefined;
  /** Asks the API server, always. */
  readonly client: Client;
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
}

/** A manager, as the debug endpoints see it: texts of errors come masked. */
export function debugSource(manager: ShownManager, hidden: HiddenParts): DebugParts['source'] {
  const { controllers, elector, webhooks, client, mask } = hidden;
  const { groups } = controllers;
  const maskedRecord = (record: ReconcileRecord): ReconcileRecord =>
    record.error === undefined ? record : { ...record, error: mask(record.error) };
  return {
    ...{ cache: manager.cache, clusters: manager.clusters, client, mask },
    eventRecorder: (name) => manager.eventRecorder(name),
    get controllers() {
      return [...manager.controllers, ...groups.health].map((health) => {
        if (health.failing.length === 0) return health;
        const failing = health.failing.map((each) => ({ ...each, error: mask(textOf(each.error)) }));
        return { ...health, failing };
      });
    },
    get explain() {
      const shared = groups.explain;
      const all = shared.length === 0 ? manager.explain : [...manager.explain, ...shared].sort(byStart);
      return all.map(maskedRecord);
    },
    get webhookCalls() {
      return manager.webhookCalls;
    },
    kinds: () => [...controllers.definitions, ...groups.kinds],
    pending: (name, most) => {
      const own = controllers.pending(name, most);
      return own.length > 0 ? own : groups.pending(name, most);
    },
    onReconciled: (listener) => {
      const masking = (record: ReconcileRecord) => listener(maskedRecord(record));
      const ends = [controllers.onReconciled(masking), groups.onReconciled(masking)];
      return {
        [Symbol.dispose]: () => {
          for (const end of ends) end[Symbol.dispose]();
        },
      };
    },
    leader: () => {
      if (elector === undefined) return undefined;
      const { identity, isLeader, observedLeader: holder } = elector;
      return { identity, isLeader, ...(holder && { holder }) };
    },
    shards: () =>
      manager.shards && {
        identity: manager.shards.identity,
        members: manager.shards.members,
        owners: manager.shards.owners,
      },
    webhookServer: () => {
      const served = webhooks();
      if (served === undefined) return undefined;
      const { url, certificateExpiresAt } = served;
      return { ...(url && { url }), ...(certificateExpiresAt !== undefined && { certificateExpiresAt }) };
    },
  };
}

function byStart(a: ReconcileRecord, b: ReconcileRecord): number {
  return a.startedAt - b.startedAt;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
