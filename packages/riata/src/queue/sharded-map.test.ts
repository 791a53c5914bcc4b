import { expect, test } from 'vitest';
import { ShardedMap } from './sharded-map.js';

test('does as a Map, whatever the ids look like', () => {
  const map = new ShardedMap<number>();
  const ids = ['', 'a', 'ab', 'abc', 'ns/name', 'ns/name-1', 'ns/näme-🐎', 'x'.repeat(300)];
  for (const [at, id] of ids.entries()) map.set(id, at);
  expect(ids.map((id) => map.get(id))).toEqual(ids.map((_, at) => at));
  map.set('a', 99);
  map.delete('ab');
  map.delete('never there');
  expect([map.get('a'), map.get('ab'), map.get('other')]).toEqual([99, undefined, undefined]);
  map.clear();
  expect(ids.map((id) => map.get(id))).toEqual(ids.map(() => undefined));
});
