import { describe, expect, test } from 'vitest';
import { formatTime } from '../../object/time.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { computeStatus } from './compute-status.js';

const meta = { name: 'a', generation: 2 };

function statusOf(apiVersion: string, kind: string, rest: object): string {
  const { status, reason } = computeStatus({ apiVersion, kind, metadata: meta, ...rest } as never);
  return reason === '' ? status : `${status} ${reason}`;
}

const condition = (type: string, status: string, reason = '', message = '') => ({ type, status, reason, message });

describe('what holds for all kinds', () => {
  test('deletion comes first, then the generation, then Reconciling and Stalled, then Ready', () => {
    const conditions = [condition('Stalled', 'True', 'NoRoom'), condition('Ready', 'False', 'Wait')];
    const deleting = { ...meta, deletionTimestamp: formatTime(0) };
    const stale = { observedGeneration: 1, conditions };
    expect(statusOf('example.com/v1', 'Foo', { metadata: deleting, status: stale })).toBe('Terminating');
    expect(statusOf('example.com/v1', 'Foo', { status: stale })).toBe('InProgress LatestGenerationNotObserved');
    expect(statusOf('example.com/v1', 'Foo', { status: { conditions } })).toBe('Failed NoRoom');
    const busy = [condition('Reconciling', 'True', 'Busy'), ...conditions];
    expect(statusOf('example.com/v1', 'Foo', { status: { conditions: busy } })).toBe('InProgress Busy');
    expect(statusOf('example.com/v1', 'Foo', { status: { conditions: conditions.slice(1) } })).toBe('InProgress Wait');
    const ready = [condition('Stalled', 'False'), condition('Ready', 'True')];
    expect(statusOf('example.com/v1', 'Foo', { status: { observedGeneration: 2, conditions: ready } })).toBe('Current');
  });

  test('what says nothing, or nothing that can be read, is current', () => {
    expect(statusOf('example.com/v1', 'Foo', {})).toBe('Current');
    const odd = { conditions: ['?', null, { status: 'True' }, condition('Ready', 'Maybe')], observedGeneration: 'x' };
    expect(statusOf('example.com/v1', 'Foo', { status: odd })).toBe('Current');
    expect(statusOf('v1', 'ConfigMap', {})).toBe('Current');
  });
});

