import { refuseUnknownOptions, seededRandom } from 'riata/runtime';
import type { Verdict } from './check/judge-run.js';
import { describeOutside, watchOutside } from './check/outside-guard.js';
import { drawChanges, type ObjectChanges, randomChange, singleChanges } from './explore/draw-changes.js';
import { applicableKinds, faultsAfter, randomFaultsOf } from './explore/plan-faults.js';
import { type RunSummary, summarise } from './explore/run-summary.js';
import { FailedReference, RunTrials } from './explore/run-trials.js';
import { shrinkPlan } from './explore/shrink-plan.js';
import { describeFailure } from './report/describe-failure.js';
import { firstDifference } from './run/history.js';
import type { RunResult } from './run/run-result.js';
import { formatPlan, parsePlan, type RunPlan } from './run/simulated-fault.js';
import type { SimulatedRun } from './run/simulated-run.js';
import { type SimulateOptions, simulateOptionNames } from './simulate-options.js';
import { SimulationError } from './simulation-error.js';
import { SimulationReport } from './simulation-report.js';
import { sourceOf } from './threads/define-simulation.js';
import { ThreadPool } from './threads/thread-pool.js';

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
  const plan = options.replay === undefined ? undefined : parsePlan(options.replay);
  const { threads = 1 } = options;
  if (!Number.isInteger(threads) || threads < 1) {
    throw new TypeError(`simulate: threads must be an integer ≥ 1, got ${threads}`);
  }
  if (threads > 1 && sourceOf(options) === undefined) {
    throw new TypeError(
      'simulate: threads requires options of defineSimulation, which worker threads can import; functions can not be sent',
    );
  }
  using simulation = new Simulation(options, await RunTrials.create(options));
  return plan === undefined ? await simulation.explore() : await simulation.replay(plan);
}

class Simulation<W> implements Disposable {
  readonly #options: SimulateOptions<W>;
  readonly #trials: RunTrials<W>;
  readonly #report = new SimulationReport();
  readonly #seed: number;
  #pool: ThreadPool | undefined;
  /** Runs that were made to find something, shrinking aside. */
  #runs = 0;

  constructor(options: SimulateOptions<W>, trials: RunTrials<W>) {
    this.#options = options;
    this.#trials = trials;
    this.#seed = options.seed ?? 1;
  }

  async explore(): Promise<SimulationReport> {
    const seed = this.#seed;
    const { runs = Number.POSITIVE_INFINITY, manager = {}, faults } = this.#options;
    const { pairs = defaultPairs, random: chances = defaultRandom } = this.#options;
    const reference = await this.#twice({ seed, faults: [] });
    const changes = await this.#drawChanges(reference);
    const kinds = applicableKinds({
      ...(faults !== undefined && { faults }),
      hasLeader: manager.leaderElection !== undefined,
      isSharded: manager.sharding !== undefined,
    });
    const random = seededRandom(seed);
    const alone = faultsAfter(summarise(reference), { kinds });
    const all: RunPlan[] = [...singleChanges(changes, seed), ...alone.map((fault) => ({ seed, faults: [fault] }))];
    const tried = await this.#tryAll(all.length > runs ? random.shuffle(all).slice(0, runs) : all);
    const following: RunPlan[] = [];
    const isMore = () => this.#runs + following.length < runs;
    for (let count = 0; count < pairs && isMore() && tried.length > 0; count += 1) {
      const first = random.pick(tried);
      const seconds = faultsAfter(first, { kinds });
      if (seconds.length > 0) following.push({ ...first.plan, faults: [...first.plan.faults, random.pick(seconds)] });
    }
    const isChanging = changes.some(({ accepted }) => accepted.length > 0);
    for (let count = 0; count < chances && isMore() && all.length > 0; count += 1) {
      const change = isChanging && random.int(0, 1) === 1 ? randomChange(changes, random) : {};
      if (change.change !== undefined) following.push({ seed, ...change, faults: [] });
      if (alone.length > 0) following.push({ seed, ...change, faults: randomFaultsOf(alone, random) });
    }
    await this.#tryAll(following);
    return this.#report;
  }

  [Symbol.dispose](): void {
    this.#pool?.[Symbol.dispose]();
  }

  async replay(plan: RunPlan): Promise<SimulationReport> {
    const { faults: _, ...told } = plan;
    await this.#twice({ ...told, faults: [] });
    if (plan.faults.length === 0) return this.#report;
    const run = await this.#count(plan);
    const verdict = await this.#judge(run);
    if (verdict !== undefined) throw this.#error(run, verdict, this.#runs);
    this.#report.add(summarise(run));
    return this.#report;
  }

  /** What the server accepts of the changes. */
  #drawChanges(reference: RunResult): Promise<readonly ObjectChanges[]> {
    const { changes = [] } = this.#options;
    return drawChanges({
      ...{ changes: [changes].flat(), seed: this.#seed, reference },
      run: (plan, probe) => this.#trials.run(plan, { probe }),
      onRefused: (change, why) => this.#report.refused.set(change, why),
    });
  }

