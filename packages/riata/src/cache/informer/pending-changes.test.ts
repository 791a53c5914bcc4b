import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAnotherObject, StoredChange } from './change.js';
import { short, type Thing, thing } from './informer.fixture.js';
import { PendingChanges } from './pending-changes.js';

const added = (obj: Thing, isInInitialList = false) =>
  new StoredChange<Thing>('Added', obj.metadata.name, undefined, obj, { isInInitialList });
const updated = (old: Thing, obj: Thing) => new StoredChange<Thing>('Updated', obj.metadata.name, old, obj);
const deleted = (obj: Thing) => new StoredChange<Thing>('Deleted', obj.metadata.name, obj, undefined);
const sync = (obj: Thing) => new StoredChange<Thing>('Sync', obj.metadata.name, obj, obj);

function reported({
  type,
  old,
  new: next,
  isFinalStateUnknown,
  isInInitialList,
  isRecreated,
}: StoredChange<Thing>): string {
  const marks = `${isFinalStateUnknown ? '?' : ''}${isInInitialList ? '!' : ''}${isRecreated ? '~' : ''}`;
  return `${type}${marks} ${old ? short(old) : '-'} ${next ? short(next) : '-'}`;
}

function all(pending: PendingChanges<Thing>): string[] {
  const seen: string[] = [];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) seen.push(reported(next));
  return seen;
}

/** With `x1` in the line, so that the rest is merged. */
function full(...changes: StoredChange<Thing>[]): PendingChanges<Thing> {
  const pending = new PendingChanges<Thing>(1);
  pending.push(added(thing('x', 1)));
  for (const change of changes) pending.push(change);
  pending.shift();
  return pending;
}

describe('changes that wait', () => {
  const [a1, a2, a3, b1] = [thing('a', 1), thing('a', 2), thing('a', 3), thing('b', 1)];
  const other = thing('a', 4, 'another');

  test('stay as they are up to the limit', () => {
    const pending = new PendingChanges<Thing>(4);
    for (const change of [added(a1), updated(a1, a2), updated(a2, a3), deleted(a3)]) pending.push(change);
    expect(pending.size).toBe(4);
    expect(all(pending)).toEqual(['Added - a1', 'Updated a1 a2', 'Updated a2 a3', 'Deleted a3 -']);
    expect(pending.size).toBe(0);
    expect(pending.coalesced).toBe(0);
  });

  test.each([
    ['several updates are one', [updated(a1, a2), updated(a2, a3)], ['Updated a1 a3']],
    ['added and updated is added', [added(a1, true), updated(a1, a2)], ['Added! - a2']],
    ['added and deleted is nothing', [added(a1), updated(a1, a2), deleted(a2)], []],
    ['updated and deleted is deleted, as it was known', [updated(a1, a2), deleted(a3)], ['Deleted? a1 -']],
    ['a deletion that is alone keeps its final state', [deleted(a3)], ['Deleted a3 -']],
    ['the same object that left and came back is updated', [deleted(a1), added(a2)], ['Updated a1 a2']],
    ['a resync of what waits is nothing more', [updated(a1, a2), sync(a2)], ['Updated a1 a2']],
    ['a resync alone stays one', [sync(a1), sync(a1)], ['Sync a1 a1']],
    ['an update after a resync counts', [sync(a1), updated(a1, a2)], ['Updated a1 a2']],
    ['another UID is deleted and added', [deleted(a1), added(other)], ['Deleted~ a1 -', 'Added~ - a4']],
    ['another UID after updates', [updated(a1, a2), deleted(a2), added(other)], ['Deleted?~ a1 -', 'Added~ - a4']],
    ['another UID that is gone, too', [deleted(a1), added(other), deleted(other)], ['Deleted a1 -']],
    [
      'objects keep the order in which they came',
      [added(b1), added(a1), updated(a1, a2)],
      ['Added - b1', 'Added - a2'],
    ],
  ])('beyond the limit: %s', (_, changes, expected) => {
    expect(all(full(...changes))).toEqual(expected);
  });

  test('the other object can still go between its two changes', () => {
    const pending = full(deleted(a1), added(other));
    expect(reported(pending.shift()!)).toBe('Deleted~ a1 -');
    pending.push(deleted(other));
    expect(all(pending)).toEqual([]);
  });

  test('what is part of the initial list is counted until it comes out or is gone', () => {
    const pending = new PendingChanges<Thing>(1);
    for (const change of [added(b1, true), added(a1, true), updated(a1, a2)]) pending.push(change);
    expect([pending.initial, pending.size, pending.coalesced]).toEqual([2, 2, 1]);
    pending.push(deleted(a2));
    expect(pending.initial).toBe(1);
    pending.shift();
    expect(pending.initial).toBe(0);
    pending.push(added(a1, true));
    pending.clear();
    expect([pending.initial, pending.size, pending.shift()]).toEqual([0, 0, undefined]);
  });

  test('a long line moves up', () => {
    const pending = new PendingChanges<Thing>(5000);
    for (let i = 0; i < 3000; i += 1) pending.push(added(thing(`t${i}-`, i)));
    for (let i = 0; i < 2000; i += 1) expect(pending.shift()?.key).toBe(`t${i}-`);
    for (let i = 3000; i < 4000; i += 1) pending.push(added(thing(`t${i}-`, i)));
    expect(pending.size).toBe(2000);
    for (let i = 2000; i < 4000; i += 1) expect(pending.shift()?.key).toBe(`t${i}-`);
  });
});

