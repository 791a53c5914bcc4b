import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shrinkPlan } from '../explore/shrink-plan.js';
import { faultKinds, formatPlan, parsePlan, type RunPlan } from './simulated-fault.js';

const faults = fc.array(fc.record({ kind: fc.constantFrom(...faultKinds), at: fc.integer({ min: 1, max: 30 }) }), {
  minLength: 1,
  maxLength: 5,
});
const plans = fc.record({ seed: fc.nat(), steps: fc.integer({ min: 1, max: 6 }), faults });

test('what is printed is what is replayed', () => {
  fc.assert(fc.property(plans, (plan) => void expect(parsePlan(formatPlan(plan))).toEqual(plan)));
});

test('a shrunk plan still fails, is never larger, and is the same each time', async () => {
  const sizeOf = ({ faults: all, steps = 6 }: RunPlan) => all.length * 1_000 + steps * 100 + (all[0]?.at ?? 0);
  await fc.assert(
    fc.asyncProperty(faults, fc.integer({ min: 1, max: 6 }), async (given, needed) => {
      const plan: RunPlan = { seed: 1, faults: given };
      const culprit = given.at(-1)!;
      // It takes the last fault, at any point, and so many steps.
      const fails = async ({ faults: all, steps = 6 }: RunPlan) =>
        steps >= needed && all.some(({ kind }) => kind === culprit.kind);
      const shrunk = await shrinkPlan(plan, 6, fails);
      expect(await fails(shrunk)).toBe(true);
      expect(sizeOf(shrunk)).toBeLessThanOrEqual(sizeOf(plan));
      expect(shrunk).toEqual(await shrinkPlan(plan, 6, fails));
      expect(shrunk.faults).toEqual([{ kind: culprit.kind, at: 1 }]);
      expect(shrunk.steps ?? 6).toBe(needed);
    }),
  );
});