  /** Makes the runs of these plans in order; rejects with the first failure. */
  async #tryAll(plans: readonly RunPlan[]): Promise<readonly RunSummary[]> {
    const tried: RunSummary[] = [];
    for await (const summary of this.#summaries(plans)) {
      this.#report.add(summary);
      tried.push(summary);
    }
    return tried;
  }

  async *#summaries(plans: readonly RunPlan[]): AsyncGenerator<RunSummary> {
    const { threads = 1 } = this.#options;
    const source = sourceOf(this.#options);
    if (threads === 1 || source === undefined || plans.length === 0) {
      for (const plan of plans) yield await this.#try(plan);
      return;
    }
    this.#pool ??= new ThreadPool(source, threads, this.#report.hash);
    for await (const summary of this.#pool.run(plans)) {
      if (summary.violated === undefined) this.#runs += 1;
      else await this.#tryAgain(summary);
      yield summary;
    }
  }

  /** A run that failed in another thread fails here as well, and is shrunk and reported here. */
  async #tryAgain({ plan, violated }: RunSummary): Promise<never> {
    await this.#try(plan);
    const replay = formatPlan(plan);
    throw new SimulationError(
      `simulate: the run "${replay}" violates "${violated}" in a worker thread and nothing in this one; something ` +
        'depends on more than the cluster, such as what earlier runs left in memory',
      { rule: 'determinism', replay, runs: this.#runs },
    );
  }

  async #try(plan: RunPlan): Promise<RunSummary> {
    const run = await this.#count(plan);
    const verdict = await this.#judge(run);
    if (verdict === undefined) return summarise(run);
    throw await this.#shrunk(run, verdict);
  }

  /** The failure of the smallest run that violates the same rule. */
  async #shrunk(run: RunResult, verdict: Verdict): Promise<SimulationError> {
    const { plan } = run;
    const runs = this.#runs;
    const most = plan.change === undefined ? run.steps.length : run.told;
    const smallest = await shrinkPlan(plan, most, async (candidate) => {
      const again = await this.#trials.run(candidate).catch(() => undefined);
      if (again === undefined) return false;
      if (candidate.faults.length > 0 && candidate.steps !== undefined && again.happened.length === 0) return false;
      const found = await this.#trials.judge(again).catch(() => undefined);
      return found?.failure.rule === verdict.failure.rule;
    });
    if (smallest === plan) return this.#error(run, verdict, runs);
    const shrunk = await this.#trials.run(smallest);
    return this.#error(shrunk, (await this.#judge(shrunk)) ?? verdict, runs);
  }

  #count(plan: RunPlan): Promise<RunResult> {
    this.#runs += 1;
    return this.#trials.run(plan);
  }

  async #judge(run: RunResult): Promise<Verdict | undefined> {
    try {
      return await this.#trials.judge(run);
    } catch (error) {
      if (!(error instanceof FailedReference)) throw error;
      throw this.#error(error.run, error.verdict, this.#runs);
    }
  }

  /** A run without faults. The whole story is run twice, as what differs then would be taken for a consequence of faults. */
  async #twice(plan: RunPlan): Promise<RunResult> {
    const reference = await this.#watched(plan);
    const verdict = await this.#judge(reference);
    if (verdict !== undefined) {
      throw this.#options.replay === undefined
        ? await this.#shrunk(reference, verdict)
        : this.#error(reference, verdict, this.#runs);
    }
    this.#report.add(summarise(reference));
    if (plan.steps !== undefined) return reference;
    const other = await this.#count(plan);
    this.#refuseOther(reference, other);
    this.#report.add(summarise(other));
    return reference;
  }

  /** A run that is refused if a controller depends on more than the cluster. */
  async #watched(plan: RunPlan): Promise<RunResult> {
    const { allow = [] } = this.#options;
    let found: string | undefined;
    let run: SimulatedRun<W> | undefined;
    using _ = watchOutside(
      (what) => found === undefined && !allow.includes(what) && (run?.active.length ?? 0) > 0,
      (use) => {
        found ??= describeOutside(use, run?.active ?? []);
      },
    );
    this.#runs += 1;
    const onRun = (made: SimulatedRun<W>) => {
      run = made;
    };
    const result = await this.#trials.run(plan, { onRun });
    if (found === undefined) return result;
    const replay = formatPlan(plan);
    throw new SimulationError(`simulate: ${found}`, { rule: 'determinism', replay, runs: this.#runs });
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

  #error(run: RunResult, verdict: Verdict, runs: number): SimulationError {
    const { rule, cause } = verdict.failure;
    return new SimulationError(describeFailure(run, verdict, runs), {
      ...{ rule, replay: formatPlan(run.plan), runs, cause },
    });
  }
}
