import type { ConnectedClient } from 'riata/client';
import type { ControllerDefinition } from 'riata/controller';
import type { Addable, Runnable } from 'riata/manager';
import type { Duration, KubeObject } from 'riata/object';
import { optionNames, type Scheduler } from 'riata/runtime';
import type { Definition } from '../install-definitions.js';
import type { InstallableKind } from '../test-environment-options.js';
import type { RegisterHandlers, TestManagerOptions } from '../test-manager.js';
import type { Outside } from './check/outside-guard.js';
import type { SpecChanges } from './explore/from-schema.js';
import type { ClusterChange, ClusterView } from './run/cluster-state.js';
import type { FaultKind } from './run/simulated-fault.js';

/** What a story acts with. */
export interface StoryContext<W = undefined> {
  /** Like kubectl. After each write, the controllers do all that follows from it before the story continues. */
  readonly client: ConnectedClient;
  /** Lets time pass. */
  advance(by: Duration): Promise<void>;
  readonly clock: Scheduler;
  /** What the option `world` made for this run. */
  readonly world: W;
}

/** What a process is started with. */
export interface ProcessContext<W = undefined> {
  /** What the option `world` made for this run: it survives crashes. */
  readonly world: W;
  /** The clock of this process. */
  readonly clock: Scheduler;
}

/** What a check sees. */
export interface CheckContext<W = undefined> {
  readonly view: ClusterView;
  readonly world: W;
}

/** What a check of every revision sees. */
export interface AlwaysContext<W = undefined> extends CheckContext<W> {
  /** The change that made this revision. */
  readonly change: ClusterChange;
}

/** A check: it fails when it throws, gives false, or gives a text that says what is wrong. */
export type Check<C> = (context: C) => unknown;

/**
 * The rules that every run is checked by:
 *
 * - `same end state`: as in the run without faults; uids, versions, times and generated names aside
 * - `nothing left`: when all that the story created has been deleted, nothing is left that was created since
 * - `no foreign deletion`: controllers delete nothing that they keep when there are no faults; nothing that the story or
 *   `setup` made is garbage collected with an owner that a controller gave it
 * - `one owner`: no reconcile changes or deletes an object whose controller is another object of the same kind
 * - `bounded reconciles`: convergence takes at most `maxReconciles`
 * - `no failing reconcile`: in the end, the last reconcile of every object has succeeded
 * - `steady state`: another pass over all objects makes no write
 * - `undone change`: when a change of the option `changes` has been undone, all is as before it
 */
export type SimulationRule =
  | 'same end state'
  | 'nothing left'
  | 'no foreign deletion'
  | 'one owner'
  | 'bounded reconciles'
  | 'no failing reconcile'
  | 'steady state'
  | 'undone change';

/** Options of `simulate`. */
export interface SimulateOptions<W = undefined> {
  /** Kinds of `defineKind` that the server serves. @default none */
  readonly kinds?: readonly InstallableKind[];
  /** More definitions to install. @default none */
  readonly crds?: readonly Definition[];
  /**
   * What each process runs: anything that `manager.add` takes. Give a function where controllers keep something in
   * memory: it is called at each start, so that a crash forgets it. @default none
   */
  readonly run?:
    | readonly (ControllerDefinition | Runnable | Addable)[]
    | ((context: ProcessContext<W>) => readonly (ControllerDefinition | Runnable | Addable)[]);
  /** Registers shared handlers and typed controllers in each process, as `TestEnvironment.runHandlers`. @default none */
  readonly handlers?: RegisterHandlers;
  /** What happens in the cluster. Called for each run: it must do the same each time. */
  readonly story: (story: StoryContext<W>) => unknown;
  /** Creates what is there before any process starts; called once. @default nothing */
  readonly setup?: (setup: { readonly client: ConnectedClient }) => unknown;
  /**
   * Makes what controllers act on besides the cluster, such as a cloud's API in memory: called for each run. It survives
   * crashes, and its state in the end, as JSON, must be the same with and without faults. @default undefined
   */
  readonly world?: () => W;
  /** Checked at every revision. @default none */
  readonly always?: readonly Check<AlwaysContext<W>>[];
  /** Checked when the story is over and everything has settled. @default none */
  readonly eventually?: readonly Check<CheckContext<W>>[];
  /** Checked when all that the story created has been deleted and everything has settled. @default none */
  readonly atTheEnd?: readonly Check<CheckContext<W>>[];
  /** Rules that do not hold for these controllers. @default none: all are checked */
  readonly except?: readonly SimulationRule[];
  /**
   * What controllers may depend on besides the cluster. Other uses are refused, with the line: runs would differ for
   * other reasons than faults. @default nothing
   */
  readonly allow?: readonly Outside[];
  /** Objects that may differ, and may be left in the end, such as backups that are kept on purpose. @default none */
  readonly ignore?: (object: KubeObject) => boolean;
  /**
   * What is compared of an object: leaves out, or replaces, what may differ for a good reason, such as the node that a
   * scheduler chose. Its metadata has to stay. @default all of it
   */
  readonly normalise?: (object: KubeObject) => KubeObject;
  /** The faults to try. @default all that apply */
  readonly faults?: readonly FaultKind[];
  /**
   * Changes of the objects that the story writes, as `fromSchema(Site)` draws them: each is made when the story is over, or
   * before it deletes the object, and undone. What the server refuses is in the report. @default none
   */
  readonly changes?: SpecChanges | readonly SpecChanges[];
  /** Processes that run at once; more than one need `manager: { leaderElection }` or sharding. @default 1 */
  readonly replicas?: number;
  /** Options of each manager. @default none */
  readonly manager?: Omit<TestManagerOptions, 'run' | 'name'>;
  /** The most runs to make: each change and each fault alone, then pairs, then several at random. @default all single faults, 50 pairs, 20 at random */
  readonly runs?: number;
  /** Pairs of faults to try. @default 50 */
  readonly pairs?: number;
  /** Runs with several faults at random. @default 20 */
  readonly random?: number;
  /**
   * Worker threads that make the runs; the result is the same with any number. More than one needs options of
   * `defineSimulation`, which the threads import. @default 1
   */
  readonly threads?: number;
  /** Of all randomness: the same seed gives the same runs. @default 1 */
  readonly seed?: number;
  /** The most reconciles that a run may take. @default ten times those of the run without faults, and 200 */
  readonly maxReconciles?: number;
  /** Keys that wait (retries, `requeueAfter`) count as work if they are due within this time after the story. @default '2m' */
  readonly horizon?: Duration;
  /** Makes this one run: the text that a failure printed. @default explores */
  readonly replay?: string;
}

export const simulateOptionNames = optionNames<SimulateOptions<unknown>>({
  kinds: true,
  crds: true,
  run: true,
  handlers: true,
  story: true,
  setup: true,
  world: true,
  always: true,
  eventually: true,
  atTheEnd: true,
  except: true,
  allow: true,
  ignore: true,
  normalise: true,
  faults: true,
  changes: true,
  replicas: true,
  manager: true,
  runs: true,
  pairs: true,
  random: true,
  threads: true,
  seed: true,
  maxReconciles: true,
  horizon: true,
  replay: true,
});
