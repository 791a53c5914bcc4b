import { ApiServer, type ServerSnapshot } from '@riata/apiserver';
import { type ConnectedClient, createClient } from 'riata/client';
import { type Duration, durationMs, type KubeObject } from 'riata/object';
import { describeError, type Random, seededRandom, silentLogger, VirtualClock } from 'riata/runtime';
import { failingReconciles } from '../../failing-reconciles.js';
import { WebhookFaults } from '../../faults/webhook-faults.js';
import type { RequestReader } from '../../requests/request-target.js';
import { VirtualTime } from '../../test-time.js';
import { WebhookReplicas } from '../../webhooks/webhook-replicas.js';
import type { Check, SimulateOptions, SimulationRule } from '../simulate-options.js';
import { type ChangeTurn, makeChange } from './change-turn.js';
import { type ClusterChange, ClusterState, idOf } from './cluster-state.js';
import { deleteAll } from './delete-all.js';
import { History } from './history.js';
import { passAgain } from './pass-again.js';
import type { ProcessLine } from './process-line.js';
import { RemovedObjects } from './removed-objects.js';
import { failedChecks } from './run-checks.js';
import { RunFailure, type ViolatedRule } from './run-failure.js';
import { RunObserver } from './run-observer.js';
import type { ChangeResult, RunResult, RunState } from './run-result.js';
import { settleRun } from './settle-run.js';
import type { RunPlan } from './simulated-fault.js';
import { SimulatedProcess } from './simulated-process.js';
import { storyClient } from './story-client.js';
import { StoryLine } from './story-line.js';

/** What all runs of a simulation share. */
export interface RunParts<W> {
  readonly options: SimulateOptions<W>;
  /** The server before the first process starts. */
  readonly base: ServerSnapshot;
  /** Resources of the storage by `group/kind`. */
  readonly resources: ReadonlyMap<string, string>;
  readonly maxReconciles: number;
  readonly reader: RequestReader;
  /** Called when the story is over, before the clean-up: finds out which changes the server accepts. @default nothing */
  readonly probe?: (turn: ChangeTurn) => Promise<void>;
}

/** A process that exits with an error more often is in a crash loop. */
const mostFailedStarts = 3;
/** How long a process takes to start again. */
const restartMs = 1_000;
/** How long a failed reconcile may wait before it is tried again. */
const longRetryMs = 60_000;

/** One run of the story, with the faults of a plan. */
export class SimulatedRun<W> {
  readonly clock = new VirtualClock({ quietTurns: 2, busyLimitMs: 60_000 });
  readonly time = new VirtualTime(this.clock);
  readonly history = new History();
  readonly processes: SimulatedProcess[] = [];
  readonly observer: RunObserver;
  readonly #parts: RunParts<W>;
  readonly #plan: RunPlan;
  readonly #random: Random;
  readonly #reader: RequestReader;
  readonly #webhookFaults = new WebhookFaults((_, { manager, webhook }) =>
    this.observer.onWebhookFault(manager, webhook, this.#webhookFaults.calls),
  );
  readonly #world: W;
  #server!: ApiServer;
  #state!: ClusterState;
  #webhooks!: WebhookReplicas;
  #story!: StoryLine;
  #removed!: RemovedObjects;
  #client!: ConnectedClient;
  readonly #lines: ProcessLine[] = [];
  /** After each step of the story. */
  readonly #states = new Map<number, RunState>();
  #started = 0;
  #failedStarts = 0;
  #isDown = false;
  #isOver = false;
  #failure: RunFailure | undefined;
  #change: ChangeResult | undefined;
  #told: number | undefined;