describe('built-in kinds', () => {
  const full = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, readyReplicas: 3 };
  const progress = condition('Progressing', 'True', 'NewReplicaSetAvailable');
  const available = condition('Available', 'True');
  test.each([
    ['nobody has begun', {}, 'InProgress LessReplicas'],
    ['some are of the old template', { ...full, updatedReplicas: 2 }, 'InProgress LessUpdated'],
    ['some have to end', { ...full, replicas: 4 }, 'InProgress ExtraPods'],
    ['some are not available', { ...full, availableReplicas: 2 }, 'InProgress LessAvailable'],
    ['some are not ready', { ...full, readyReplicas: 2 }, 'InProgress LessReady'],
    ['no word of the new ReplicaSet', full, 'InProgress ReplicaSetNotAvailable'],
    ['not available', { ...full, conditions: [progress] }, 'InProgress DeploymentNotAvailable'],
    ['all is well', { ...full, conditions: [progress, available] }, 'Current'],
    [
      'too late',
      { ...full, conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] },
      'Failed ProgressDeadlineExceeded',
    ],
  ])('Deployment: %s', (_, status, expected) => {
    const spec = { replicas: 3, progressDeadlineSeconds: 600 };
    expect(statusOf('apps/v1', 'Deployment', { spec, status })).toBe(expected);
  });

  test.each([
    ['StatefulSet', {}, 'InProgress LessReplicas'],
    ['StatefulSet', { replicas: 3 }, 'InProgress LessReady'],
    ['StatefulSet', { replicas: 4, readyReplicas: 3 }, 'InProgress ExtraPods'],
    ['StatefulSet', { replicas: 3, readyReplicas: 3, currentReplicas: 2 }, 'InProgress LessCurrent'],
    [
      'StatefulSet',
      { replicas: 3, readyReplicas: 3, currentReplicas: 3, currentRevision: 'a', updateRevision: 'b' },
      'InProgress RevisionMismatch',
    ],
    ['StatefulSet', { replicas: 3, readyReplicas: 3, currentReplicas: 3 }, 'Current'],
    ['ReplicaSet', {}, 'InProgress LessLabelled'],
    ['ReplicaSet', { conditions: [condition('ReplicaFailure', 'True')] }, 'InProgress ReplicaFailure'],
    ['ReplicaSet', { ...full, fullyLabeledReplicas: 3 }, 'Current'],
    ['DaemonSet', {}, 'InProgress NoObservedGeneration'],
    ['DaemonSet', { observedGeneration: 2 }, 'InProgress NoDesiredNumber'],
    ['DaemonSet', { observedGeneration: 2, desiredNumberScheduled: 1 }, 'InProgress LessCurrent'],
    ['DaemonSet', { observedGeneration: 2, desiredNumberScheduled: 0 }, 'Current'],
  ])('%s with %j', (kind, status, expected) => {
    expect(statusOf('apps/v1', kind, { spec: { replicas: 3 }, status })).toBe(expected);
  });

  test('a StatefulSet that is rolled out in part, or by hand', () => {
    const status = { replicas: 3, readyReplicas: 3, updatedReplicas: 1 };
    const spec = (partition: number) => ({ replicas: 3, updateStrategy: { rollingUpdate: { partition } } });
    expect(statusOf('apps/v1', 'StatefulSet', { spec: spec(1), status })).toBe('InProgress PartitionRollout');
    expect(statusOf('apps/v1', 'StatefulSet', { spec: spec(2), status })).toBe('Current');
    expect(statusOf('apps/v1', 'StatefulSet', { spec: { updateStrategy: { type: 'OnDelete' } } })).toBe('Current');
  });

  test.each([
    ['batch/v1', 'Job', {}, 'InProgress JobNotStarted'],
    ['batch/v1', 'Job', { startTime: formatTime(0), active: 1 }, 'Current'],
    ['batch/v1', 'Job', { conditions: [condition('Complete', 'True')] }, 'Current'],
    ['batch/v1', 'Job', { conditions: [condition('Failed', 'True')] }, 'Failed JobFailed'],
    ['batch/v1', 'CronJob', {}, 'Current'],
    ['v1', 'Pod', {}, 'InProgress PodNotObserved'],
    ['v1', 'Pod', { phase: 'Pending' }, 'InProgress PodPending'],
    ['v1', 'Pod', { phase: 'Running' }, 'InProgress PodRunningNotReady'],
    ['v1', 'Pod', { phase: 'Running', conditions: [condition('Ready', 'True')] }, 'Current'],
    ['v1', 'Pod', { phase: 'Succeeded' }, 'Current'],
    ['v1', 'Pod', { phase: 'Failed' }, 'Current'],
    ['v1', 'PersistentVolumeClaim', { phase: 'Pending' }, 'InProgress NotBound'],
    ['v1', 'PersistentVolumeClaim', { phase: 'Bound' }, 'Current'],
    ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', {}, 'InProgress Installing'],
    [
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      { conditions: [condition('NamesAccepted', 'False', 'Taken')] },
      'Failed Taken',
    ],
    [
      'apiextensions.k8s.io/v1',
      'CustomResourceDefinition',
      { conditions: [condition('NamesAccepted', 'True'), condition('Established', 'True')] },
      'Current',
    ],
  ])('%s %s with %j', (apiVersion, kind, status, expected) => {
    expect(statusOf(apiVersion, kind, { spec: {}, status })).toBe(expected);
  });

  test('a Service waits for nothing but the address of a load balancer', () => {
    expect(statusOf('v1', 'Service', { spec: {} })).toBe('Current');
    expect(statusOf('v1', 'Service', { spec: { type: 'LoadBalancer' } })).toBe('InProgress NoIPAssigned');
    expect(statusOf('v1', 'Service', { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } })).toBe('Current');
  });

  test('containers that crash again and again are named', () => {
    const waiting = (name: string, reason: string) => ({ name, state: { waiting: { reason } } });
    const containerStatuses = [waiting('a', 'CrashLoopBackOff'), waiting('b', 'PodInitializing')];
    const pod = { apiVersion: 'v1', kind: 'Pod', status: { phase: 'Running', containerStatuses } };
    expect(computeStatus(pod)).toEqual({
      ...{ status: 'Failed', reason: 'ContainerCrashLooping' },
      message: 'containers are crash-looping: a',
    });
  });

  test('an unschedulable Pod has failed after 15 s', async () => {
    const clock = new VirtualClock();
    const creationTimestamp = formatTime(clock.now());
    const conditions = [condition('PodScheduled', 'False', 'Unschedulable', 'no room')];
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { creationTimestamp },
      status: { phase: 'Pending', conditions },
    };
    expect(computeStatus(pod, { clock })).toMatchObject({ status: 'InProgress', reason: 'PodNotScheduled' });
    await clock.advance(16_000);
    expect(computeStatus(pod, { clock })).toMatchObject({
      status: 'Failed',
      message: expect.stringContaining('no room'),
    });
  });
});
