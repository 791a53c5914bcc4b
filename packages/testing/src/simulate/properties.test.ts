import fc from 'fast-check';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { setControllerReference } from 'riata/object';
import { expect, test } from 'vitest';
import { inDefault, Widget, widget } from '../widget.fixture.js';
import { type FaultKind, formatPlan, parsePlan } from './run/simulated-fault.js';
import { simulate } from './simulate.js';
import type { StoryContext } from './simulate-options.js';
import type { SimulationError } from './simulation-error.js';

/** Creates a ConfigMap with a generated name and remembers it in the status: some faults in between make it create two. */
const twice = control(Widget, { name: 'twice' })
  // Watched, so that generated names are a part of each history.
  .owns(ConfigMap)
  .reconcile(async ({ object, client, status }) => {
    if (object.status?.size === undefined) {
      const page = ConfigMap({ metadata: { namespace: 'default', generateName: `${object.metadata.name}-` } });
      await client.create(setControllerReference(object, page));
    }
    await status({ size: object.spec.size });
  });

const story = async ({ client }: StoryContext) => {
  await client.create(widget('w'));
  await client.patch(Widget, inDefault('w'), { type: 'merge', body: { spec: { size: 2 } } });
};
const options = { kinds: [Widget], run: [twice], story };

/** Those that happen at writes and events of this story. */
const kinds: readonly FaultKind[] = ['crash-before', 'crash-after', 'lost-answer', 'error', 'late', 'missed', 'stale'];
const plans = fc.record({
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  faults: fc.array(fc.record({ kind: fc.constantFrom(...kinds), at: fc.integer({ min: 1, max: 4 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

/** Everything that a simulation reports, with the history of a failing run. */
const outcomeOf = (simulating: ReturnType<typeof simulate>): Promise<string> =>
  simulating.then(
    (report) => `${report.hash}\n${report}`,
    (error: SimulationError) => error.message,
  );

test('whatever the seed and the faults, the same plan gives the same history', async () => {
  const property = fc.asyncProperty(plans, async (plan) => {
    const replay = formatPlan(plan);
    expect(await outcomeOf(simulate({ ...options, replay }))).toBe(await outcomeOf(simulate({ ...options, replay })));
  });
  await fc.assert(property, { numRuns: 4 });
});

test('whatever the seed, what is found is shrunk to one fault that breaks the same rule when it is replayed', async () => {
  const property = fc.asyncProperty(plans, async ({ seed }) => {
    const found = await simulate({ ...options, seed }).catch((error: unknown) => error as SimulationError);
    const plan = parsePlan((found as SimulationError).replay);
    expect([plan.seed, plan.steps, plan.faults.length]).toEqual([seed, 1, 1]);
    const again = simulate({ ...options, replay: (found as SimulationError).replay });
    await expect(again).rejects.toMatchObject({ rule: (found as SimulationError).rule });
  });
  await fc.assert(property, { numRuns: 2 });
});
