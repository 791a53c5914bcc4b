import fc from 'fast-check';
import type { KubeObject } from 'riata/object';
import { VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { MemoryStorage, type MemoryStorageOptions } from './memory-storage.js';
import { CompactedError, type StorageEvent } from './storage.js';

const object = (name: string) => (revision: number) =>
  ({ apiVersion: 'v1', kind: 'X', metadata: { name, resourceVersion: String(revision) } }) as KubeObject;

function storage(options: Partial<MemoryStorageOptions> = {}) {
  return new MemoryStorage({ clock: new VirtualClock(), ...options });
}

function brief(event: StorageEvent): string {
  return `${event.revision} ${event.key} ${event.before?.revision ?? '-'}→${event.after?.revision ?? '-'}`;
}

describe('MemoryStorage', () => {
  test('has one revision counter for all resources', () => {
    const s = storage();
    s.put('pods', 'a/x', object('x'));
    s.put('nodes', 'n', object('n'));
    s.put('pods', 'a/x', object('x'));
    expect([s.get('pods', 'a/x')?.revision, s.get('nodes', 'n')?.revision, s.revision]).toEqual([3, 2, 3]);
    expect(s.get('pods', 'nope')).toBeUndefined();
    expect(() => s.remove('pods', 'nope', object('nope'))).toThrow('pods nope is not there');
    expect(s.revision).toBe(3);
  });

  test('lists by prefix in key order, in pages of one revision, while objects change', () => {
    const s = storage();
    for (const key of ['b/1', 'a/2', 'a-b/1', 'a/1', 'c/1']) s.put('pods', key, object(key));
    expect(s.list('pods').items.map((i) => i.key)).toEqual(['a-b/1', 'a/1', 'a/2', 'b/1', 'c/1']);
    expect(s.list('pods', { prefix: 'a/' }).items.map((i) => i.key)).toEqual(['a/1', 'a/2']);
    const first = s.list('pods', { limit: 2 });
    expect(first).toMatchObject({ revision: 5, more: true, remaining: 3 });
    s.remove('pods', 'a/2', object('a/2'));
    s.put('pods', 'a/3', object('a/3'));
    s.put('pods', 'b/1', object('b/1'));
    const rest = s.list('pods', { revision: 5, after: 'a/1', limit: 9 });
    expect(rest.items.map((i) => [i.key, i.revision])).toEqual([
      ['a/2', 2],
      ['b/1', 1],
      ['c/1', 5],
    ]);
    expect(rest).toMatchObject({ revision: 5, more: false, remaining: 0 });
  });

  test('a watch delivers writes since its revision, then new ones, until it is disposed', () => {
    const s = storage();
    const seen: string[] = [];
    s.put('pods', 'a', object('a'));
    s.put('pods', 'b', object('b'));
    s.put('nodes', 'n', object('n'));
    const watch = s.watch('pods', 1, (e) => seen.push(brief(e)));
    s.remove('pods', 'a', object('a'));
    watch[Symbol.dispose]();
    s.put('pods', 'c', object('c'));
    expect(seen).toEqual(['2 b -→2', '4 a 1→-']);
  });

  test('compaction refuses older revisions and keeps current objects', () => {
    const s = storage();
    for (let i = 0; i < 4; i++) s.put('pods', 'a', object('a'));
    s.compact(2);
    expect(() => s.watch('pods', 1, () => {})).toThrow(CompactedError);
    expect(() => s.list('pods', { revision: 1 })).toThrow('revision 1 is compacted; the oldest is 2');
    expect(s.list('pods', { revision: 2 }).items[0]?.revision).toBe(2);
    expect(s.list('pods', { revision: 3 }).items[0]?.revision).toBe(3);
    const seen: string[] = [];
    s.watch('pods', 2, (e) => seen.push(brief(e)));
    expect(seen).toEqual(['3 a 2→3', '4 a 3→4']);
  });

  test('history is limited by age and by number of writes', async () => {
    const clock = new VirtualClock();
    const s = storage({ clock, historyMs: 1000 });
    s.put('pods', 'a', object('a'));
    await clock.advance(1101);
    s.put('pods', 'a', object('a'));
    expect(s.compacted).toBe(1);
    const many = storage({ historyWrites: 10 });
    for (let i = 0; i < 100; i++) many.put('pods', `${i}`, object(`${i}`));
    expect(many.revision - many.compacted).toBeLessThanOrEqual(12);
    expect(many.count('pods')).toBe(100);
  });

  test('any history: a list at a revision shows that state, and a watch from it leads to the current one', () => {
    const key = fc.constantFrom('a/1', 'a/2', 'b/1', 'b/2', 'c/1');
    const step = fc.record({ key, remove: fc.boolean(), compact: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const s = storage();
        const snapshots = new Map<number, string[]>([[0, []]]);
        const brief = () => s.list('pods').items.map((i) => `${i.key}@${i.revision}`);
        for (const { key, remove, compact } of steps) {
          if (!remove) s.put('pods', key, object(key));
          else if (s.get('pods', key)) s.remove('pods', key, object(key));
          snapshots.set(s.revision, brief());
          if (compact === 0) s.compact(s.revision - 3);
        }
        for (const [revision, expected] of snapshots) {
          if (revision < s.compacted) continue;
          expect(s.list('pods', { revision }).items.map((i) => `${i.key}@${i.revision}`)).toEqual(expected);
          const paged: string[] = [];
          for (let after: string | undefined, more = true; more; ) {
            const page = s.list('pods', { revision, limit: 2, after });
            paged.push(...page.items.map((i) => `${i.key}@${i.revision}`));
            expect(page.remaining).toBe(expected.length - paged.length);
            after = page.items.at(-1)?.key ?? after;
            more = page.more;
          }
          expect(paged).toEqual(expected);
          const state = new Map(expected.map((text) => text.split('@') as [string, string]));
          s.watch('pods', revision, ({ key, after }) => {
            if (after) state.set(key, String(after.revision));
            else state.delete(key);
          });
          expect([...state].map(([k, r]) => `${k}@${r}`).sort()).toEqual(brief().sort());
        }
      }),
    );
  });
});

