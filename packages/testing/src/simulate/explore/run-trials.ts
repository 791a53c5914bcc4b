import type { ServerSnapshot } from '@riata/apiserver';
import { RequestReader } from '../../requests/request-target.js';
import { TestEnvironment } from '../../test-environment.js';
import { judgeRun, type Verdict } from '../check/judge-run.js';
import { normaliseState } from '../check/normalise-state.js';
import type { ChangeTurn } from '../run/change-turn.js';
import type { RunResult, RunState } from '../run/run-result.js';
import { formatPlan, type RunPlan } from '../run/simulated-fault.js';
import { SimulatedRun } from '../run/simulated-run.js';
import type { SimulateOptions } from '../simulate-options.js';

/** How many reconciles any run may take, however few the one without faults takes. */
const leastReconciles = 200;
/** Of what is there before the story. With the seed of a run, objects of both would get the same uids. */
const setupSeed = 2_147_483_647;
/** How many the one without faults may take. */
const mostReconciles = 500;

/** A run that was compared with another one, which itself fails: that one is the failure. */
export class FailedReference extends Error {
  override readonly name = 'FailedReference';
  readonly run: RunResult;
  readonly verdict: Verdict;

  constructor(run: RunResult, verdict: Verdict) {
    super(verdict.failure.message);
    this.run = run;
    this.verdict = verdict;
  }
}

/** Makes runs and judges them by the same run without faults. */
export class RunTrials<W> {
  readonly #options: SimulateOptions<W>;
  readonly #base: Base;
  readonly #reader: RequestReader;
  /** Runs without faults, by their plans. */
  readonly #references = new Map<string, RunResult>();
  #usualReconciles: number | undefined;
  /** Of states that were compared: those of a run without faults are compared with all others. */
  readonly #texts = new WeakMap<RunState, ReadonlyMap<string, string>>();

  private constructor(options: SimulateOptions<W>, base: Base) {
    this.#options = options;
    this.#base = base;
    this.#reader = new RequestReader(options.kinds ?? []);
    this.#reader.learn((options.crds ?? []).map(({ spec: { group, names } }) => ({ group, ...names })));
  }

  static async create<W>(options: SimulateOptions<W>): Promise<RunTrials<W>> {
    return new RunTrials(options, await baseOf(options));
  }

  async run(
    plan: RunPlan,
    { onRun, probe }: { onRun?: (run: SimulatedRun<W>) => void; probe?: (turn: ChangeTurn) => Promise<void> } = {},
  ): Promise<RunResult> {
    const { maxReconciles } = this.#options;
    const usual = this.#usualReconciles;
    const most = usual === undefined ? mostReconciles : Math.max(leastReconciles, 10 * usual);
    const run = new SimulatedRun<W>(
      {
        ...{ options: this.#options, ...this.#base, reader: this.#reader, maxReconciles: maxReconciles ?? most },
        ...(probe !== undefined && { probe }),
      },
      plan,
    );
    onRun?.(run);
    return run.execute();
  }

  /** What a run has violated; rejects with a {@link FailedReference} if it can't be compared. */
  async judge(run: RunResult): Promise<Verdict | undefined> {
    const { except = [] } = this.#options;
    const options = { except, textsOf: (state: RunState) => this.#textsOf(state) };
    if (run.plan.faults.length > 0) return judgeRun(run, { ...options, reference: await this.reference(run.plan) });
    const verdict = judgeRun(run, options);
    if (verdict === undefined) this.keep(run);
    return verdict;
  }

  /** The run of this plan without its faults. */
  async reference({ faults: _, ...plan }: RunPlan): Promise<RunResult> {
    const wanted: RunPlan = { ...plan, faults: [] };
    const known = this.#references.get(formatPlan(wanted));
    if (known !== undefined) return known;
    const run = await this.run(wanted);
    const verdict = await this.judge(run);
    if (verdict !== undefined) throw new FailedReference(run, verdict);
    return run;
  }

  #textsOf(state: RunState): ReadonlyMap<string, string> {
    const texts = this.#texts.get(state) ?? normaliseState(state);
    this.#texts.set(state, texts);
    return texts;
  }

  /** Keeps a run without faults to compare others with. */
  keep(run: RunResult): void {
    const { steps, change } = run.plan;
    if (steps === undefined && change === undefined) this.#usualReconciles = run.reconciles;
    this.#references.set(formatPlan(run.plan), run);
  }
}

interface Base {
  /** The server with everything that is there before the story. */
  readonly base: ServerSnapshot;
  readonly resources: ReadonlyMap<string, string>;
}

async function baseOf<W>({ kinds = [], crds = [], setup }: SimulateOptions<W>): Promise<Base> {
  await using env = await TestEnvironment.start({ kinds, crds, server: 'in-process', seed: setupSeed });
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
