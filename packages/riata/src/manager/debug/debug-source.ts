import type { Client } from '../../client/interfaces.js';
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
}

/** A manager, as the debug endpoints see it. */
export function debugSource(manager: ShownManager, hidden: HiddenParts): DebugParts['source'] {
  const { controllers, elector, webhooks, client } = hidden;
  return {
    ...{ cache: manager.cache, clusters: manager.clusters, client },
    eventRecorder: (name) => manager.eventRecorder(name),
    get controllers() {
      return manager.controllers;
    },
    get explain() {
      return manager.explain;
    },
    get webhookCalls() {
      return manager.webhookCalls;
    },
    kinds: () => controllers.definitions,
    pending: (name, most) => controllers.pending(name, most),
    onReconciled: (listener) => controllers.onReconciled(listener),
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
