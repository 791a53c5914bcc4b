import { expect, test } from 'vitest';
import { StoredChange } from '../../cache/informer/change.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import { FailureEchoes } from './failure-echoes.js';

const ready = (status: 'True' | 'False', message = ''): Condition => ({
  ...{ type: 'Ready', status, reason: 'Said', message },
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

function foo(resourceVersion: string, status: object | undefined, changes: object = {}): KubeObject {
  const metadata = { namespace: 'shop', name: 'a', uid: 'u', creationTimestamp: '', generation: 1, resourceVersion };
  return { apiVersion: 'v1', kind: 'Foo', metadata, ...(status && { status }), ...changes } as KubeObject;
}

const key = { namespace: 'shop', name: 'a' };
const updated = (old: KubeObject, now: KubeObject) => new StoredChange('Updated', 'shop/a', old, now);
const before = foo('1', undefined);
const after = foo('2', { observedGeneration: 1, conditions: [ready('False', 'no')] });

test('what was said is heard once', () => {
  const echoes = new FailureEchoes();
  expect(echoes.takes(updated(before, after), undefined)).toBe(false);
  echoes.saying(key, ready('False', 'no'));
  expect(echoes.takes(updated(before, after), 'north')).toBe(false);
  expect(echoes.takes(updated(before, after), undefined)).toBe(true);
  expect(echoes.takes(updated(before, after), undefined)).toBe(false);
  echoes.saying({ ...key, cluster: 'north' }, ready('True'));
  const taken = foo('3', { observedGeneration: 2, conditions: [ready('True')] });
  expect(echoes.takes(updated(after, taken), undefined)).toBe(false);
  expect(echoes.takes(updated(after, taken), 'north')).toBe(true);
});

test.each([
  ['the spec', foo('2', after['status' as never], { spec: {} })],
  ['a label', foo('2', after['status' as never], { metadata: { ...after.metadata, labels: { a: 'b' } } })],
  ['another field of the status', foo('2', { conditions: [ready('False', 'no')], size: 1 })],
  ['another condition', foo('2', { conditions: [ready('False', 'no'), { ...ready('True'), type: 'Synced' }] })],
  ['another word of it', foo('2', { conditions: [ready('False', 'never')] })],
])('%s is new: no echo', (_, now) => {
  const echoes = new FailureEchoes();
  echoes.saying(key, ready('False', 'no'));
  expect(echoes.takes(updated(before, now), undefined)).toBe(false);
});

test('what came, went or was told again is none; nor is anything of an object that is gone', () => {
  const echoes = new FailureEchoes();
  echoes.saying(key, ready('False', 'no'));
  expect(echoes.takes(new StoredChange('Added', 'shop/a', undefined, after), undefined)).toBe(false);
  expect(echoes.takes(new StoredChange('Deleted', 'shop/a', after, undefined), undefined)).toBe(false);
  expect(echoes.takes(new StoredChange('Sync', 'shop/a', after, after), undefined)).toBe(false);
  echoes.gone(key);
  expect(echoes.takes(updated(before, after), undefined)).toBe(false);
});
