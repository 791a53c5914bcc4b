import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { claimLimitProblem, limitProblem, withLimits } from './pod-limits.js';

const pod = (resources: JsonObject): JsonObject => ({ metadata: {}, spec: { containers: [{ name: 'c', resources }] } });
const limits = (limit: JsonObject) => [[{ type: 'Container', ...limit }]];

test('containers get defaults, and an annotation lists them', () => {
  const ranges = limits({ default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '1' } });
  expect(withLimits(pod({ limits: { cpu: '4' } }), ranges)).toEqual({
    metadata: {
      annotations: {
        'kubernetes.io/limit-ranger':
          'LimitRanger plugin set: cpu request for container c; memory limit for container c',
      },
    },
    spec: {
      containers: [{ name: 'c', resources: { limits: { cpu: '4', memory: '1Gi' }, requests: { cpu: '1' } } }],
    },
  });
  const whole = pod({ limits: { cpu: '1', memory: '1' }, requests: { cpu: '1' } });
  expect(withLimits(whole, ranges)).toBe(whole);
});

test.each([
  [{ min: { cpu: '1' } }, { requests: { cpu: '500m' } }, 'minimum cpu usage per Container is 1, but request is 500m'],
  [{ min: { cpu: '1' } }, {}, 'minimum cpu usage per Container is 1.  No request is specified'],
  [{ max: { cpu: '1' } }, { limits: { cpu: '2' } }, 'maximum cpu usage per Container is 1, but limit is 2'],
  [{ max: { cpu: '1' } }, {}, 'maximum cpu usage per Container is 1.  No limit is specified'],
  [
    { maxLimitRequestRatio: { cpu: '2' } },
    { requests: { cpu: '1' }, limits: { cpu: '3' } },
    'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
  ],
  [{ type: 'Pod', max: { cpu: '1' } }, { limits: { cpu: '2' } }, 'maximum cpu usage per Pod is 1, but limit is 2'],
  [{ max: { cpu: '2' } }, { limits: { cpu: '2' } }, undefined],
] as const)('%j does not let %j pass', (limit, resources, problem) => {
  expect(limitProblem(pod(resources as JsonObject), limits(limit as JsonObject))).toBe(problem);
});

test.each([
  [{ min: { storage: '1Gi' } }, '1Mi', 'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi'],
  [{ max: { storage: '1Gi' } }, '2Gi', 'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi'],
  [{ min: { storage: '1Gi' }, max: { storage: '2Gi' } }, '1Gi', undefined],
] as const)('%j does not let a claim of %s pass', (limit, storage, problem) => {
  const claim = { spec: { resources: { requests: { storage } } } };
  expect(claimLimitProblem(claim, [[{ type: 'PersistentVolumeClaim', ...limit }]])).toBe(problem);
});

test('a problem that two containers share is reported once', () => {
  const two = { spec: { containers: [{ name: 'a' }, { name: 'b' }] } };
  const problem = 'minimum cpu usage per Container is 1.  No request is specified';
  expect(limitProblem(two, limits({ min: { cpu: '1' } }))).toBe(problem);
});
