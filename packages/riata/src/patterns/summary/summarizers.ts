import { parseTime } from '../../object/time.js';
import { listAt, mapAt, numberAt, textAt, valueAt } from '../../object/value/value-at.js';
import { computeStatus } from '../status/compute-status.js';
import { capiTransitions } from './capi-transitions.js';
import { checkErrors } from './check-errors.js';
import { checkGenericTransitioning } from './check-generic-transitioning.js';
import { checkOperation, isOperation } from './check-operation.js';
import { checkApplyOwned, checkOwner, checkPodSelector, checkPodUses, checkRelease, isPod } from './relationships.js';
import { amend, type Summarizer } from './summary-draft.js';

/** How long finalizers may take before that is an error. */
const removalMs = 5 * 60_000;

/** The summary that an object carries itself. */
function ownSummary(object: unknown): Readonly<Record<string, unknown>> | undefined {
  return [mapAt(object, 'status', 'display'), mapAt(object, 'status', 'summary')].find(
    (map) => map !== undefined && Object.keys(map).length > 0,
  );
}

/** The summary by the rules of the kind. */
const checkStatusSummary: Summarizer = (object, _, draft) => {
  const own = ownSummary(object);
  if (own === undefined) return draft;
  const change = {
    ...('state' in own && { state: textAt(own, 'state') ?? '' }),
    ...('transitioning' in own && { transitioning: own.transitioning === true }),
    ...('error' in own && { error: own.error === true }),
  };
  return amend(draft, change, textAt(own, 'message'));
};

const checkTransitioning: Summarizer = (object, conditions, draft, context) => {
  const isCapi = object.apiVersion.startsWith('cluster.x-k8s.io/');
  const special = isCapi ? capiTransitions.get(object.kind) : isOperation(object) ? checkOperation : undefined;
  if (special === undefined && isPod(object)) return checkPodTransitioning(object, conditions, draft, context);
  return (special ?? checkGenericTransitioning)(object, conditions, draft, context);
};

/**
 * Conditions of Pods name the state, and kstatus judges it: they are `False` while a Pod starts, which is no error, and
 * stay so when it has ended.
 */
const checkPodTransitioning: Summarizer = (object, conditions, draft, context) => {
  const named = checkGenericTransitioning(object, conditions, draft, context);
  const phase = textAt(object, 'status', 'phase');
  const isOver = draft.state === '' && (phase === 'Succeeded' || phase === 'Failed');
  const state = isOver ? phase.toLowerCase() : named.state;
  const { status, message } = computeStatus(object, { clock: context.clock });
  const judged = { state, error: draft.error || status === 'Failed', transitioning: status === 'InProgress' };
  return amend(named, judged, status === 'Current' || status === 'Terminating' ? '' : message);
};

const checkActive: Summarizer = (object, _, draft) => {
  const active = valueAt(object, 'spec', 'active');
  if (draft.state !== '' || active === undefined) return draft;
  if (active === true || active === 'true') return { ...draft, state: 'active' };
  return active === false || active === 'false' ? { ...draft, state: 'inactive' } : draft;
};

const checkPhase: Summarizer = (object, _, draft) => {
  const phase = textAt(object, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Bound') return { ...draft, state: phase.toLowerCase(), transitioning: false };
  return phase !== undefined && draft.state === '' ? { ...draft, state: phase } : draft;
};

/** Those of Rancher get their conditions within seconds. */
const checkInitializing: Summarizer = (object, conditions, draft, { clock }) => {
  const created = textAt(object, 'metadata', 'creationTimestamp');
  const isEmpty = valueAt(object, 'status', 'conditions') !== undefined && conditions.length === 0;
  if (draft.state !== '' || !isEmpty || !object.apiVersion.includes('cattle.io') || created === undefined) return draft;
  if (clock.now() - parseTime(created) > 5_000) return draft;
  return { ...draft, state: 'initializing', transitioning: true };
};

const checkRemoving: Summarizer = (object, conditions, draft, { clock }) => {
  const removed = textAt(object, 'metadata', 'deletionTimestamp');
  if (removed === undefined) return draft;
  let next = amend(draft, { state: 'removing', transitioning: true });
  for (const { type, status, message } of conditions) {
    if (type === 'Removed' && (status === 'Unknown' || status === 'False')) next = amend(next, {}, message);
  }
  const finalizers = [...listAt(object, 'metadata', 'finalizers'), ...listAt(object, 'spec', 'finalizers')];
  const [first] = finalizers.filter((finalizer) => typeof finalizer === 'string');
  if (first === undefined) return next;
  const what = first === 'foregroundDeletion' ? 'object cleanup' : first.split('controller.cattle.io/').at(-1);
  const isLate = clock.now() - parseTime(removed) > removalMs;
  return amend(next, { error: next.error || isLate }, `waiting on ${what}`);
};

const checkStandard: Summarizer = (object, _, draft, { clock }) => {
  const { status, message } = computeStatus(object, { clock });
  if (draft.state !== '') {
    // A phase is a word, and some conditions know less than kstatus: the object is not better than that says.
    if (draft.error || isSettled(object)) return draft;
    if (status === 'Failed') return amend(draft, { error: true }, message);
    return status === 'InProgress' && !draft.transitioning ? amend(draft, { transitioning: true }, message) : draft;
  }
  if (status === 'InProgress') return amend(draft, { state: 'in-progress', transitioning: true }, message);
  if (status === 'Failed') return amend(draft, { state: 'failed', error: true }, message);
  return amend(draft, { state: 'active' }, message);
};

/** Whether the object itself says that there is nothing to wait for. */
function isSettled(object: unknown): boolean {
  const phase = textAt(object, 'status', 'phase');
  return phase === 'Succeeded' || phase === 'Bound' || ownSummary(object) !== undefined;
}

const checkLoadBalancer: Summarizer = (object, _, draft) => {
  const isOpen = draft.state === 'active' || draft.state === '';
  if (!isOpen || object.kind !== 'Service' || textAt(object, 'spec', 'type') !== 'LoadBalancer') return draft;
  if (listAt(object, 'status', 'loadBalancer', 'ingress').length > 0) return draft;
  return amend(draft, { state: 'pending', transitioning: true }, 'the load balancer has no address yet');
};

const checkGeneration: Summarizer = (object, _, draft, { hasObservedGeneration }) => {
  const generation = numberAt(object, 'metadata', 'generation');
  // A status that says "ready" may be outdated while no controller has observed the object.
  const isOpen = draft.state === '' || (draft.state === 'active' && !draft.error && !draft.transitioning);
  if (!hasObservedGeneration || generation === undefined || !isOpen) return draft;
  if (numberAt(object, 'status', 'observedGeneration') === generation) return draft;
  return amend(draft, { state: 'in-progress', transitioning: true }, `generation ${generation} is not observed yet`);
};

/** All, in the order in which they are asked: the first to name a state is mostly the one that counts. */
export const summarizers: readonly Summarizer[] = [
  ...[checkStatusSummary, checkErrors, checkTransitioning, checkActive, checkPhase, checkInitializing, checkRemoving],
  ...[checkStandard, checkLoadBalancer, checkPodUses, checkPodSelector, checkOwner, checkApplyOwned, checkRelease],
  checkGeneration,
];
