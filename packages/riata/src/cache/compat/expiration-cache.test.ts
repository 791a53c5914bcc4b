import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { ExpirationCache } from './expiration-cache.js';

interface Thing {
  readonly id: string;
  readonly value?: string;
  readonly metadata?: { readonly resourceVersion: string };
}
const keyFunc = ({ id }: Thing) => id;

function cacheOf(ttlMs: number) {
  const clock = new VirtualClock();
  return { clock, cache: new ExpirationCache<Thing>({ keyFunc, ttlMs, clock }) };
}

describe('ExpirationCache', () => {
  test('TTL expiration: gone when older than the TTL, not when as old', async () => {
    const { cache, clock } = cacheOf(100);
    cache.add({ id: 'foo', value: 'bar' });
    await clock.advance(100);
    expect(cache.get({ id: 'foo' })).toEqual({ id: 'foo', value: 'bar' });
    await clock.advance(1);
    expect(cache.get({ id: 'foo' })).toBeUndefined();
    expect(cache.getByKey('foo')).toBeUndefined();
  });

  test('re-add of an expired item', async () => {
    const { cache, clock } = cacheOf(100);
    cache.add({ id: 'foo', value: 'bar' });
    await clock.advance(101);
    expect(cache.getByKey('foo')).toBeUndefined();
    cache.add({ id: 'foo', value: 'again' });
    await clock.advance(60);
    expect(cache.getByKey('foo')?.value).toBe('again');
    cache.update({ id: 'foo', value: 'updated' });
    await clock.advance(60);
    expect(cache.getByKey('foo')?.value).toBe('updated');
  });

  test('TTL list', async () => {
    const { cache, clock } = cacheOf(100);
    cache.replace([{ id: 'a' }, { id: 'b' }], '4');
    await clock.advance(60);
    cache.add({ id: 'c' });
    expect(cache.list()).toHaveLength(3);
    await clock.advance(60);
    expect(cache.listKeys()).toEqual(['c']);
    expect(cache.list()).toEqual([{ id: 'c' }]);
    await clock.advance(60);
    expect(cache.list()).toEqual([]);
  });

  test.each([0, -5])('a TTL of %i means never', async (ttlMs) => {
    const { cache, clock } = cacheOf(ttlMs);
    cache.add({ id: 'a' });
    await clock.advance(1e12);
    expect(cache.listKeys()).toEqual(['a']);
  });

  test('another policy than age', () => {
    const cache = new ExpirationCache<Thing>({ keyFunc, isExpired: ({ obj }) => obj.id !== 'keep' });
    cache.replace([{ id: 'keep' }, { id: 'drop' }], '1');
    expect(cache.list()).toEqual([{ id: 'keep' }]);
  });

  test('deletes, and knows how far it has come', () => {
    const { cache } = cacheOf(0);
    cache.add({ id: 'a', metadata: { resourceVersion: '3' } });
    cache.add({ id: 'b' });
    expect(cache.lastStoreSyncResourceVersion()).toBe('3');
    cache.delete({ id: 'a', metadata: { resourceVersion: '5' } });
    cache.delete(new DeletedFinalStateUnknown('b'));
    expect(cache.list()).toEqual([]);
    expect(cache.lastStoreSyncResourceVersion()).toBe('5');
    cache.bookmark('8');
    cache.resync();
    expect(cache.lastStoreSyncResourceVersion()).toBe('8');
    cache.replace([], '9');
    expect(cache.lastStoreSyncResourceVersion()).toBe('9');
    expect(() => cacheOf(Number.NaN)).toThrow('ttlMs');
  });
});
