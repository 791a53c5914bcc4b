import type { AnyCondition } from './conditions-of.js';
import { amend, type Summarizer, type SummaryDraft } from './summary-draft.js';

/** Stands for the condition's own reason. */
const reason = '%REASON%';

/** `False` is an error, `Unknown` is on the way: the state is then called so. */
const transitioningUnknown: Readonly<Record<string, string>> = {
  ...{ Active: 'activating', AddonDeploy: 'provisioning', AgentDeployed: 'provisioning' },
  ...{ BackingNamespaceCreated: 'configuring', Built: 'building', CertsGenerated: 'provisioning' },
  ...{ ConfigOK: 'configuring', Created: 'creating', CreatorMadeOwner: 'configuring' },
  ...{ DefaultNamespaceAssigned: 'configuring', DefaultNetworkPolicyCreated: 'configuring' },
  ...{ DefaultProjectCreated: 'configuring', DockerProvisioned: 'provisioning', Deployed: 'deploying' },
  ...{ Drained: 'draining', Downloaded: 'downloading', etcd: 'provisioning', Inactive: 'deactivating' },
  ...{ Initialized: 'initializing', Installed: 'installing', NodesCreated: 'provisioning', Pending: 'pending' },
  ...{ PodScheduled: 'scheduling', Provisioned: 'provisioning', Reconciled: 'reconciling', Refreshed: 'refreshed' },
  ...{ Registered: 'registering', Removed: 'removing', Saved: 'saving', Updated: 'updating', Updating: 'updating' },
  ...{ Upgraded: 'upgrading', Waiting: 'waiting', InitialRolesPopulated: 'activating', ScalingActive: 'pending' },
  ...{ AbleToScale: 'pending', RunCompleted: 'running', Processed: 'processed' },
  ...{ NodeHealthy: reason, NodeReady: reason },
};

/** `False` is on the way, `Unknown` is an error. */
const transitioningFalse: Readonly<Record<string, string>> = {
  ...{ Completed: 'activating', Ready: 'unavailable', Available: 'updating' },
  ...{ BootstrapConfigReady: reason, InfrastructureReady: reason, MachinesReady: 'updating' },
};

/** `True` is on the way. */
const transitioningTrue: Readonly<Record<string, string>> = {
  ...{ Reconciling: 'reconciling', ScalingUp: reason, ScalingDown: reason, Deleting: reason, Paused: reason },
};

/** A count of steps, as some providers write it, is no help to a reader. */
export const stepCounter = /^\d+ of \d+ completed$/;

function stateOf(table: Readonly<Record<string, string>>, condition: AnyCondition): string | undefined {
  const state = Object.hasOwn(table, condition.type) ? table[condition.type] : undefined;
  return state === reason ? condition.reason : state;
}

/** The progress of an object by conditions of well-known types. */
export const checkGenericTransitioning: Summarizer = (_, conditions, draft) => {
  let next = byUnknown(conditions, draft);
  for (const condition of conditions) {
    if (next.state !== '') break;
    const state = stateOf(transitioningTrue, condition);
    if (state === undefined || condition.status !== 'True') continue;
    next = amend(next, { transitioning: true, state }, condition.message);
  }
  return byFalse(conditions, next);
};

function byUnknown(conditions: readonly AnyCondition[], draft: SummaryDraft): SummaryDraft {
  let next = draft;
  for (const condition of conditions) {
    const state = stateOf(transitioningUnknown, condition);
    if (state === undefined) continue;
    if (condition.status === 'False') next = amend(next, { error: true, state }, condition.message);
    else if (condition.status === 'Unknown' && next.state === '') {
      next = amend(next, { transitioning: true, state }, condition.message);
    }
  }
  return next;
}

function byFalse(conditions: readonly AnyCondition[], draft: SummaryDraft): SummaryDraft {
  let next = draft;
  let unready: string | undefined;
  for (const condition of conditions) {
    if (next.state !== '') break;
    // Others say more than Ready does: it comes last.
    if (condition.type === 'Ready' && condition.status === 'False') {
      unready = stepCounter.test(condition.message) ? '' : condition.message;
      continue;
    }
    const state = stateOf(transitioningFalse, condition);
    if (state === undefined) continue;
    if (condition.status === 'False') next = amend(next, { transitioning: true, state }, condition.message);
    else if (condition.status === 'Unknown') next = amend(next, { error: true, state }, condition.message);
  }
  if (next.state !== '' || unready === undefined) return next;
  return amend(next, { transitioning: true, state: 'unavailable' }, unready);
}
