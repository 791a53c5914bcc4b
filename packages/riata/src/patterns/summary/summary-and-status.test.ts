import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatTime } from '../../object/time.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { computeStatus } from '../status/compute-status.js';
import type { ObjectState } from '../status/status-rules.js';
import { statusRules } from '../status/status-rules.js';
import { summarize } from './summary.js';

const clock = new VirtualClock();
const condition = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message });
/** From good to bad. */
const ranks: readonly ObjectState[] = ['Current', 'InProgress', 'Failed'];

/** `group/Kind` as an object has it. */
function typeOf(key: string): { readonly apiVersion: string; readonly kind: string } {
  const [group, kind] = key.includes('/') ? (key.split('/') as [string, string]) : ['', key];
  return { apiVersion: group === '' ? 'v1' : `${group}/v1`, kind };
}

/** Kinds that kstatus has no rule for, and summaries know conditions of. */
const others = [
  'Node',
  'PersistentVolume',
  'Namespace',
  'autoscaling/HorizontalPodAutoscaler',
  'example.com/Foo',
].concat('apiregistration.k8s.io/APIService');
const kinds = [...statusRules.keys(), ...others];

const seconds = (ago: number) => formatTime(clock.now() - ago * 1000);
const count = fc.nat(3);
const object = fc.record({
  metadata: fc.record(
    {
      generation: fc.constantFrom(1, 2),
      creationTimestamp: fc.constantFrom(seconds(5), seconds(60)),
      deletionTimestamp: fc.constant(seconds(1)),
    },
    { requiredKeys: ['creationTimestamp'] },
  ),
  spec: fc.record(
    {
      replicas: count,
      progressDeadlineSeconds: fc.constant(600),
      type: fc.constantFrom('ClusterIP', 'LoadBalancer'),
      clusterIP: fc.constant('10.0.0.1'),
      updateStrategy: fc.record({ type: fc.constantFrom('OnDelete', 'RollingUpdate') }),
    },
    { requiredKeys: [] },
  ),
  status: fc.record(
    {
      ...{ observedGeneration: fc.constantFrom(1, 2), startTime: fc.constant(seconds(1)) },
      phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Bound', 'Lost', 'Available', 'Active'),
      ...{ replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count },
      ...{ currentReplicas: count, fullyLabeledReplicas: count, desiredNumberScheduled: count },
      ...{ currentNumberScheduled: count, updatedNumberScheduled: count, numberAvailable: count, numberReady: count },
      containerStatuses: fc.constant([{ name: 'a', state: { waiting: { reason: 'CrashLoopBackOff' } } }]),
      conditions: fc.uniqueArray(
        fc.record({
          type: fc.constantFrom(
            ...['Ready', 'Available', 'Progressing', 'Stalled', 'Reconciling', 'Failed', 'Complete', 'Suspended'],
            ...['PodScheduled', 'Initialized', 'ContainersReady', 'NamesAccepted', 'Established', 'ReplicaFailure'],
            ...['ScalingActive', 'MemoryPressure'],
          ),
          status: fc.constantFrom('True', 'False', 'Unknown'),
          reason: fc.constantFrom(
            '',
            'Unschedulable',
            'ProgressDeadlineExceeded',
            'NewReplicaSetAvailable',
            'Installing',
          ),
          message: fc.constant(''),
        }),
        { selector: ({ type }) => type, maxLength: 4 },
      ),
    },
    { requiredKeys: [] },
  ),
});