/** What the world does to one of three names; `take`: the handler gets its next change. */
type Step = { readonly do: 'take' } | { readonly do: 'put' | 'delete' | 'recreate' | 'sync'; readonly name: string };

describe('the model of a handler that is slow', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('put', 'delete', 'recreate', 'sync'), name }) },
  );

  test('the changes lead from state to state, without a gap, and end with the current state', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, limit) => {
        const pending = new PendingChanges<Thing>(limit);
        const world = new Map<string, Thing>();
        const known = new Map<string, Thing>();
        let version = 0;
        const take = (): boolean => {
          const change = pending.shift();
          if (change === undefined) return false;
          apply(known, change);
          return true;
        };
        for (const each of steps) {
          if (each.do === 'take') {
            take();
            continue;
          }
          for (const change of happen(world, each, ++version)) pending.push(change);
          expect(pending.size).toBeLessThanOrEqual(limit + 3);
        }
        while (take());
        expect(known).toEqual(world);
        expect([pending.size, pending.initial]).toEqual([0, 0]);
      }),
      { numRuns: 500 },
    );
  });

  function happen(world: Map<string, Thing>, { do: what, name }: Step & { name: string }, version: number) {
    const old = world.get(name);
    if (what === 'put') {
      const next = thing(name, version, old?.metadata.uid ?? `uid-${version}`);
      world.set(name, next);
      return [old === undefined ? added(next, version % 2 === 0) : updated(old, next)];
    }
    if (old === undefined) return [];
    if (what === 'sync') return [sync(old)];
    world.delete(name);
    if (what === 'delete') return [deleted(old)];
    const next = thing(name, version, `uid-${version}`);
    world.set(name, next);
    return [deleted(old), added(next)];
  }

  /** A handler that applies every change, and notices impossible ones. */
  function apply(known: Map<string, Thing>, { type, key, old, new: next }: StoredChange<Thing>): void {
    const before = known.get(key);
    if (type === 'Added') {
      expect(before, 'added twice').toBeUndefined();
      known.set(key, next!);
      return;
    }
    expect(old, 'the last that was told').toBe(before);
    if (type === 'Deleted') {
      known.delete(key);
      return;
    }
    expect(isAnotherObject(before!, next!), 'another object in an update').toBe(false);
    if (type === 'Sync') expect(next).toBe(before);
    known.set(key, next!);
  }
});
