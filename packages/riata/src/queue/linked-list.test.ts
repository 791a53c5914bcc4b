import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LinkedList } from './linked-list.js';

class Item {
  previous: Item | undefined;
  next: Item | undefined;
}

test('keeps the order in which items came, whichever leave', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat({ max: 9 }), { nil: 'append' as const })), (steps) => {
      const list = new LinkedList<Item>();
      const model: Item[] = [];
      for (const step of steps) {
        if (step === 'append') {
          const item = new Item();
          list.append(item);
          model.push(item);
        } else {
          const [item] = model.splice(step, 1);
          if (item === undefined) continue;
          list.remove(item);
          expect([item.previous, item.next]).toEqual([undefined, undefined]);
        }
        const forth: Item[] = [];
        for (let item = list.first; item !== undefined; item = item.next) forth.push(item);
        const back: Item[] = [];
        for (let item = list.last; item !== undefined; item = item.previous) back.unshift(item);
        expect(forth.length === model.length && forth.every((item, at) => item === model[at])).toBe(true);
        expect(back.length === model.length && back.every((item, at) => item === model[at])).toBe(true);
        expect(list.size).toBe(model.length);
      }
    }),
  );
});
