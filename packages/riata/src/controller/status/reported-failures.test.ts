import { expect, test } from 'vitest';
import { StoredChange } from '../../cache/informer/change.js';
import { clusterKey } from '../../object/key.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import { ReportedFailures } from './reported-failures.js';

const key = clusterKey({ namespace: 'shop', name: 'a' });

function object(generation: number, uid = 'u'): KubeObject {
  const metadata = { namespace: 'shop', name: 'a', uid, resourceVersion: '1', creationTimestamp: '', generation };
  return { apiVersion: 'v1', kind: 'Cart', metadata };
}

test('its own report is cleared, each time', () => {
  const failures = new ReportedFailures();
  for (let time = 0; time < 3; time += 1) {
    failures.reported(key);
    expect(failures.mayClear(key, object(1))).toBe(true);
  }
});

test('another report is cleared once for an object and generation, until its key comes from another replica', () => {
  const failures = new ReportedFailures();
  const tries = () => [failures.mayClear(key, object(1)), failures.mayClear(key, object(1))];
  expect(tries()).toEqual([true, false]);
  expect([failures.mayClear(key, object(2)), failures.mayClear(key, object(2, 'v'))]).toEqual([true, true]);
  failures.gone(key);
  expect(tries()).toEqual([true, false]);
  failures.arrived();
  expect(tries()).toEqual([true, false]);
  failures.reported(key);
  expect(tries()).toEqual([true, false]);
});

test('a report that another writer has cleared is not its own any more', () => {
  const failures = new ReportedFailures();
  failures.reported(key);
  failures.forget(key);
  expect([failures.mayClear(key, object(1)), failures.mayClear(key, object(1))]).toEqual([true, false]);
});

test('reports of a removed cluster are forgotten, others are not', () => {
  const keys = [undefined, 'north', 'northern'].map((cluster) => clusterKey({ ...key, cluster }));
  const cleared = (failures: ReportedFailures) => keys.map((each) => failures.mayClear(each, object(1)));
  const others = new ReportedFailures();
  cleared(others);
  others.clusterGone('north');
  expect(cleared(others)).toEqual([false, true, false]);
  const own = new ReportedFailures();
  for (const each of keys) own.reported(each);
  own.clusterGone('north');
  expect([cleared(own), cleared(own)]).toEqual([
    [true, true, true],
    [true, false, true],
  ]);
});

const ready = (status: 'True' | 'False', message = ''): Condition => ({
  ...{ type: 'Ready', status, reason: 'Said', message },
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

function foo(resourceVersion: string, status: object | undefined, changes: object = {}): KubeObject {
  const metadata = { namespace: 'shop', name: 'a', uid: 'u', creationTimestamp: '', generation: 1, resourceVersion };
  return { apiVersion: 'v1', kind: 'Foo', metadata, ...(status && { status }), ...changes } as KubeObject;
}

const updated = (old: KubeObject, now: KubeObject) => new StoredChange('Updated', 'shop/a', old, now);
const before = foo('1', undefined);
const after = foo('2', { observedGeneration: 1, conditions: [ready('False', 'no')] });

test('a change is an echo once', () => {
  const failures = new ReportedFailures();
  expect(failures.isEcho(updated(before, after), undefined)).toBe(false);
  failures.writing(key, ready('False', 'no'));
  expect(failures.isEcho(updated(before, after), 'north')).toBe(false);
  expect(failures.isEcho(updated(before, after), undefined)).toBe(true);
  expect(failures.isEcho(updated(before, after), undefined)).toBe(false);
  failures.writing({ ...key, cluster: 'north' }, ready('True'));
  const taken = foo('3', { observedGeneration: 2, conditions: [ready('True')] });
  expect(failures.isEcho(updated(after, taken), undefined)).toBe(false);
  expect(failures.isEcho(updated(after, taken), 'north')).toBe(true);
});

test.each([
  ['the spec', foo('2', after['status' as never], { spec: {} })],
  ['a label', foo('2', after['status' as never], { metadata: { ...after.metadata, labels: { a: 'b' } } })],
  ['another field of the status', foo('2', { conditions: [ready('False', 'no')], size: 1 })],
  ['another condition', foo('2', { conditions: [ready('False', 'no'), { ...ready('True'), type: 'Synced' }] })],
  ['another word of it', foo('2', { conditions: [ready('False', 'never')] })],
])('%s is new, so the change is no echo', (_, now) => {
  const failures = new ReportedFailures();
  failures.writing(key, ready('False', 'no'));
  expect(failures.isEcho(updated(before, now), undefined)).toBe(false);
});

test('additions, deletions and resyncs are no echoes, nor are changes of an object that is gone', () => {
  const failures = new ReportedFailures();
  failures.writing(key, ready('False', 'no'));
  expect(failures.isEcho(new StoredChange('Added', 'shop/a', undefined, after), undefined)).toBe(false);
  expect(failures.isEcho(new StoredChange('Deleted', 'shop/a', after, undefined), undefined)).toBe(false);
  expect(failures.isEcho(new StoredChange('Sync', 'shop/a', after, after), undefined)).toBe(false);
  failures.gone(key);
  expect(failures.isEcho(updated(before, after), undefined)).toBe(false);
});
