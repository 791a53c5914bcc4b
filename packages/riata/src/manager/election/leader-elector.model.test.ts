import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLogger } from '../../runtime/log/logger.js';
import { type Random, seededRandom } from '../../runtime/random.js';
import { isLostLease } from '../../runtime/stop-reasons.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { LockServer, type Passage, ProcessClock } from './election.fixture.js';
import { LeaderElector } from './leader-elector.js';
import type { ResourceLock } from './resource-lock.js';

/** A process of one candidate, which works as long as it leads, and runs for leadership again when it has lost. */
class Process {
  readonly clock: ProcessClock;
  readonly elector: LeaderElector;
  readonly #world: World;
  readonly #stop = new AbortController();
  readonly #killed = new AbortController();
  /** Of the present term; undefined while nothing is done in the leader's name. */
  working: AbortSignal | undefined;
  readonly ended: Promise<void>;

  constructor(world: World, identity: string) {
    const { base, random } = world;
    this.#world = world;
    const skewMs = random.int(-86_400_000, 86_400_000);
    this.clock = new ProcessClock(base, { skewMs, rate: 0.98 + random.next() * 0.04, random });
    this.elector = new LeaderElector({
      lock: world.disturb(world.server.lock(identity, this.clock)),
      onStartedLeading: (signal) => this.#work(signal),
      runtime: { clock: this.clock, random: seededRandom(random.next()), log: silentLogger },
    });
    this.ended = this.#run();
  }

  get isAlive(): boolean {
    return !this.#killed.signal.aborted;
  }

  /** SIGTERM. */
  stop(): void {
    this.#stop.abort();
  }

  /** SIGKILL: nothing of it ever runs again. */
  kill(): void {
    this.clock.stop();
    this.#killed.abort();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) await this.elector.run({ signal: this.#stop.signal });
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { random } = this.#world;
    this.#world.started(this);
    this.working = signal;
    try {
      // Sometimes it does not look at its signal, and only the fence is left.
      while (!signal.aborted || random.next() < 0.3) {
        this.elector.assertLeading();
        this.#world.written(this);
        await this.clock.sleep(random.int(1, 3_000));
      }
    } catch (error) {
      if (!isLostLease(error)) throw error;
    } finally {
      this.working = undefined;
    }
  }
}

/** Candidates, a lock and a network between them, all of one seed. */
class World {
  readonly base = new VirtualClock();
  readonly random: Random;
  readonly server = new LockServer(this.base);
  readonly processes: Process[] = [];
  readonly violations: string[] = [];
  readonly disturb: (lock: ResourceLock) => ResourceLock;
  terms = 0;
  writes = 0;
  #last: Process | undefined;
  #downUntil = 0;
  #calm = false;

  constructor(seed: number, disturb: (lock: ResourceLock) => ResourceLock = (lock) => lock) {
    this.random = seededRandom(seed);
    this.disturb = disturb;
    this.server.passage = () => this.#passage();
    const count = this.random.int(2, 8);
    for (let i = 0; i < count; i += 1) this.#join();
  }

  /** A leader begins: no other may still lead, nor think so. A stopped process cannot think; see `written`. */
  started(process: Process): void {
    this.terms += 1;
    for (const other of this.processes) {
      if (other === process || other.clock.isStopped) continue;
      if (other.elector.isLeader) this.#violated(`${other.elector.identity} leads still`, process);
      if (other.working?.aborted === false) this.#violated(`${other.elector.identity} was not told`, process);
    }
    this.#last = process;
  }

