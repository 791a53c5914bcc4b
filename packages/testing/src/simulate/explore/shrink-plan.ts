import type { RunPlan } from '../run/simulated-fault.js';

/** The most runs that shrinking takes. */
const mostTries = 200;

/**
 * The smallest plan that still fails: fewer faults and changed fields first, then a shorter story, then earlier points. `fails` makes a run.
 * Deterministic, so that the same failure always shrinks to the same plan.
 */
export async function shrinkPlan(
  plan: RunPlan,
  steps: number,
  fails: (plan: RunPlan) => Promise<boolean>,
): Promise<RunPlan> {
  let best = plan;
  let tries = 0;
  const isBetter = async (candidate: RunPlan): Promise<boolean> => {
    tries += 1;
    if (tries > mostTries || !(await fails(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let at = 0; at < best.faults.length && best.faults.length + (best.change === undefined ? 0 : 1) > 1; ) {
    const faults = best.faults.filter((_, index) => index !== at);
    if (!(await isBetter({ ...best, faults }))) at += 1;
  }
  for (let at = 0; at < (best.change?.fields.length ?? 0); ) {
    const smaller = withoutField(best, at);
    if (smaller === undefined || !(await isBetter(smaller))) at += 1;
  }
  for (let most = 1; most < (best.steps ?? steps); most += 1) {
    // What is changed has to be there.
    if (most < (best.change?.step ?? 1)) continue;
    const shorter = best.faults.length === 0 ? [{ ...best, steps: most }] : earlierPlans({ ...best, steps: most });
    if (await some(shorter, isBetter)) return best;
  }
  await some(earlierPlans(best), isBetter);
  return best;
}

/** Plans with the faults at the same points or at earlier ones, the earliest first. */
function* earlierPlans(plan: RunPlan): Generator<RunPlan> {
  const [first, ...others] = plan.faults;
  // Points depend on each other: with several faults, all are moved together.
  for (let at = 1; first !== undefined && at <= first.at; at += 1) {
    const by = first.at - at;
    const moved = others.map(({ kind, at: other }) => ({ kind, at: Math.max(1, other - by) }));
    yield { ...plan, faults: [{ ...first, at }, ...moved] };
  }
}

/** Without one of the changed fields; the last one goes if there are faults. */
function withoutField({ change, ...plan }: RunPlan, at: number): RunPlan | undefined {
  const fields = change?.fields.filter((_, index) => index !== at) ?? [];
  if (change === undefined || (fields.length === 0 && plan.faults.length === 0)) return undefined;
  return fields.length === 0 ? plan : { ...plan, change: { ...change, fields } };
}

async function some<T>(candidates: Iterable<T>, isGood: (candidate: T) => Promise<boolean>): Promise<boolean> {
  for (const candidate of candidates) if (await isGood(candidate)) return true;
  return false;
}
