import { ConfigMap } from 'riata/kinds';
import { ApplySetError } from 'riata/patterns';
import { expect, test } from 'vitest';
import { explainWriteError } from './explain-write-error.js';

test.each([
  [
    'configmaps is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "ops"',
    'you have no right to create configmaps in the namespace "ops"; ask an administrator of the cluster, or use another --context',
  ],
  [
    'Internal error occurred: failed calling webhook "sites.example.com": connection refused',
    'the API server cannot reach the webhook sites.example.com: check that the Pods behind its Service are ready',
  ],
  ['forbidden: exceeded quota: small, requested: pods=1', 'raise the ResourceQuota, or lower resources'],
  [
    'clusterroles is forbidden: user "jane" is attempting to grant RBAC permissions not currently held',
    'an account can only grant rights that it holds itself; deploy as an administrator',
  ],
  ['something else', 'something else'],
])('%s', (message, expected) => {
  expect(explainWriteError(new Error(message))).toContain(expected);
});

test('a set that failed names each object once', () => {
  const empty = { created: [], updated: [], replaced: [], released: [], deleted: [], unchanged: [], objects: [] };
  const failure = (name: string) => ({
    ...{ member: { kind: ConfigMap, namespace: 'ops', name }, action: 'apply' as const },
    error: new Error('no'),
  });
  const error = new ApplySetError('x', [failure('a'), failure('a'), failure('b')], empty, 0);
  expect(explainWriteError(error).split('\n')).toEqual([
    '3 objects failed',
    '  apply ConfigMap ops/a: Error: no',
    '  apply ConfigMap ops/b: Error: no',
  ]);
});