  /** A write starts: it must be of the one who began last, and in its own term. */
  written(process: Process): void {
    this.writes += 1;
    if (process !== this.#last) this.#violated(`writes, though ${this.#last?.elector.identity} has begun`, process);
    if (process.clock.isStopped) this.#violated('writes while it is stopped', process);
  }

  async run(ms: number): Promise<void> {
    const end = this.base.monotonic() + ms;
    while (this.base.monotonic() < end) {
      await this.base.advance(this.random.int(10, 6_000));
      this.#disturbOne();
    }
  }

  /** All that live run, and nothing is in the way. */
  async heal(): Promise<void> {
    this.#calm = true;
    for (const { clock, isAlive } of this.processes) if (isAlive) clock.resume();
    await this.base.advance(60_000);
  }

  leaders(): string[] {
    return this.processes.filter((p) => p.isAlive && p.elector.isLeader).map((p) => p.elector.identity);
  }

  async end(): Promise<void> {
    for (const process of this.processes) if (process.isAlive) process.stop();
    await this.base.advance(20_000);
    await Promise.all(this.processes.filter((p) => p.isAlive).map((p) => p.ended));
  }

  #join(): void {
    this.processes.push(new Process(this, `p${this.processes.length}`));
  }

  #violated(what: string, process: Process): void {
    this.violations.push(`at ${this.base.monotonic()}: ${process.elector.identity} starts: ${what}`);
  }

  #disturbOne(): void {
    const { random } = this;
    // The leader is the one to hurt.
    const leader = this.processes.find((p) => p.isAlive && !p.clock.isStopped && p.working !== undefined);
    const process = leader !== undefined && random.next() < 0.6 ? leader : random.pick(this.processes);
    const what = random.next();
    if (!process.isAlive) return;
    if (what < 0.35) this.#pause(process);
    else if (what < 0.45) this.#downUntil = this.base.monotonic() + random.int(0, 25_000);
    else if (what < 0.5) this.server.put({});
    else if (what < 0.55 && this.processes.length < 20) {
      if (random.next() < 0.5) process.kill();
      else process.stop();
      this.#join();
    }
  }

  #pause(process: Process): void {
    if (process.clock.isStopped) return;
    process.clock.stop();
    this.base.after(this.random.int(1, 40_000), () => {
      if (process.isAlive) process.clock.resume();
    });
  }

  #passage(): Passage {
    const { random } = this;
    if (this.#calm) return { thereMs: random.int(0, 20), backMs: random.int(0, 20) };
    const slow = random.next() < 0.1;
    const way = { thereMs: random.int(0, slow ? 12_000 : 50), backMs: random.int(0, slow ? 12_000 : 50) };
    if (this.base.monotonic() < this.#downUntil)
      return random.next() < 0.5 ? { ...way, refused: 503 } : { lost: 'request' };
    const roll = random.next();
    if (roll < 0.05) return { ...way, lost: 'request' };
    if (roll < 0.12) return { ...way, lost: 'answer' };
    return roll < 0.15 ? { ...way, refused: 409 } : way;
  }
}

const numRuns = Number(process.env.RIATA_RUNS ?? 25);

test('never two leaders at once, whatever stops, fails, is lost or comes late; and one in the end', async () => {
  let [terms, writes] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const world = new World(seed);
      await world.run(240_000);
      expect(world.violations).toEqual([]);
      await world.heal();
      expect(world.violations).toEqual([]);
      expect(world.leaders()).toHaveLength(1);
      await world.end();
      expect(world.base.monotonic()).toBeGreaterThan(240_000);
      terms += world.terms;
      writes += world.writes;
    }),
    { numRuns, endOnFailure: true },
  );
  // What never leads never leads twice.
  expect(terms).toBeGreaterThan(2 * numRuns);
  expect(writes).toBeGreaterThan(20 * numRuns);
});

test('the same world finds the fault when candidates do not wait as long as the leader relies on', async () => {
  const hasty = (lock: ResourceLock): ResourceLock => ({
    ...lock,
    get: async (options) => {
      const state = await lock.get(options);
      return state && { ...state, record: { ...state.record, leaseDurationSeconds: 4 } };
    },
  });
  const violations: string[] = [];
  for (let seed = 1; seed <= 10 && violations.length === 0; seed += 1) {
    const world = new World(seed, hasty);
    await world.run(240_000);
    violations.push(...world.violations);
  }
  expect(violations).not.toEqual([]);
});
