import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Timer } from './clock.js';
import { VirtualClock } from './virtual-clock.js';

/** A timer, and what it does when it runs. */
interface Plan {
  readonly delay: number;
  /** Cancels the timer made as the nth one, which may have run, or be itself. */
  readonly cancels: number | undefined;
  readonly children: readonly { readonly plan: Plan; readonly hops: 'none' | 'promise' | 'yield' }[];
}

type Step = { readonly set: Plan } | { readonly advance: number };

const planOf = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    delay: fc.integer({ min: -1, max: 12 }),
    cancels: fc.option(fc.nat({ max: 15 }), { nil: undefined, freq: 3 }),
    children:
      depth === 0
        ? fc.constant([])
        : fc.array(
            fc.record({
              plan: planOf(depth - 1),
              hops: fc.constantFrom('none' as const, 'promise' as const, 'yield' as const),
            }),
            { maxLength: 3 },
          ),
  });

const steps = fc.array(
  fc.oneof(
    fc.record({ set: planOf(3) }),
    fc.record({ advance: fc.integer({ min: 0, max: 20 }) }),
  ) as fc.Arbitrary<Step>,
  { maxLength: 12 },
);

type Trace = (readonly [id: number, at: number])[];

async function onTheClock(script: readonly Step[]): Promise<Trace> {
  const clock = new VirtualClock();
  const trace: Trace = [];
  const timers: Timer[] = [];
  const set = (plan: Plan): void => {
    const id = timers.length;
    const run = async () => {
      trace.push([id, clock.monotonic()]);
      if (plan.cancels !== undefined) timers[plan.cancels]?.cancel();
      for (const child of plan.children) {
        if (child.hops === 'promise') for (let hop = 0; hop < 5; hop += 1) await undefined;
        if (child.hops === 'yield') await clock.yield();
        set(child.plan);
      }
    };
    timers.push(clock.after(plan.delay, () => void run()));
  };
  for (const step of script) {
    if ('set' in step) set(step.set);
    else await clock.advance(step.advance);
  }
  return trace;
}

/** The same script with a plain list, looked through from start to end for the next timer each time. */
function inTheModel(script: readonly Step[]): Trace {
  const trace: Trace = [];
  const timers: { readonly plan: Plan; readonly deadline: number; waiting: boolean }[] = [];
  let now = 0;
  const set = (plan: Plan): void => {
    timers.push({ plan, deadline: now + Math.max(0, plan.delay), waiting: true });
  };
  const advance = (ms: number): void => {
    const target = now + ms;
    for (;;) {
      let next: number | undefined;
      for (const [id, timer] of timers.entries()) {
        if (!timer.waiting || timer.deadline > target) continue;
        if (next === undefined || timer.deadline < (timers[next]?.deadline ?? 0)) next = id;
      }
      const timer = next === undefined ? undefined : timers[next];
      if (next === undefined || timer === undefined) break;
      timer.waiting = false;
      now = timer.deadline;
      trace.push([next, now]);
      const cancelled = timer.plan.cancels === undefined ? undefined : timers[timer.plan.cancels];
      if (cancelled) cancelled.waiting = false;
      for (const child of timer.plan.children) set(child.plan);
    }
    now = target;
  };
  for (const step of script) {
    if ('set' in step) set(step.set);
    else advance(step.advance);
  }
  return trace;
}

test('timers run in the order of a simple model, whatever they set or cancel on their way', async () => {
  let ran = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const trace = await onTheClock(script);
      expect(trace).toEqual(inTheModel(script));
      ran += trace.length;
    }),
    { numRuns: 300 },
  );
  expect(ran).toBeGreaterThan(300);
});
