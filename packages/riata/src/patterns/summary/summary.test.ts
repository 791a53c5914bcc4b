import { describe, expect, test } from 'vitest';
import { formatTime } from '../../object/time.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { formatSummary, isReadySummary, normalizeConditions, summarize } from './summary.js';

const condition = (type: string, status: string, message = '', reason = '') => ({ type, status, reason, message });
const withConditions = (...conditions: object[]) => ({ status: { conditions } });

/** `state status, message`, with `!` for an error and `~` for a transition. */
function reported(apiVersion: string, kind: string, rest: object): string {
  const { state, status, error, transitioning, message } = summarize({ apiVersion, kind, ...rest } as never);
  return `${state}${error ? '!' : ''}${transitioning ? '~' : ''} ${status}${message.map((text) => `, ${text}`).join('')}`;
}

describe('any kind', () => {
  test.each([
    ['says nothing', {}, 'active Current, the object exists'],
    ['Ready', withConditions(condition('Ready', 'True')), 'active Current, the object is ready'],
    ['not Ready', withConditions(condition('Ready', 'False', 'wait')), 'unavailable~ InProgress, wait'],
    ['a count of steps', withConditions(condition('Ready', 'False', '2 of 5 completed')), 'unavailable~ InProgress'],
    [
      'Ready says less than others',
      withConditions(condition('Ready', 'False', 'wait'), condition('Available', 'False', 'no address')),
      'updating~ InProgress, no address',
    ],
    ['Available is unknown', withConditions(condition('Available', 'Unknown', '?')), 'updating! Failed, ?'],
    ['Deployed is false', withConditions(condition('Deployed', 'False', 'no image')), 'deploying! Failed, no image'],
    ['Deployed is unknown', withConditions(condition('Deployed', 'Unknown', 'soon')), 'deploying~ InProgress, soon'],
    [
      'NodeHealthy by its reason',
      withConditions(condition('NodeHealthy', 'Unknown', '', 'Booting')),
      'booting~ InProgress',
    ],
    ['Reconciling', withConditions(condition('Reconciling', 'True', 'busy')), 'reconciling~ InProgress, busy'],
    ['Stalled', withConditions(condition('Stalled', 'True', 'no room')), 'error! Failed, no room'],
    ['an error by its reason', withConditions(condition('Own', 'False', 'no', 'Error')), 'error! Failed, no'],
    [
      'said twice',
      withConditions(condition('Failed', 'True', 'no'), condition('Stalled', 'True', ' no ')),
      'error! Failed, no',
    ],
    ['active', { spec: { active: true } }, 'active Current'],
    ['inactive', { spec: { active: false } }, 'inactive Current'],
    ['a phase', { status: { phase: 'Running' } }, 'running Current'],
    ['Bound', { status: { phase: 'Bound', conditions: [condition('Ready', 'False')] } }, 'bound Current'],
    [
      'its own summary',
      { status: { summary: { state: 'Deployed', error: false, transitioning: true, message: 'almost' } } },
      'deployed~ InProgress, almost',
    ],
    ['its display before its summary', { status: { display: { state: 'a' }, summary: { state: 'b' } } }, 'a Current'],
    [
      'conditions in an annotation',
      {
        metadata: {
          annotations: { 'cattle.io/status': JSON.stringify({ conditions: [condition('Stalled', 'True')] }) },
        },
      },
      'error! Failed',
    ],
    [
      'an annotation of others',
      { metadata: { annotations: { 'cattle.io/status': '{' } } },
      'active Current, the object exists',
    ],
  ])('%s', (_, rest, expected) => {
    expect(reported('example.com/v1', 'Foo', rest)).toBe(expected);
  });

  test('what is being deleted says what it waits for, and that it takes too long', () => {
    const clock = new VirtualClock();
    const at = (ago: number, finalizers?: string[]) => {
      const metadata = { deletionTimestamp: formatTime(clock.now() - ago), finalizers };
      const object = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata,
        ...withConditions(condition('Ready', 'False', 'wait')),
      };
      return summarize(object, { clock });
    };
    expect(at(0)).toMatchObject({ state: 'removing', status: 'Terminating', error: false, message: ['wait'] });
    expect(at(0, ['controller.cattle.io/nodes']).message).toContain('waiting on nodes');
    expect(at(0, ['foregroundDeletion']).message).toContain('waiting on object cleanup');
    expect(at(6 * 60_000, ['example.com/a'])).toMatchObject({
      status: 'Terminating',
      error: true,
      transitioning: true,
    });
  });

  test('a kind that keeps the generation it has looked at has not looked at what has none', () => {
    const foo = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { generation: 2 } };
    expect(summarize(foo).state).toBe('active');
    expect(summarize(foo, { hasObservedGeneration: true })).toMatchObject({
      state: 'in-progress',
      status: 'InProgress',
    });
    const seen = { ...foo, status: { observedGeneration: 2 } };
    expect(summarize(seen, { hasObservedGeneration: true }).state).toBe('active');
  });

  test('which conditions mean an error can be said', () => {
    const foo = { apiVersion: 'example.com/v1', kind: 'Foo', ...withConditions(condition('Cold', 'True', 'too cold')) };
    expect(summarize(foo).error).toBe(false);
    const errorConditions = { 'example.com/v1, Kind=Foo': { Cold: ['True'], Stalled: [] } };
    expect(summarize(foo, { errorConditions })).toMatchObject({ state: 'error', message: ['too cold'] });
    const stalled = { ...foo, ...withConditions(condition('Stalled', 'True')) };
    expect(summarize(stalled, { errorConditions }).state).toBe('failed');
    expect(normalizeConditions(foo, { errorConditions })).toEqual([
      { ...condition('Cold', 'True', 'too cold'), error: true, transitioning: false },
    ]);
  });

  test('a summary in a line', () => {
    const foo = (...conditions: object[]) => ({
      apiVersion: 'example.com/v1',
      kind: 'Foo',
      ...withConditions(...conditions),
    });
    const active = summarize(foo());
    expect([formatSummary(active), isReadySummary(active)]).toEqual(['active', true]);
    const busy = summarize(foo(condition('Deployed', 'Unknown')));
    expect([formatSummary(busy), isReadySummary(busy)]).toEqual(['[progressing]', false]);
    const bad = summarize(foo(condition('Stalled', 'True', 'no room'), condition('Deployed', 'Unknown', 'soon')));
    expect(formatSummary(bad)).toBe('[error] no room');
  });
});

