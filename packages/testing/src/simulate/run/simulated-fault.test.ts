import fc from 'fast-check';
import { formatPointer, type Json } from 'riata/object';
import { expect, test } from 'vitest';
import { shrinkPlan } from '../explore/shrink-plan.js';
import { faultKinds, formatPlan, parsePlan, type RunPlan } from './simulated-fault.js';

const faults = fc.array(fc.record({ kind: fc.constantFrom(...faultKinds), at: fc.integer({ min: 1, max: 30 }) }), {
  minLength: 1,
  maxLength: 5,
});
const plans = fc.record({ seed: fc.nat(), steps: fc.integer({ min: 1, max: 6 }), faults });
/** As JSON, which knows no negative zero. */
const values = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
const fields = fc
  .tuple(fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 3 }), fc.option(values))
  .map(([tokens, value]) => ({ path: formatPointer(tokens), ...(value !== null && { value }) }));
const change = fc.record({
  step: fc.integer({ min: 1, max: 6 }),
  fields: fc.array(fields, { minLength: 1, maxLength: 3 }),
});
const changing = fc.tuple(plans, change).map(([plan, made]) => ({ ...plan, change: made }));

test('what is printed is what is replayed', () => {
  const replayed = (plan: RunPlan) => {
    expect(formatPlan(plan)).toMatch(/^[!-&(-[\]-~ ]*$/);
    expect(parsePlan(formatPlan(plan))).toEqual(plan);
  };
  fc.assert(fc.property(plans, replayed));
  fc.assert(fc.property(changing, replayed));
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

test('of changed fields and faults, only what it takes is left', async () => {
  const field = (name: string) => ({ path: `/spec/${name}`, value: 1 });
  const plan: RunPlan = {
    ...{ seed: 1, steps: 4, faults: [{ kind: 'late', at: 9 }] },
    change: { step: 2, fields: ['a', 'b', 'c'].map(field) },
  };
  const needs = (names: readonly string[], kinds: number) => (given: RunPlan) =>
    Promise.resolve(
      names.every((name) => given.change?.fields.some(({ path }) => path.endsWith(name))) &&
        given.faults.length >= kinds,
    );
  expect(formatPlan(await shrinkPlan(plan, 4, needs(['b'], 0)))).toBe('seed=1 steps=2 change@2:/spec/b=1');
  expect(formatPlan(await shrinkPlan(plan, 4, needs(['a', 'c'], 1)))).toBe(
    'seed=1 steps=2 change@2:/spec/a=1 change@2:/spec/c=1 late@1',
  );
  expect(formatPlan(await shrinkPlan(plan, 4, needs([], 1)))).toBe('seed=1 steps=1 late@1');
});