  constructor(parts: RunParts<W>, plan: RunPlan) {
    this.#parts = parts;
    this.#plan = plan;
    this.#random = seededRandom(plan.seed);
    this.#reader = parts.reader;
    this.#world = parts.options.world?.() as W;
    this.observer = new RunObserver({
      ...{ plan, history: this.history, clock: this.clock, maxReconciles: parts.maxReconciles },
      fail: (rule, message) => this.#fail(rule, message),
      release: () => queueMicrotask(() => this.#lines.forEach((line) => void line.releaseAll())),
      running: (name) => this.processes.find((each) => each.name === name)?.running ?? [],
      find: (kind, group, key) => this.#state.get({ kind, group } as never, key),
    });
  }

  async execute(): Promise<RunResult> {
    let after: RunState | undefined;
    let end: RunState | undefined;
    try {
      await this.#begin();
      await this.#tell();
      this.#told = this.#story.steps.length;
      await this.#makeChange();
      await this.settle(this.#horizonMs, true);
      // After a part of the story, or a change that stays, what the story leads to need not hold.
      const isWhole = this.#plan.steps === undefined && !this.#change?.refused;
      if (isWhole) this.#check('eventually', this.#parts.options.eventually ?? [], this.#context);
      after = this.#snapshot();
      await this.#passAgain();
      await this.#tearDown();
      end = this.#snapshot();
      this.#check('atTheEnd', this.#parts.options.atTheEnd ?? [], this.#context);
    } catch (error) {
      this.#failure ??= error instanceof RunFailure ? error : new RunFailure('settling', describeError(error), error);
    } finally {
      this.#isOver = true;
      for (const process of this.processes) process.kill();
      await this.#server?.stop();
    }
    return this.#result(after, end);
  }

  /** Does all that follows from what happened, with time moving as far as `horizonMs` needs. */
  settle(horizonMs = 1_000, isEnd = false): Promise<void> {
    return settleRun(this, horizonMs, isEnd);
  }

  /** Throws if something has gone wrong so far. */
  refuseFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Names of controllers that are reconciling right now. */
  get active(): readonly string[] {
    const controllers = this.processes.flatMap(({ manager, isDead }) => (isDead ? [] : manager.controllers));
    return controllers.filter(({ active }) => active.length > 0).map(({ name }) => name);
  }

  get server(): ApiServer {
    return this.#server;
  }

  get steps(): number {
    return this.#story.steps.length;
  }

  /** Starts what has to run and does not. Gives false if all of it runs. */
  async revive(): Promise<boolean> {
    if (this.#isDown) return false;
    const { replicas = 1 } = this.#parts.options;
    const wanted = replicas + this.observer.joined;
    for (const process of [...this.processes]) {
      const { exit } = process.manager;
      if (exit?.reason === 'failed' && !process.isDead) {
        const why = `${process.name} failed: ${exit.runnable}: ${describeError(exit.error)}`;
        this.observer.note(process.name, 'crash', `exits: ${exit.runnable}: ${describeError(exit.error)}`);
        // As in a cluster, it is started again.
        this.#failedStarts += 1;
        if (this.#failedStarts > mostFailedStarts) this.#fail('manager', `${why}, ${this.#failedStarts} times`);
      }
      if (exit !== undefined) process.kill();
      if (process.isDead) this.processes.splice(this.processes.indexOf(process), 1);
    }
    if (this.processes.length >= wanted) return false;
    if (this.#started >= wanted) await this.clock.advance(restartMs);
    while (this.processes.length < wanted) await this.#start();
    return true;
  }

  /** Has the processes restart in the past, if a fault says so. */
  travel(): boolean {
    const event = this.observer.travel();
    if (event === undefined) return false;
    for (const process of this.processes) {
      process.kill();
      this.observer.note(process.name, 'crash', `dies; the next one starts on the state from before ${event}`);
    }
    return true;
  }

  async #begin(): Promise<void> {
    const { base, resources, options } = this.#parts;
    const { clock } = this;
    const starting = ApiServer.start({ from: base, clock, random: this.#random, log: silentLogger });
    this.#server = await this.time.drive(starting, 'the start of the server');
    this.#state = new ClusterState(this.#server.storage, resources, (change) => this.#changed(change));
    this.#webhooks = new WebhookReplicas(this.#server);
    const { inner, config } = this.#connect('story');
    const { steps: most } = this.#plan;
    this.#story = new StoryLine({
      ...{ inner, reader: this.#reader, ...(most !== undefined && { most }) },
      onStep: (step, number) => {
        if (this.observer.onStep(step, number)) this.#goDown();
      },
      onAnswer: (step, number, created) => this.observer.onStepAnswer(step, number, created),
      repeats: () => {
        if (this.#isDown) return 'when up';
        return this.#plan.faults.some(({ kind }) => kind.endsWith('-webhook')) ? 'at once' : 'never';
      },
    });
    this.#removed = new RemovedObjects(this.#state, this.#story, this.observer);
    const runtime = { clock, random: this.#random, log: silentLogger };
    this.#client = createClient({ ...config, transport: this.#story }, { runtime });
    for (const { kind, at } of this.#plan.faults) {
      if (kind === 'slow-webhook') this.#webhookFaults.add({}, { delay: '5s' }, { after: at - 1, times: 1 });
      if (kind === 'failed-webhook') this.#webhookFaults.add({}, { cut: true }, { after: at - 1, times: 1 });
    }
    for (let count = 0; count < (options.replicas ?? 1); count += 1) await this.#start();
    await this.settle();
  }

  #connect(name: string) {
    const config = this.#server.connect({ name });
    return { config, inner: config.transport };
  }

  async #start(): Promise<void> {
    const { options } = this.#parts;
    this.#started += 1;
    const name = `manager-${this.#started}`;
    const lagAt = this.observer.takeLag();
    this.history.add({
      ...{ atMs: this.clock.monotonic(), who: name, what: 'start' },
      text: lagAt === undefined ? 'starts' : `starts, connected to an API server that lags behind at revision ${lagAt}`,
    });
    const { run = [] } = options;
    let kill = () => {};
    const starting = SimulatedProcess.start(
      {
        ...{ name, time: this.time, reader: this.#reader, work: this.observer, webhookFaults: this.#webhookFaults },
        runtime: { random: this.#random, log: silentLogger },
        observer: this.observer.ofProcess(name, () => kill()),
        listener: this.#webhooks.listener,
        connect: () => this.#connect(name).config,
        delay: (ms, fn) => void this.clock.after(ms, fn),
        ...(lagAt !== undefined && { lagAt }),
        options: (clock) => ({
          ...options.manager,
          run: this.observer.around(typeof run === 'function' ? run({ world: this.#world, clock }) : run),
        }),
      },
      (line, killing) => {
        kill = killing;
        this.#lines.push(line);
      },
    );
    const process = await this.time.drive(starting, `the start of ${name}`);
    this.processes.push(process);
    if (options.handlers !== undefined) {
      await this.time.drive(process.manager.addHandlers(options.handlers), `the handlers of ${name}`);
    }
    await process.awaitWebhooks(() => this.clock.advance(1_000));
  }

  async #tell(): Promise<void> {
    const story = {
      client: this.#storyClient(),
      advance: async (by: Duration) => {
        this.observer.onAdvance(by);
        await this.clock.advance(durationMs(by, 'advance'));
        await this.settle();
      },
      ...{ clock: this.clock, world: this.#world },
    };
    const told = (async () => this.#parts.options.story(story))();
    try {
      await Promise.race([told, this.#story.stopped]);
    } catch (error) {
      this.refuseFailure();
      throw new RunFailure('story', `the story failed: ${describeError(error)}`, error);
    }
  }

  /** Changes an object and undoes that, if the plan says so. */
  async #makeChange(): Promise<void> {
    const { change } = this.#plan;
    const { probe } = this.#parts;
    if (change === undefined && probe === undefined) return;
    this.#story.end();
    const [observer, { steps }] = [this.observer, this.#story];
    const turn: ChangeTurn = {
      ...{ client: this.#client, steps },
      point: () => ({
        ...{ write: observer.writes.length, event: observer.events.length },
        ...{ step: steps.length, webhook: this.#webhookFaults.calls },
      }),
      drive: (promise, what) => this.#untilAnswered(promise, what),
      settle: () => this.settle(this.#horizonMs),
      ...{ finishStep: () => this.#finishStep(), snapshot: () => this.#snapshot() },
      // With a fault before, events may be held back, and a failed reconcile may still be waiting.
      checkConverged: () => (observer.happened.length === 0 ? this.#passAgain() : Promise.resolve()),
      note: (text) => observer.note('story', 'change', text),
    };
    await probe?.(turn);
    if (change !== undefined) this.#change = await makeChange(turn, change);
  }

  get #horizonMs(): number {
    return durationMs(this.#parts.options.horizon ?? '2m', 'simulate: horizon');
  }

  /** A client whose writes are followed by everything that they cause. */
  #storyClient(): ConnectedClient {
    const steps = () => this.#story.steps.length;
    return storyClient(this.#client, steps, async (call, before) => {
      // A step that is refused is one, too: the story may ignore that.
      const answers = call.then(
        () => 'answered',
        () => 'answered',
      );
      const result = await this.#untilAnswered(Promise.race([answers, this.#story.stopped]), 'the story');
      if (result === 'stopped' || this.#isOver) return new Promise<never>(() => {});
      if (steps() > before) await this.#finishStep();
      return call;
    });
  }

  /** Has time move until a call is answered. One that needs a process, as this serves a webhook, waits until one is up. */
  async #untilAnswered<T>(call: Promise<T>, what: string): Promise<T> {
    const first = await this.time.drive(Promise.race([call.then(() => 'answered'), this.#story.refused]), what);
    if (first !== 'refused') return call;
    this.#isDown = false;
    await this.settle();
    this.#story.sendAgain();
    return this.time.drive(call, what);
  }

  /** Settles, and keeps the state if nothing is held back or still failing. */
  async #finishStep(): Promise<void> {
    this.#isDown = false;
    await this.settle();
    const number = this.#story.steps.length;
    if (this.observer.happened.length > 0) {
      if (this.processes.some(({ line }) => line.holding.length > 0)) return;
      const isFailing = this.processes.some(({ manager }) => failingReconciles(manager.explain).length > 0);
      if (isFailing) await this.settle(longRetryMs);
    }
    this.#states.set(number, this.#snapshot());
  }

  #goDown(): void {
    this.#isDown = true;
    for (const process of this.processes) {
      if (process.isDead) continue;
      process.kill();
      this.observer.note(process.name, 'crash', 'is down during this step');
    }
  }

  #passAgain(): Promise<void> {
    const own = { settle: () => this.settle(), isExcepted: (rule: ViolatedRule) => this.#isExcepted(rule) };
    return passAgain({ processes: this.processes, observer: this.observer, time: this.time, ...own });
  }

  async #tearDown(): Promise<void> {
    this.observer.isTearingDown = true;
    this.#story.end();
    await deleteAll(this.#client, this.observer.storyObjects(), async (deleting, what) => {
      await this.#untilAnswered(deleting, what);
      this.#isDown = false;
    });
    await this.settle(this.#horizonMs, true);
  }

  get #context() {
    return { view: this.#state, world: this.#world };
  }

  #changed(change: ClusterChange): void {
    if (this.#isOver) return;
    const { before, after } = change;
    const wrong = after === undefined && before !== undefined && this.#removed.note(before);
    if (wrong) this.#fail('no foreign deletion', wrong);
    this.history.noteStored(idOf((after ?? before) as KubeObject), { before, after });
    const { always = [] } = this.#parts.options;
    if (always.length > 0) this.#check('always', always, { ...this.#context, change });
  }

  #check<C>(rule: ViolatedRule, checks: readonly Check<C>[], context: C): void {
    for (const said of failedChecks(checks, context)) this.#fail(rule, said);
  }

  #fail(rule: ViolatedRule, message: string): void {
    if (this.#isOver || this.#isExcepted(rule)) return;
    this.#failure ??= new RunFailure(rule, message);
  }

  #isExcepted(rule: ViolatedRule): boolean {
    return this.#parts.options.except?.includes(rule as SimulationRule) ?? false;
  }

  #snapshot(): RunState {
    this.refuseFailure();
    const { ignore = () => false, normalise = (object) => object } = this.#parts.options;
    const objects = this.#state.changed.filter((object: KubeObject) => !ignore(object)).map(normalise);
    const world = this.#world === undefined ? undefined : JSON.stringify(this.#world, undefined, 2);
    const isCreated = (uid: string) => this.#state.wasCreated(uid);
    return { objects, uids: new Map(this.#state.uids), isCreated, world };
  }

  #result(after: RunState | undefined, end: RunState | undefined): RunResult {
    const { observer, history } = this;
    return {
      ...{ plan: this.#plan, history, steps: this.#story?.steps ?? [] },
      told: this.#told ?? this.#story?.steps.length ?? 0,
      ...{ advances: observer.advances, writes: observer.writes, events: observer.events },
      ...{ webhookCalls: this.#webhookFaults.calls, reconciles: observer.reconciles, happened: observer.happened },
      ...(after !== undefined && { after }),
      ...(end !== undefined && { end }),
      ...(this.#change !== undefined && { change: this.#change }),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      created: this.#state?.createdIds ?? new Set(),
      removed: this.#removed?.steps ?? new Map(),
      conditions: this.#state?.conditions ?? new Set(),
      states: this.#states,
    };
  }
}