describe('built-in kinds', () => {
  test('Deployments, Nodes and Services', () => {
    const spec = { replicas: 2 };
    expect(reported('apps/v1', 'Deployment', { spec })).toBe('in-progress~ InProgress, 0 of 2 replicas are created');
    const stuck = withConditions(condition('Progressing', 'False', 'too late'));
    expect(reported('apps/v1', 'Deployment', { spec, ...stuck })).toBe('error! Failed, too late');
    const node = withConditions(condition('MemoryPressure', 'True', 'low'), condition('Ready', 'True'));
    expect(reported('v1', 'Node', node)).toBe('error! Failed, low');
    const balancer = { spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1' } };
    expect(reported('v1', 'Service', balancer)).toMatch(/^pending~ InProgress/);
    const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } };
    expect(reported('v1', 'Service', { ...balancer, status })).toMatch(/^active Current/);
  });

  test('relationships: owners, sets, Pods, and what Pods use', () => {
    const metadata = {
      ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Foo', name: 'a', uid: '1', controller: true }],
    };
    const env = (kind: string, name: string) => ({ valueFrom: { [`${kind}KeyRef`]: { name } } });
    const podSpec = {
      serviceAccountName: 'robot',
      imagePullSecrets: [{ name: 'pull' }],
      volumes: [
        { configMap: { name: 'settings' } },
        { persistentVolumeClaim: { claimName: 'disk' } },
        { projected: { sources: [{ secret: { name: 'token' } }, { configMap: { name: 'settings' } }] } },
      ],
      initContainers: [{ env: [env('secret', 'first')] }],
      containers: [{ envFrom: [{ configMapRef: { name: 'env' } }], env: [env('configMap', 'more')] }],
    };
    const selector = { matchLabels: { app: 'a' } };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { selector, template: { spec: podSpec } },
    };
    const lines = (object: Parameters<typeof summarize>[0]) =>
      summarize(object).relationships.map(({ type, kind, name = '' }) => `${type} ${kind} ${name}`.trim());
    const uses = [
      ...['ConfigMap settings', 'PersistentVolumeClaim disk', 'Secret token', 'Secret first', 'ConfigMap env'],
      ...['ConfigMap more', 'ServiceAccount robot', 'Secret pull'],
    ].map((what) => `uses ${what}`);
    expect(lines(deployment)).toEqual([...uses, 'creates Pod', 'owner Foo a']);
    expect(summarize(deployment).relationships.at(-1)).toMatchObject({ controlledBy: true, inbound: true });
    const pod = { apiVersion: 'v1', kind: 'Pod', spec: podSpec };
    expect(lines(pod)).toEqual(uses);
    const service = { apiVersion: 'v1', kind: 'Service', spec: { selector: { app: 'a' } } };
    expect(summarize(service).relationships).toEqual([{ kind: 'Pod', apiVersion: 'v1', type: 'selects', selector }]);
    const annotations = {
      'objectset.rio.cattle.io/owner-gvk': '/v1, Kind=ConfigMap',
      'objectset.rio.cattle.io/owner-name': 'a',
      'objectset.rio.cattle.io/owner-namespace': 'shop',
    };
    expect(summarize({ apiVersion: 'v1', kind: 'Secret', metadata: { annotations } } as never).relationships).toEqual([
      { kind: 'ConfigMap', apiVersion: 'v1', name: 'a', namespace: 'shop', type: 'applies', inbound: true },
    ]);
    const app = {
      ...{ apiVersion: 'catalog.cattle.io/v1', kind: 'App', status: { summary: { state: 'deployed' } } },
      spec: { resources: [{ kind: 'Secret', apiVersion: 'v1', name: 'a', namespace: 'shop' }] },
    };
    expect(lines(app)).toEqual(['helmresource Secret a']);
    expect(lines({ ...app, apiVersion: 'example.com/v1' } as never)).toEqual([]);
  });
});

