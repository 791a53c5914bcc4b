import type { ServerSnapshot } from '@riata/apiserver';
import { refuseUnknownOptions, seededRandom } from 'riata/runtime';
import { RequestReader } from '../requests/request-target.js';
import { TestEnvironment } from '../test-environment.js';
import { judgeRun, type Verdict } from './check/judge-run.js';
import { describeOutside, watchOutside } from './check/outside-guard.js';
import { applicableKinds, faultsAfter, randomFaultsOf } from './explore/plan-faults.js';
import { shrinkPlan } from './explore/shrink-plan.js';
import { describeFailure } from './report/describe-failure.js';
import { firstDifference } from './run/history.js';
import type { RunResult } from './run/run-result.js';
import { formatPlan, parsePlan, type RunPlan } from './run/simulated-fault.js';
import { type RunParts, SimulatedRun } from './run/simulated-run.js';
import { type SimulateOptions, simulateOptionNames } from './simulate-options.js';
import { SimulationError } from './simulation-error.js';
import { SimulationReport } from './simulation-report.js';

/** How many reconciles any run may take, however few the one without faults takes. */
const leastReconciles = 200;
/** How many the one without faults may take. */
const mostReconciles = 500;
const defaultPairs = 50;
const defaultRandom = 20;

/**
 * Runs a story again and again, each time with other faults: crashes before and after every write, lost answers, conflicts,
 * stale views, missed events. All is in this process, on a virtual clock. Rejects with a {@link SimulationError} that
 * tells the shortest failing story; resolves to a report if every run ends as it does without faults.
 *
 * @example
 * test('sites survive anything', () => simulate({
 *   kinds: [Site], run: [sites],
 *   story: async ({ client }) => { await client.create(site); await client.delete(Site, key); },
 * }));
 */
export async function simulate<W = undefined>(options: SimulateOptions<W>): Promise<SimulationReport> {
  refuseUnknownOptions('simulate', options, simulateOptionNames);
  const simulation = new Simulation(options, await baseOf(options));
  return options.replay === undefined ? simulation.explore() : simulation.replay(parsePlan(options.replay));
}

class Simulation<W> {
  readonly #options: SimulateOptions<W>;
  readonly #base: Base;
  readonly #report = new SimulationReport();
  readonly #reader: RequestReader;
  /** Runs without faults, by the number of steps. */
  readonly #references = new Map<number | undefined, RunResult>();
  #runs = 0;

  constructor(options: SimulateOptions<W>, base: Base) {
    this.#options = options;
    this.#base = base;
    this.#reader = new RequestReader(options.kinds ?? []);
    const definitions = (options.crds ?? []).map(({ spec: { group, names } }) => ({ group, ...names }));
    this.#reader.learn(definitions);
  }

  async explore(): Promise<SimulationReport> {
    const { seed = 1, runs = Number.POSITIVE_INFINITY, manager = {}, faults } = this.#options;
    const { pairs = defaultPairs, random: chances = defaultRandom } = this.#options;
    const reference = await this.#reference(undefined, seed);
    const kinds = applicableKinds({
      ...(faults !== undefined && { faults }),
      hasLeader: manager.leaderElection !== undefined,
      isSharded: manager.sharding !== undefined,
    });
    const random = seededRandom(seed);
    const all = faultsAfter(reference, { kinds });
    const singles = all.length > runs ? random.shuffle(all).slice(0, runs) : all;
    const tried: RunResult[] = [];
    for (const fault of singles) tried.push(await this.#try({ seed, faults: [fault] }));
    for (let count = 0; count < pairs && this.#runs < runs && tried.length > 0; count += 1) {
      const first = random.pick(tried);
      const seconds = faultsAfter(first, { kinds });
      if (seconds.length === 0) continue;
      await this.#try({ seed, faults: [...first.plan.faults, random.pick(seconds)] });
    }
    for (let count = 0; count < chances && this.#runs < runs && all.length > 0; count += 1) {
      await this.#try({ seed, faults: randomFaultsOf(all, random) });
    }
    return this.#report;
  }

  async replay(plan: RunPlan): Promise<SimulationReport> {
    await this.#reference(plan.steps, plan.seed);
    const run = await this.#run(plan);
    const verdict = await this.#judge(run);
    if (verdict !== undefined) throw await this.#error(run, verdict, this.#runs);
    return this.#report;
  }

  async #try(plan: RunPlan): Promise<RunResult> {
    const run = await this.#run(plan);
    const verdict = await this.#judge(run);
    if (verdict === undefined) return run;
    const runs = this.#runs;
    const smallest = await shrinkPlan(plan, run.steps.length, async (candidate) => {
      const again = await this.#run(candidate).catch(() => undefined);
      if (again === undefined || (candidate.steps !== undefined && again.happened.length === 0)) return false;
      const found = await this.#judge(again).catch(() => undefined);
      return found?.failure.rule === verdict.failure.rule;
    });
    const shrunk = await this.#run(smallest);
    throw await this.#error(shrunk, (await this.#judge(shrunk)) ?? verdict, runs);
  }

