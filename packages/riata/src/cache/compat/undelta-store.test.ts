import { describe, expect, test } from 'vitest';
import { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { short, type Thing, thing } from '../informer/informer.fixture.js';
import { KeyError } from '../store/key-func.js';
import { UndeltaStore } from './undelta-store.js';

function pushing() {
  const pushed: string[] = [];
  const store = new UndeltaStore<Thing>((things) => pushed.push(things.map(short).sort().join(' ')));
  return { store, take: () => pushed.splice(0) };
}

describe('UndeltaStore', () => {
  test('UpdateCallsPush, DeleteCallsPush: each change pushes all there is', () => {
    const { store, take } = pushing();
    store.add(thing('a', 1));
    store.add(thing('b', 2));
    store.update(thing('a', 3));
    store.delete(thing('b', 4));
    store.delete(new DeletedFinalStateUnknown<Thing>('shop/a', thing('a', 3)));
    store.delete(thing('a', 5));
    expect(take()).toEqual(['a1', 'a1 b2', 'a3 b2', 'a3', '', '']);
  });

  test('ReplaceCallsPush: once for a list, even an empty one', () => {
    const { store, take } = pushing();
    store.replace([thing('a', 1), thing('b', 2)], '2');
    store.replace([], '3');
    expect(take()).toEqual(['a1 b2', '']);
    expect(store.lastStoreSyncResourceVersion()).toBe('3');
  });

  test('ReadsDoNotCallPush: nor do bookmarks, resyncs and what is refused', () => {
    const { store, take } = pushing();
    store.add(thing('a', 1));
    take();
    expect(store.list().map(short)).toEqual(['a1']);
    expect(store.listKeys()).toEqual(['shop/a']);
    expect(short(store.get(thing('a', 9)) as Thing)).toBe('a1');
    expect(store.getByKey('shop/b')).toBeUndefined();
    store.bookmark('7');
    store.resync();
    expect(store.lastStoreSyncResourceVersion()).toBe('7');
    expect(() => store.add({} as Thing)).toThrow(KeyError);
    expect(take()).toEqual([]);
  });

  test('what is pushed may be changed; what push throws comes out, and the change stays', () => {
    const greedy = new UndeltaStore<string>(
      (names) => {
        names.length = 0;
        throw new Error('disk full');
      },
      (name) => name,
    );
    expect(() => greedy.add('a')).toThrow('disk full');
    expect(greedy.list()).toEqual(['a']);
  });
});
