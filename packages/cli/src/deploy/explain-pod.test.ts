import type { Pod } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { explainPod, type PodSurroundings } from './explain-pod.js';
import { missingRights } from './missing-rights.js';
import { problemLines } from './rollout-problem.js';

function podOf(status: object, spec: object = {}): Pod {
  const containers = [{ name: 'operator', image: 'registry.example.com/op:1' }];
  return { metadata: { namespace: 'ops', name: 'op-1' }, spec: { containers, ...spec }, status } as unknown as Pod;
}

const container = { name: 'operator', image: 'registry.example.com/op:1', ready: false };
const nothing: PodSurroundings = { events: [], missingPullSecrets: [], log: [] };

function pulling(message: string, spec: object = {}, surroundings: Partial<PodSurroundings> = {}) {
  const waiting = { reason: 'ImagePullBackOff', message };
  return explainPod(podOf({ containerStatuses: [{ ...container, state: { waiting } }] }, spec), {
    ...nothing,
    ...surroundings,
  });
}

describe('a Pod whose image cannot be pulled', () => {
  test.each([
    ['manifest unknown', {}, {}, 'push it first: riata image --push, or name another one by --image'],
    [
      '401 Unauthorized',
      {},
      {},
      'the Pod has no imagePullSecrets; give some by deployment(operator, { pod: { imagePullSecrets } }), or push the image if it does not exist: riata image --push',
    ],
    [
      'pull access denied',
      { imagePullSecrets: [{ name: 'regcred' }] },
      {},
      'check that the Secret regcred of imagePullSecrets has credentials that may read it; if it does not exist, push it: riata image --push',
    ],
    [
      '401',
      { imagePullSecrets: [{ name: 'gone' }] },
      { missingPullSecrets: ['gone'] },
      'create the missing Secret gone of imagePullSecrets in the namespace ops: kubectl create secret docker-registry',
    ],
    [
      'no match for platform in manifest: not found',
      {},
      {},
      'build it for the platform of the nodes: riata image --push --platform linux/amd64 linux/arm64',
    ],
    [
      'dial tcp: lookup registry.example.com: no such host',
      {},
      {},
      'the nodes cannot reach the registry, or do not trust its certificate; check its name from a node',
    ],
    ['something else', {}, {}, 'check the name of the image and the registry'],
  ])('%s', (answer, spec, surroundings, remedy) => {
    const problem = pulling(
      `Back-off pulling image "registry.example.com/op:1": ErrImagePull: ${answer}`,
      spec,
      surroundings,
    );
    expect(problem).toMatchObject({ type: 'image-pull', remedy, mayPass: false, object: 'Pod ops/op-1' });
    expect(problem?.message).toBe(`cannot pull the image "registry.example.com/op:1": ErrImagePull: ${answer}`);
  });

  test('the registry answers in an Event', () => {
    const events = [{ reason: 'Failed', message: 'Failed to pull image "x": manifest unknown' }];
    expect(pulling('Back-off pulling image "registry.example.com/op:1"', {}, { events })?.message).toMatch(
      /manifest unknown$/,
    );
  });
});

describe('a Pod that crashes', () => {
  const crashed = (terminated: object, log: readonly string[]) =>
    explainPod(
      podOf({
        containerStatuses: [
          { ...container, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated } },
        ],
      }),
      { ...nothing, log },
    );

  test('shows the end of its log', () => {
    const problem = crashed({ exitCode: 1 }, ['starting', 'Error: no configuration']);
    expect(problem && problemLines(problem)).toEqual([
      'Pod ops/op-1: container operator crashes: it exited with code 1',
      '  correct what its log says, or try it before: riata dev',
      '  last lines of its log:',
      '    starting',
      '    Error: no configuration',
    ]);
  });

  test('names the rights that it lacks', () => {
    const line =
      'secrets is forbidden: User \\"system:serviceaccount:ops:op\\" cannot list resource \\"secrets\\" in API group \\"\\" at the cluster scope';
    expect(crashed({ exitCode: 1 }, [line])).toMatchObject({
      ...{ type: 'rights', message: 'the operator lacks rights: list secrets at the cluster scope' },
      remedy: expect.stringContaining('add them as rights in riata.config.ts'),
    });
  });

  test('has too little memory', () => {
    expect(crashed({ exitCode: 137, reason: 'OOMKilled' }, [])?.message).toBe(
      'container operator used more memory than its limit (OOMKilled)',
    );
  });
});

test('other reasons why a Pod does not start', () => {
  const waiting = { reason: 'CreateContainerConfigError', message: 'secret "tokens" not found' };
  expect(explainPod(podOf({ containerStatuses: [{ ...container, state: { waiting } }] }), nothing)).toMatchObject({
    ...{ type: 'configuration', remedy: 'create the secret tokens in its namespace' },
  });
  const root = {
    reason: 'CreateContainerConfigError',
    message: 'container has runAsNonRoot and image will run as root',
  };
  expect(
    explainPod(podOf({ containerStatuses: [{ ...container, state: { waiting: root } }] }), nothing)?.remedy,
  ).toContain('the image runs as root');
  const conditions = [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' },
  ];
  expect(explainPod(podOf({ conditions }), nothing)).toMatchObject({ type: 'unschedulable', mayPass: true });
});

test('a Pod that is ready, or starts, has no problem', () => {
  const ready = [{ type: 'Ready', status: 'True' }];
  expect(explainPod(podOf({ phase: 'Running', conditions: ready }), nothing)).toBeUndefined();
  expect(explainPod(podOf({ phase: 'Pending' }), nothing)).toBeUndefined();
  const events = [{ reason: 'Unhealthy', message: 'Readiness probe failed: HTTP probe failed with statuscode: 500' }];
  expect(explainPod(podOf({ phase: 'Running' }), { ...nothing, events })?.message).toBe(
    'runs, but is not ready: Readiness probe failed: HTTP probe failed with statuscode: 500',
  );
});

test('missing rights are read from messages of the API server', () => {
  expect(
    missingRights([
      'deployments.apps is forbidden: User "jane" cannot create resource "deployments" in API group "apps" in the namespace "ops"',
      'forbidden: User "jane" cannot get path "/metrics"',
      'nothing of this kind',
    ]),
  ).toEqual(['create deployments.apps in the namespace "ops"', 'get /metrics']);
});
