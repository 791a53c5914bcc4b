import { numberAt } from '../../object/value/value-at.js';
import { stepCounter } from './check-generic-transitioning.js';
import type { AnyCondition } from './conditions-of.js';
import { amend, type Summarizer, type SummaryDraft } from './summary-draft.js';

/** Cluster API (v1beta2): `Ready` and `Available` gather what others say as lines `* Type: detail`. */
interface Bullet {
  readonly type: string;
  readonly detail: string;
}

/** The first line; where it has no detail, that of the first line below. */
function firstBullet(message: string): Bullet {
  const [first = '', ...rest] = message.split('\n');
  const line = first.replace(/^\* /, '');
  const [, type, detail] = /^(.*?):(?: (.*))?$/.exec(line) ?? [];
  if (type === undefined) return { type: '', detail: line };
  if (detail) return { type, detail };
  const below = rest.map((text) => text.trim()).find((text) => text.startsWith('* '));
  return { type, detail: below?.replace(/^\* (?:.*?: )?/, '') ?? '' };
}

const find = (conditions: readonly AnyCondition[], type: string) => conditions.find((c) => c.type === type);
const isTrue = (conditions: readonly AnyCondition[], type: string) => find(conditions, type)?.status === 'True';

/** Checked before everything else, for all of its kinds. */
function leaving(
  conditions: readonly AnyCondition[],
  draft: SummaryDraft,
  rewrite: (message: string) => string = (message) => message,
): SummaryDraft | undefined {
  const first = conditions.find(({ type, status }) => (type === 'Deleting' || type === 'Paused') && status === 'True');
  if (first === undefined) return undefined;
  if (first.type === 'Paused') return amend(draft, { state: 'paused', transitioning: true });
  return amend(draft, { state: 'deleting', transitioning: true }, rewrite(first.message));
}

const machine: Summarizer = (_, conditions, draft) => {
  const left = leaving(conditions, draft, (message) =>
    message.startsWith('Drain not completed yet') ? 'draining the node' : message,
  );
  if (left !== undefined) return left;
  const reconciled = find(conditions, 'Reconciled');
  if (reconciled !== undefined && reconciled.status !== 'True') {
    const isFailed = reconciled.status === 'False';
    return amend(draft, isFailed ? { state, error: true } : { state, transitioning: true }, reconciled.message);
  }
  const ready = find(conditions, 'Ready');
  if (ready === undefined || ready.status === 'True') return draft;
  const { type, detail } = firstBullet(ready.message);
  if (ready.status === 'Unknown') {
    const isWaiting = type === 'NodeHealthy' && detail.endsWith('to report spec.providerID');
    return amend(draft, { state, transitioning: true }, isWaiting ? '' : detail);
  }
  if (type === 'BootstrapConfigReady') {
    const isPlain = detail.endsWith('status.initialization.dataSecretCreated is false');
    return amend(draft, { state: 'waitingforinfrastructure', transitioning: true }, isPlain ? '' : detail);
  }
  if (type !== 'InfrastructureReady') return draft;
  const isPlain = detail.endsWith('status.initialization.provisioned is false') || stepCounter.test(detail);
  return amend(draft, { state: 'waitingfornoderef', transitioning: true }, isPlain ? '' : detail);
};
const state = 'reconciling';

interface Counts {
  readonly desired: number | undefined;
  readonly there: number | undefined;
  readonly ready: number | undefined;
  readonly upToDate: number | undefined;
}

/** A roll-out comes first: scaling up and down is a part of it. Counts show it before conditions do. */
function scaling(
  conditions: readonly AnyCondition[],
  draft: SummaryDraft,
  { desired, there, ready, upToDate }: Counts,
  names: { readonly down: string; readonly up: string; readonly what: string },
): SummaryDraft | undefined {
  if (isTrue(conditions, 'RollingOut')) {
    const old = there === undefined || upToDate === undefined ? undefined : there - upToDate;
    const message = old === undefined ? '' : `${old} ${names.what} are not up to date`;
    return amend(draft, { state: 'rollingout', transitioning: true }, message);
  }
  const isOver = desired !== undefined && there !== undefined && there > desired;
  if (isTrue(conditions, 'ScalingDown') || isOver) {
    const isKnown = desired !== undefined && there !== undefined;
    return amend(
      draft,
      { state: names.down, transitioning: true },
      isKnown ? `from ${there} down to ${desired} ${names.what}` : '',
    );
  }
  const isUnder = desired !== undefined && ready !== undefined && desired > ready;
  if (!isTrue(conditions, 'ScalingUp') && !isUnder) return undefined;
  const isKnown = desired !== undefined && ready !== undefined;
  return amend(
    draft,
    { state: names.up, transitioning: true },
    isKnown ? `from ${ready} up to ${desired} ${names.what}` : '',
  );
}

const machines: Summarizer = (object, conditions, draft) => {
  const counts = {
    desired: numberAt(object, 'spec', 'replicas'),
    there: numberAt(object, 'status', 'replicas'),
    ready: numberAt(object, 'status', 'readyReplicas'),
    upToDate: numberAt(object, 'status', 'upToDateReplicas'),
  };
  const names = { down: 'scalingdown', up: 'scalingup', what: 'replicas' };
  return leaving(conditions, draft) ?? scaling(conditions, draft, counts, names) ?? draft;
};

const cluster: Summarizer = (object, conditions, draft) => {
  const left = leaving(conditions, draft, (message) =>
    message.startsWith('* MachineDeployments') ? 'deleting workers' : message,
  );
  const workers = (field: string) => numberAt(object, 'status', 'workers', field);
  const counts = {
    ...{ desired: workers('desiredReplicas'), there: workers('replicas') },
    ...{ ready: workers('readyReplicas'), upToDate: workers('upToDateReplicas') },
  };
  const names = { down: 'updating', up: 'updating', what: 'machines' };
  const known = left ?? scaling(conditions, draft, counts, names);
  const available = find(conditions, 'Available');
  if (known !== undefined || available === undefined) return known ?? draft;
  if (available.status === 'Unknown') return amend(draft, { state: 'unavailable', error: true }, available.message);
  if (available.status !== 'False') return draft;
  const { type, detail } = firstBullet(available.message);
  return amend(draft, { state: 'updating', transitioning: true }, clusterMessages.get(type) ?? detail);
};
const clusterMessages: ReadonlyMap<string, string> = new Map([
  ['RemoteConnectionProbe', 'connecting to the control plane'],
  ['ControlPlaneAvailable', 'the control plane is not available yet'],
  ['MachineDeployment', 'workers are not available yet'],
]);

/** The rules of Cluster API's kinds. */
export const capiTransitions: ReadonlyMap<string, Summarizer> = new Map([
  ['Machine', machine],
  ['MachineSet', machines],
  ['MachineDeployment', machines],
  ['Cluster', cluster],
]);