describe("Rancher's operations and Cluster API", () => {
  test.each([
    ['not begun', [], 'pending~ InProgress'],
    ['failed', [condition('InProgress', 'True'), condition('Failed', 'True', 'no')], 'failed! Failed, no'],
    ['done', [condition('Succeeded', 'True'), condition('Paused', 'True')], 'succeeded Current'],
    ['at work', [condition('Pending', 'True'), condition('InProgress', 'True')], 'in-progress~ InProgress'],
  ])('an operation: %s', (_, conditions, expected) => {
    expect(reported('operation.cattle.io/v1', 'ETCDSnapshotSave', withConditions(...conditions))).toBe(expected);
  });

  test('an object of Rancher that is new', () => {
    const creationTimestamp = formatTime(1_000_000);
    const clock = new VirtualClock({ start: 1_003_000 });
    const object = {
      apiVersion: 'management.cattle.io/v3',
      kind: 'Project',
      metadata: { creationTimestamp },
      status: { conditions: [] },
    };
    expect(summarize(object, { clock })).toMatchObject({ state: 'initializing', status: 'InProgress' });
    expect(summarize(object, { clock: new VirtualClock({ start: 1_100_000 }) }).state).toBe('active');
  });

  test.each([
    [
      'Machine',
      [condition('Deleting', 'True', 'Drain not completed yet: 3 Pods')],
      'deleting~ InProgress, draining the node',
    ],
    ['Machine', [condition('Paused', 'True')], 'paused~ InProgress'],
    ['Machine', [condition('Reconciled', 'False', 'no')], 'reconciling! Failed, no'],
    ['Machine', [condition('Reconciled', 'Unknown', 'soon')], 'reconciling~ InProgress, soon'],
    [
      'Machine',
      [condition('Ready', 'False', '* InfrastructureReady: 1 of 2 completed')],
      'waitingfornoderef~ InProgress',
    ],
    [
      'Machine',
      [condition('Ready', 'False', '* BootstrapConfigReady: no data')],
      'waitingforinfrastructure~ InProgress, no data',
    ],
    [
      'Machine',
      [condition('Ready', 'Unknown', '* NodeHealthy:\n  * Kubelet: silent')],
      'reconciling~ InProgress, silent',
    ],
    ['Machine', [condition('Ready', 'True')], 'active Current, the object is ready'],
    [
      'Cluster',
      [condition('Available', 'False', '* RemoteConnectionProbe: x')],
      'updating~ InProgress, connecting to the control plane',
    ],
    ['Cluster', [condition('Available', 'False', 'other words')], 'updating~ InProgress, other words'],
    ['Cluster', [condition('Available', 'Unknown', '?')], 'unavailable! Failed, ?'],
    ['Cluster', [condition('Deleting', 'True', '* MachineDeployments: a')], 'deleting~ InProgress, deleting workers'],
    ['MachineSet', [condition('ScalingUp', 'True')], 'scalingup~ InProgress'],
  ])('%s with %j', (kind, conditions, expected) => {
    expect(reported('cluster.x-k8s.io/v1beta2', kind, withConditions(...conditions))).toBe(expected);
  });

  test('counts show scaling before conditions do', () => {
    const machines = (replicas: number, status: object) =>
      reported('cluster.x-k8s.io/v1beta2', 'MachineDeployment', { spec: { replicas }, status });
    expect(machines(3, { replicas: 3, readyReplicas: 2 })).toBe('scalingup~ InProgress, from 2 up to 3 replicas');
    expect(machines(1, { replicas: 3, readyReplicas: 3 })).toBe('scalingdown~ InProgress, from 3 down to 1 replicas');
    const rolling = { replicas: 3, upToDateReplicas: 1, conditions: [condition('RollingOut', 'True')] };
    expect(machines(3, rolling)).toBe('rollingout~ InProgress, 2 replicas are not up to date');
    expect(machines(3, { replicas: 3, readyReplicas: 3 })).toBe('active Current, the object exists');
    const workers = { desiredReplicas: 3, replicas: 3, readyReplicas: 1 };
    expect(reported('cluster.x-k8s.io/v1beta2', 'Cluster', { status: { workers } })).toBe(
      'updating~ InProgress, from 1 up to 3 machines',
    );
  });
});