describe('a seed', () => {
  const object = (name: string, revision: number) =>
    ({ metadata: { name, resourceVersion: String(revision) } }) as unknown as KubeObject;
  const seeded = (storage: MemoryStorage) => {
    let made = 0;
    storage.seed('roles', {
      count: 2,
      make: (first) => {
        made += 1;
        return ['b', 'a'].map((name, index) => [name, object(name, first + index)] as const);
      },
    });
    return () => made;
  };

  test('takes revisions at once, and is created on first use', () => {
    const storage = new MemoryStorage({ clock: new VirtualClock() });
    storage.put('pods', 'p', (revision) => object('p', revision));
    const made = seeded(storage);
    expect([storage.revision, storage.count('roles'), made()]).toEqual([3, 2, 0]);
    expect(storage.put('pods', 'q', (revision) => object('q', revision)).revision).toBe(4);
    expect(storage.get('roles', 'a')?.revision).toBe(3);
    expect(storage.list('roles').items.map(({ key, revision }) => [key, revision])).toEqual([
      ['a', 3],
      ['b', 2],
    ]);
    expect(storage.list('roles', { revision: 2 }).items.map(({ key }) => key)).toEqual(['b']);
    expect([storage.count('roles'), made()]).toEqual([2, 1]);
  });

  test('is delivered to watches, unless it was compacted', () => {
    const received = (compactTo: number, from: number) => {
      const storage = new MemoryStorage({ clock: new VirtualClock() });
      seeded(storage);
      storage.compact(compactTo);
      const keys: string[] = [];
      using _watch = storage.watch('roles', from, ({ key }) => keys.push(key));
      storage.put('roles', 'c', (revision) => object('c', revision));
      return keys;
    };
    expect(received(0, 0)).toEqual(['b', 'a', 'c']);
    expect(received(1, 1)).toEqual(['a', 'c']);
    expect(received(2, 2)).toEqual(['c']);
  });

  test('is refused for a resource that has objects', () => {
    const storage = new MemoryStorage({ clock: new VirtualClock() });
    storage.put('roles', 'x', (revision) => object('x', revision));
    expect(() => seeded(storage)).toThrow('a resource that has objects cannot be seeded');
  });
});
