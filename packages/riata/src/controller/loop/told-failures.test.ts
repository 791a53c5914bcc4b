import { expect, test } from 'vitest';
import { clusterKey } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import { ToldFailures } from './told-failures.js';

const key = clusterKey({ namespace: 'shop', name: 'a' });

function object(generation: number, uid = 'u'): KubeObject {
  const metadata = { namespace: 'shop', name: 'a', uid, resourceVersion: '1', creationTimestamp: '', generation };
  return { apiVersion: 'v1', kind: 'Cart', metadata };
}

test('one’s own is taken back, each time', () => {
  const failures = new ToldFailures();
  for (let time = 0; time < 3; time += 1) {
    failures.told(key);
    expect(failures.takeBack(key, object(1))).toBe(true);
  }
});

test('another one once: for the same object, in the same generation, in the hands of this replica', () => {
  const failures = new ToldFailures();
  const tries = () => [failures.takeBack(key, object(1)), failures.takeBack(key, object(1))];
  expect(tries()).toEqual([true, false]);
  expect([failures.takeBack(key, object(2)), failures.takeBack(key, object(2, 'v'))]).toEqual([true, true]);
  failures.gone(key);
  expect(tries()).toEqual([true, false]);
  failures.arrived();
  expect(tries()).toEqual([true, false]);
  failures.told(key);
  expect(tries()).toEqual([true, false]);
});

test('what somebody else has taken back is not one’s own any more', () => {
  const failures = new ToldFailures();
  failures.told(key);
  failures.forget(key);
  expect([failures.takeBack(key, object(1)), failures.takeBack(key, object(1))]).toEqual([true, false]);
});

test('what is of a cluster goes with it, and nothing else', () => {
  const keys = [undefined, 'north', 'northern'].map((cluster) => clusterKey({ ...key, cluster }));
  const taken = (failures: ToldFailures) => keys.map((each) => failures.takeBack(each, object(1)));
  const others = new ToldFailures();
  taken(others);
  others.clusterGone('north');
  expect(taken(others)).toEqual([false, true, false]);
  const own = new ToldFailures();
  for (const each of keys) own.told(each);
  own.clusterGone('north');
  expect([taken(own), taken(own)]).toEqual([
    [true, true, true],
    [true, false, true],
  ]);
});
