import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from './heap.js';

test('gives back what was put in, smallest first, at any mix of push and pop', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: -20, max: 20 }), { nil: 'pop' as const })), (operations) => {
      const heap = new Heap<number>((a, b) => a < b);
      const model: number[] = [];
      for (const operation of operations) {
        if (operation === 'pop') expect(heap.pop()).toBe(model.shift());
        else {
          heap.push(operation);
          model.push(operation);
          model.sort((a, b) => a - b);
        }
        expect([heap.size, heap.peek()]).toEqual([model.length, model[0]]);
      }
    }),
  );
});
