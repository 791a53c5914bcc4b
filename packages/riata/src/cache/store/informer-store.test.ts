import { describe, expect, test } from 'vitest';
import { isFrozenDeep } from '../../object/value/freeze.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { DrivenInformer, type Thing, thing } from '../informer/informer.fixture.js';
import { InformerStore } from './informer-store.js';

const many = (version: number, count = 1200): Thing[] =>
  Array.from({ length: count }, (_, i) => thing(`t${i}-`, version));
const countFrozen = (objects: readonly Thing[]): number => objects.filter(isFrozenDeep).length;

/** Every look at the clock takes a millisecond, so all work is long. */
function slow(onYield: () => void): { readonly clock: Scheduler; readonly virtual: VirtualClock } {
  const virtual = new VirtualClock();
  let now = 0;
  const clock: Scheduler = {
    now: () => virtual.now(),
    monotonic: () => ++now,
    after: (ms, fn, options) => virtual.after(ms, fn, options),
    sleep: (ms, options) => virtual.sleep(ms, options),
    yield: () => {
      onYield();
      return virtual.yield();
    },
  };
  return { clock, virtual };
}

function filled(objects: readonly Thing[]): InformerStore<Thing> {
  const store = new InformerStore<Thing>({});
  store.replace(objects, '1');
  return store;
}

describe('freezing ahead of a read', () => {
  test('of many objects takes many turns; who comes meanwhile waits for the same', async () => {
    const objects = many(1);
    const store = filled(objects);
    const turns: number[] = [];
    const { clock, virtual } = slow(() => turns.push(countFrozen(objects)));
    const first = store.freezeAhead(() => store.size, clock);
    expect(first).toBeInstanceOf(Promise);
    expect(store.freezeAhead(() => store.size, clock)).toBe(first);
    await virtual.settle();
    await first;
    expect(countFrozen(objects)).toBe(1200);
    expect(turns.length).toBeGreaterThan(100);
    expect(turns[0]).toBeLessThan(20);
    expect(store.freezeAhead(() => store.size, clock)).toBeUndefined();
  });

  test('is left to the read where that is short: few objects, few that are new, or all read before', () => {
    const clock = new VirtualClock();
    const store = filled(many(1));
    expect(store.freezeAhead(() => 10, clock)).toBeUndefined();
    expect(filled(many(1, 1000)).freezeAhead(() => 1000, clock)).toBeUndefined();
    expect(countFrozen(store.list())).toBe(1200);
    expect(store.freezeAhead(() => store.size, clock)).toBeUndefined();
    for (const obj of many(2)) store.update(obj);
    expect(store.freezeAhead(() => store.size, clock)).toBeInstanceOf(Promise);
  });
});

describe('a reader that has the indexer', () => {
  test('before run: a list is frozen as it comes', async () => {
    await using driven = new DrivenInformer();
    driven.informer.getIndexer();
    const objects = many(1);
    await driven.start(...objects);
    expect(countFrozen(objects)).toBe(1200);
  });

  test('after it: what there is gets frozen meanwhile', async () => {
    await using driven = new DrivenInformer();
    const objects = many(1);
    await driven.start(...objects);
    expect(countFrozen(objects)).toBe(0);
    driven.informer.getStore();
    await driven.clock.settle();
    expect(countFrozen(objects)).toBe(1200);
  });

  test('never finds more than some that are not frozen, however much has changed', async () => {
    await using driven = new DrivenInformer();
    driven.informer.getIndexer();
    await driven.start();
    const objects = many(1);
    await driven.update(...objects);
    expect(countFrozen(objects)).toBe(200);
    driven.informer.getStore().list();
    expect(countFrozen(objects)).toBe(1200);
  });
});

test('index functions get frozen objects, and their errors are reported', () => {
  const errors: string[] = [];
  const given: Thing[] = [];
  const store = new InformerStore<Thing>(
    {
      seen: (obj) => {
        given.push(obj);
        return ['x'];
      },
      writes: (obj) => {
        (obj.spec?.list as string[] | undefined)?.push('more');
        return [];
      },
    },
    { failed: (error, index) => void errors.push(`${index}: ${error}`), changed() {} },
  );
  store.add(thing('a', 1));
  expect(countFrozen(given)).toBe(1);
  expect(errors).toEqual([expect.stringMatching(/^writes: TypeError: Cannot add property 1/)]);
  expect(store.indexKeys('seen', 'x')).toEqual(['shop/a']);
});
