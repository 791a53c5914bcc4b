import { expect, test } from 'vitest';
import { clusterKey, keyId } from '../../object/key.js';
import type { Cause } from '../loop/request.js';
import { ClusterShares } from './cluster-shares.js';

const item = (cluster: string | undefined, name: string, priority = 0, source = 's') => {
  const note: readonly Cause[] = [{ source, count: 1, atMs: 0 }];
  return { key: clusterKey({ cluster, name }), note, priority };
};

function setUp(most: number) {
  const added: string[] = [];
  const queue = { add: (key: { readonly name: string }) => void added.push(keyId(key)) };
  const shares = new ClusterShares(most, queue as never);
  return { shares, added };
}

test('each cluster has its places; who comes beyond follows when one is free, the urgent first, others in order', () => {
  const { shares, added } = setUp(2);
  const runs = (['a', 'b'] as const).flatMap((cluster) =>
    ['1', '2', '3'].map((name) => shares.admit(item(cluster, name)) !== undefined),
  );
  expect([runs, shares.waiting]).toEqual([[true, true, false, true, true, false], 2]);
  expect(shares.admit(item(undefined, '1'))).toBeDefined();
  shares.admit(item('a', '4'));
  shares.admit(item('a', '5', 10));
  for (let ended = 0; ended < 3; ended += 1) {
    shares.ended(clusterKey({ cluster: 'a', name: '1' }));
    shares.admit(item('a', `new ${ended}`));
  }
  expect(added).toEqual(['a//5', 'a//3', 'a//4']);
});

test('a waiting key that is added again runs once, with all its causes, and the higher priority', () => {
  const { shares, added } = setUp(1);
  shares.admit(item('a', '1'));
  shares.admit(item('a', '2', 0, 'first'));
  shares.admit(item('a', '2', 5, 'second'));
  expect(shares.waiting).toBe(1);
  shares.ended(clusterKey({ cluster: 'a', name: '1' }));
  expect([added, shares.waiting]).toEqual([['a//2'], 0]);
  shares.admit(item('a', '3'));
  shares.admit(item('a', '2', 0, 'third'));
  shares.ended(clusterKey({ cluster: 'a', name: '3' }));
  const run = shares.admit(item('a', '2', 0, 'fourth'));
  expect(run?.note?.map(({ source }) => source)).toEqual(['fourth']);
});

test('what is dropped on its way has the next one follow', () => {
  const { shares, added } = setUp(1);
  for (const name of ['1', '2', '3']) shares.admit(item('a', name));
  shares.ended(clusterKey({ cluster: 'a', name: '1' }));
  shares.next(clusterKey({ cluster: 'a', name: '2' }));
  shares.next(clusterKey({ cluster: 'a', name: '3' }));
  expect([added, shares.waiting]).toEqual([['a//2', 'a//3'], 0]);
});
