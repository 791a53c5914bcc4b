import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DeadlineHeap } from './deadline-heap.js';

test('gives the earliest, equal ones in order, whatever was added, removed or advanced before', () => {
  const time = fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 0, max: 9 }) },
    { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
  );
  const step = fc.oneof(
    { weight: 60, arbitrary: fc.record({ add: time }) },
    { weight: 15, arbitrary: fc.record({ remove: fc.nat({ max: 40 }) }) },
    { weight: 15, arbitrary: fc.record({ advance: fc.nat({ max: 40 }), to: fc.integer({ min: 0, max: 9 }) }) },
    { weight: 15, arbitrary: fc.constant('take' as const) },
    { weight: 1, arbitrary: fc.constant('clear' as const) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const heap = new DeadlineHeap();
      let model: { readonly row: number; at: number; readonly order: number }[] = [];
      let order = 0;
      const first = () => [...model].sort((a, b) => (a.at === b.at ? a.order - b.order : a.at < b.at ? -1 : 1))[0];
      const drop = (row: number | undefined) => {
        model = model.filter((entry) => entry.row !== row);
      };
      for (const step of steps) {
        if (step === 'clear') {
          heap.clear();
          model = [];
        } else if (step === 'take') {
          const row = heap.first();
          if (row >= 0) heap.remove(row);
          drop(row);
        } else if ('add' in step) {
          const row = heap.add(step.add);
          expect(model.some((entry) => entry.row === row)).toBe(false);
          model.push({ row, at: step.add, order: order++ });
        } else if ('remove' in step) {
          const entry = model[step.remove];
          if (entry !== undefined) heap.remove(entry.row);
          drop(entry?.row);
        } else {
          const entry = model[step.advance];
          if (entry === undefined || entry.at <= step.to) continue;
          entry.at = step.to;
          heap.advance(entry.row, step.to);
        }
        expect(heap.size).toBe(model.length);
        expect(heap.first()).toBe(first()?.row ?? -1);
        for (const { row, at } of model) expect(heap.at(row)).toBe(at);
      }
    }),
  );
});