  /** A run that is refused if a controller depends on more than the cluster. */
  async #watched(plan: RunPlan): Promise<RunResult> {
    const { allow = [] } = this.#options;
    let found: string | undefined;
    let run: SimulatedRun<W> | undefined;
    using _ = watchOutside(
      () => found === undefined && (run?.active.length ?? 0) > 0,
      (use) => {
        if (!allow.includes(use.what)) found ??= describeOutside(use, run?.active ?? []);
      },
    );
    const result = await this.#run(plan, (made) => {
      run = made;
    });
    if (found === undefined) return result;
    const replay = formatPlan(plan);
    throw new SimulationError(`simulate: ${found}`, { rule: 'determinism', replay, runs: this.#runs });
  }

  async #run(plan: RunPlan, onRun?: (run: SimulatedRun<W>) => void): Promise<RunResult> {
    this.#runs += 1;
    const { maxReconciles } = this.#options;
    const usual = this.#references.get(undefined)?.reconciles ?? Number.POSITIVE_INFINITY;
    const most = maxReconciles ?? Math.max(leastReconciles, 10 * usual);
    const parts: RunParts<W> = {
      ...{ options: this.#options, ...this.#base, reader: this.#reader },
      maxReconciles: Number.isFinite(most) ? most : mostReconciles,
    };
    const run = new SimulatedRun(parts, plan);
    onRun?.(run);
    const result = await run.execute();
    this.#report.add(result);
    return result;
  }

  async #judge(run: RunResult): Promise<Verdict | undefined> {
    const { except = [] } = this.#options;
    const { steps, seed } = run.plan;
    return judgeRun(run, { except, reference: await this.#reference(steps, seed) });
  }

  /** The run without faults. It is made twice, as whatever differs then would be taken for a consequence of faults. */
  async #reference(steps: number | undefined, seed: number): Promise<RunResult> {
    const known = this.#references.get(steps);
    if (known !== undefined) return known;
    const plan: RunPlan = { seed, ...(steps !== undefined && { steps }), faults: [] };
    const reference = await this.#watched(plan);
    const verdict = judgeRun(reference, { except: this.#options.except ?? [] });
    if (verdict !== undefined) throw await this.#error(reference, verdict, 1);
    if (steps === undefined) this.#refuseOther(reference, await this.#run(plan));
    this.#references.set(steps, reference);
    return reference;
  }

  #refuseOther(one: RunResult, other: RunResult): void {
    const differs = firstDifference(one.history, other.history);
    if (differs === undefined) return;
    throw new SimulationError(
      'simulate: two runs without faults differ, so that nothing can be compared; something depends on more than the ' +
        'cluster: the wall clock, real timers, randomness, the network, or what an earlier run left in memory\n' +
        `  first run:  ${differs.one ?? 'nothing more'}\n  second run: ${differs.other ?? 'nothing more'}`,
      { rule: 'determinism', replay: formatPlan(one.plan), runs: this.#runs },
    );
  }

  async #error(run: RunResult, verdict: Verdict, runs: number): Promise<SimulationError> {
    return new SimulationError(describeFailure(run, verdict, runs), {
      ...{ rule: verdict.failure.rule, replay: formatPlan(run.plan), runs, cause: verdict.failure.cause },
    });
  }
}

interface Base {
  readonly base: ServerSnapshot;
  readonly resources: ReadonlyMap<string, string>;
}

/** The server with everything that is there before the story. */
async function baseOf<W>({ kinds = [], crds = [], setup }: SimulateOptions<W>): Promise<Base> {
  await using env = await TestEnvironment.start({ kinds, crds, server: 'in-process' });
  await setup?.({ client: env.client });
  const base = await env.snapshot();
  const resources = new Map<string, string>();
  for (const [resource, objects] of env.server?.storage.snapshot?.().resources ?? []) {
    for (const { object } of objects.values()) {
      const { apiVersion, kind } = object;
      resources.set(`${apiVersion.includes('/') ? apiVersion.split('/')[0] : ''}/${kind}`, resource);
      break;
    }
  }
  return { base, resources };
}