describe('summarize and computeStatus', () => {
  test.each(kinds)('%s: a summary is never better than kstatus, and worse only where conditions say more', (key) => {
    fc.assert(
      fc.property(object, (rest) => {
        const given = { ...typeOf(key), ...rest };
        const { status: judged } = computeStatus(given, { clock });
        const { status, error, transitioning } = summarize(given, { clock });
        if (judged === 'Terminating') {
          expect(status).toBe('Terminating');
          return;
        }
        expect(status).toBe(error ? 'Failed' : transitioning ? 'InProgress' : 'Current');
        // Wrangler takes these two words for the last one, whatever the kind.
        const isSettled = rest.status.phase === 'Bound' || rest.status.phase === 'Succeeded';
        if (!isSettled) expect(ranks.indexOf(status)).toBeGreaterThanOrEqual(ranks.indexOf(judged));
        const isBalancer = key === 'Service' && rest.spec.type === 'LoadBalancer';
        const isPlain = (rest.status.conditions ?? []).length === 0 && !isBalancer;
        const isFailure = (rest.status.conditions ?? []).some(
          ({ type, status: is }) => (type === 'Stalled' || type === 'Failed') && is === 'True',
        );
        if ((isPlain && !isSettled) || (key === 'Pod' && !isFailure && !isSettled)) expect(status).toBe(judged);
      }),
      { numRuns: Number(process.env.RIATA_RUNS ?? 150) },
    );
  });

  const starting = [condition('PodScheduled', 'True'), condition('Initialized', 'True')];
  const unready = [condition('Ready', 'False', 'ContainersNotReady', 'containers with unready status: [a]')];
  const crashing = [{ name: 'a', state: { waiting: { reason: 'CrashLoopBackOff' } } }];
  const unplaced = condition('PodScheduled', 'False', 'Unschedulable', '0/3 nodes are available');
  test.each<[string, object, number, string]>([
    ['nobody has looked at it', {}, 1, 'in-progress InProgress'],
    ['pending', { phase: 'Pending' }, 1, 'pending InProgress'],
    ['no node yet', { phase: 'Pending', conditions: [unplaced] }, 1, 'scheduling InProgress'],
    ['no node for long', { phase: 'Pending', conditions: [unplaced] }, 60, 'scheduling Failed'],
    [
      'init containers run',
      { phase: 'Pending', conditions: [condition('Initialized', 'False', 'ContainersNotInitialized'), ...unready] },
      60,
      'initializing InProgress',
    ],
    ['images are pulled', { phase: 'Pending', conditions: [...starting, ...unready] }, 60, 'unavailable InProgress'],
    ['not ready', { phase: 'Running', conditions: [...starting, ...unready] }, 60, 'unavailable InProgress'],
    [
      'crashing',
      { phase: 'Running', conditions: [...starting, ...unready], containerStatuses: crashing },
      60,
      'unavailable Failed',
    ],
    ['ready', { phase: 'Running', conditions: [...starting, condition('Ready', 'True')] }, 60, 'running Current'],
    [
      'ended well',
      { phase: 'Succeeded', conditions: [...starting, condition('Ready', 'False', 'PodCompleted')] },
      60,
      'succeeded Current',
    ],
    [
      'ended, but not well',
      { phase: 'Failed', conditions: [...starting, condition('Ready', 'False', 'PodFailed')] },
      60,
      'failed Current',
    ],
  ])('Pod: %s', (_, status, age, expected) => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { creationTimestamp: seconds(age) }, status };
    const { state, status: summarized } = summarize(pod, { clock });
    expect(`${state} ${summarized}`).toBe(expected);
    expect(computeStatus(pod, { clock }).status).toBe(summarized);
  });

  test.each<[string, object, string]>([
    ['PersistentVolumeClaim', { phase: 'Pending' }, 'pending InProgress'],
    ['PersistentVolumeClaim', { phase: 'Lost' }, 'lost InProgress'],
    ['PersistentVolumeClaim', { phase: 'Bound' }, 'bound Current'],
    ['batch/Job', { conditions: [condition('Suspended', 'True', 'JobSuspended')] }, 'active Current'],
    ['batch/Job', { conditions: [condition('Failed', 'True', 'BackoffLimitExceeded', 'no')] }, 'error Failed'],
    ['example.com/Foo', { phase: 'Running', observedGeneration: 1 }, 'running InProgress'],
    [
      'apps/Deployment',
      { conditions: [condition('Available', 'False'), condition('Stalled', 'True', '', 'no')] },
      'updating Failed',
    ],
  ])('%s with %j: %s', (key, status, expected) => {
    const given = { ...typeOf(key), metadata: { generation: 2 }, status };
    const { state, status: summarized } = summarize(given, { clock });
    expect([`${state} ${summarized}`, computeStatus(given, { clock }).status]).toEqual([expected, summarized]);
  });
});
