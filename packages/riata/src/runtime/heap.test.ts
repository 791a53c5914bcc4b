import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from './heap.js';

class Item {
  slot = -1;
  rank: number;

  constructor(rank: number) {
    this.rank = rank;
  }
}

test('gives the least, whatever was pushed, removed or raised before', () => {
  const step = fc.oneof(
    fc.record({ push: fc.integer({ min: 0, max: 20 }) }),
    fc.record({ remove: fc.nat({ max: 30 }) }),
    fc.record({ raise: fc.nat({ max: 30 }), by: fc.integer({ min: 1, max: 9 }) }),
    fc.constant('pop' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const heap = new Heap<Item>((a, b) => a.rank < b.rank);
      const model: Item[] = [];
      const takeOut = (item: Item | undefined) => {
        if (item !== undefined) model.splice(model.indexOf(item), 1);
      };
      for (const step of steps) {
        if (step === 'pop') {
          const popped = heap.pop();
          expect(popped?.rank).toBe(model.length === 0 ? undefined : Math.min(...model.map((item) => item.rank)));
          takeOut(popped);
        } else if ('push' in step) {
          const item = new Item(step.push);
          heap.push(item);
          model.push(item);
        } else if ('remove' in step) {
          const item = model[step.remove];
          if (item !== undefined) heap.remove(item);
          if (item !== undefined) expect(item.slot).toBe(-1);
          takeOut(item);
        } else {
          const item = model[step.raise];
          if (item === undefined) continue;
          item.rank -= step.by;
          heap.raised(item);
        }
        expect(heap.size).toBe(model.length);
      }
      const ranks = Array.from({ length: heap.size }, () => heap.pop()?.rank);
      expect(ranks).toEqual(model.map((item) => item.rank).sort((a, b) => a - b));
    }),
  );
});
