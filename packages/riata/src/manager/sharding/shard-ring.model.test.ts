import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonPatch } from '../../object/patch/json-patch.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { type Random, seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ProcessClock } from '../election/election.fixture.js';
import { type RingPassage, RingServer } from './shard.fixture.js';
import { ShardRing } from './shard-ring.js';
import { shardSlot } from './shard-table.js';

const slots = 16;
/** A text of each slot. */
const keys = Array.from({ length: slots }, (_, slot) => keyOf(slot));

function keyOf(slot: number): string {
  for (let at = 0; ; at += 1) if (shardSlot(`k${at}`, slots) === slot) return `k${at}`;
}

/** A process with one replica, which works on every slot that it owns. */
class Replica {
  readonly identity: string;
  readonly clock: ProcessClock;
  readonly ring: ShardRing;
  readonly ended: Promise<void>;
  readonly #world: World;
  readonly #stop = new AbortController();
  readonly #working = new Map<number, { readonly end: AbortController; readonly done: Promise<void> }>();
  isAlive = true;
  hasLeft = false;

  constructor(world: World, identity: string) {
    const { base, random, server } = world;
    this.#world = world;
    this.identity = identity;
    const skewMs = random.int(-86_400_000, 86_400_000);
    this.clock = new ProcessClock(base, { skewMs, rate: 0.98 + random.next() * 0.04, random });
    this.ring = new ShardRing({
      ...{ client: server.client(identity, this.clock), namespace: 'n', name: 'r', identity, slots },
      runtime: { clock: this.clock, random: seededRandom(random.next()), log: silentLogger },
    });
    this.ring.onChange(async ({ gained, lost }) => {
      for (const slot of gained) this.#begin(slot);
      const ending = lost.map((slot) => {
        const work = this.#working.get(slot);
        work?.end.abort();
        return work?.done;
      });
      await Promise.all(ending);
    });
    this.ended = this.ring.run({ signal: this.#stop.signal }).then(() => {
      this.hasLeft = true;
    });
  }

  get isRunning(): boolean {
    return this.isAlive && !this.clock.isStopped;
  }

  /** SIGTERM. */
  stop(): void {
    this.#stop.abort();
  }

  /** SIGKILL. */
  kill(): void {
    this.clock.stop();
    this.isAlive = false;
  }

  #begin(slot: number): void {
    const end = new AbortController();
    const done = this.#work(slot, end.signal).finally(() => {
      if (this.#working.get(slot)?.end === end) this.#working.delete(slot);
    });
    this.#working.set(slot, { end, done });
  }

  async #work(slot: number, end: AbortSignal): Promise<void> {
    const { random } = this.#world;
    const guard = this.ring.guard(keys[slot] as string);
    const token = this.#world.started(this, slot);
    try {
      // Sometimes it does not look at its signal for a while.
      while (!end.aborted || random.next() < 0.5) {
        guard.assertLeading();
        this.#world.written(this, slot, token);
        await this.clock.sleep(random.int(1, 2_000));
      }
    } catch {
      // Refused by the fence.
    }
  }
}

/** Replicas, a server and a network, all of one seed. */
class World {
  readonly base = new VirtualClock();
  readonly random: Random;
  readonly server = new RingServer(this.base);
  readonly replicas: Replica[] = [];
  readonly violations: string[] = [];
  writes = 0;
  moves = 0;
  #current: (symbol | undefined)[] = [];
  #downUntil = 0;
  #calm = false;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.server.passage = (_, verb) => this.#passage(verb);
    const count = this.random.int(1, 5);
    for (let at = 0; at < count; at += 1) this.join();
  }

  join(): void {
    this.replicas.push(new Replica(this, `p${this.replicas.length}`));
  }

  /** A member begins to work on a slot: no other may think that it owns it. A stopped process cannot think. */
  started(replica: Replica, slot: number): symbol {
    this.moves += 1;
    for (const other of this.replicas) {
      if (other === replica || !other.isRunning) continue;
      if (other.ring.epochOf(slot) !== undefined) this.#violated(replica, slot, `begins, ${other.identity} has it`);
    }
    const token = Symbol(replica.identity);
    this.#current[slot] = token;
    return token;
  }

  /** A write starts: it must come from the member that began last. */
  written(replica: Replica, slot: number, token: symbol): void {
    this.writes += 1;
    if (this.#current[slot] !== token) this.#violated(replica, slot, 'writes, and another one has begun');
    if (!replica.isRunning) this.#violated(replica, slot, 'writes while it is stopped');
  }

  async run(ms: number): Promise<void> {
    const end = this.base.monotonic() + ms;
    while (this.base.monotonic() < end) {
      await this.base.advance(this.random.int(10, 5_000));
      this.#disturb();
    }
  }

  /** All that live run, and nothing is in the way. */
  async heal(): Promise<void> {
    this.#calm = true;
    for (const { clock, isAlive } of this.replicas) if (isAlive) clock.resume();
    if (!this.replicas.some(({ isAlive, hasLeft }) => isAlive && !hasLeft)) this.join();
    await this.base.advance(75_000);
  }

  /** How many own each slot. */
  owners(): number[] {
    return keys.map((key) => this.replicas.filter(({ isRunning, ring }) => isRunning && ring.owns(key)).length);
  }

  /** How many slots each replica owns that is there. */
  shares(): number[] {
    return this.replicas.filter(({ isAlive, hasLeft }) => isAlive && !hasLeft).map(({ ring }) => ring.owned.length);
  }

  async end(): Promise<void> {
    for (const replica of this.replicas) if (replica.isAlive) replica.stop();
    await this.base.advance(60_000);
    await Promise.all(this.replicas.filter(({ isAlive }) => isAlive).map(({ ended }) => ended));
  }

  #violated(replica: Replica, slot: number, what: string): void {
    this.violations.push(`at ${this.base.monotonic()}: ${replica.identity}, slot ${slot}: ${what}`);
  }

  #disturb(): void {
    const { random, replicas } = this;
    const replica = random.pick(replicas);
    const what = random.next();
    if (what < 0.1 && replicas.length < 10) this.join();
    else if (what < 0.15) this.#downUntil = this.base.monotonic() + random.int(0, 25_000);
    else if (what < 0.16) this.server.delete();
    else if (!replica.isAlive) return;
    else if (what < 0.45) this.#pause(replica);
    else if (what < 0.5) replica.kill();
    else if (what < 0.55) replica.stop();
  }

  #pause({ clock }: Replica): void {
    clock.stop();
    const ms = this.random.pick([500, 5_000, 11_000, 16_000, 40_000]);
    this.base.after(this.random.int(1, ms), () => {
      if (!this.#calm) this.#resume(clock);
    });
  }

  #resume(clock: ProcessClock): void {
    if (this.replicas.some((replica) => replica.clock === clock && replica.isAlive)) clock.resume();
  }

  #passage(verb: string): RingPassage {
    const { random } = this;
    if (this.#calm) return { thereMs: 5, backMs: 5 };
    const versionsAgo = verb === 'find' && random.next() < 0.3 ? random.int(1, 30) : 0;
    if (this.base.monotonic() < this.#downUntil) return random.pick([{ refused: 503 }, { lost: 'request' }] as const);
    const odds = random.next();
    if (odds < 0.03) return { lost: 'request' };
    if (odds < 0.06) return { lost: 'answer', thereMs: random.int(0, 30_000) };
    if (odds < 0.08) return { refused: 503 };
    // Some take longer than all timeouts, and arrive all the same.
    const slow = odds < 0.2 ? 20_000 : 50;
    return { thereMs: random.int(0, slow), backMs: random.int(0, slow), versionsAgo };
  }
}

async function play(seed: number, prepare: (world: World) => void = () => {}): Promise<World> {
  const world = new World(seed);
  prepare(world);
  await world.run(240_000);
  return world;
}

const numRuns = Number(process.env.RIATA_RUNS ?? 15);

test('whatever happens, no slot has two owners, no write of an earlier owner starts, and all slots are owned again', async () => {
  let writes = 0;
  let moves = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(), async (seed) => {
      const world = await play(seed);
      await world.heal();
      expect(world.violations).toEqual([]);
      expect(world.owners()).toEqual(keys.map(() => 1));
      const shares = world.shares();
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
      await world.end();
      expect(world.violations).toEqual([]);
      expect(world.owners()).toEqual(keys.map(() => 0));
      writes += world.writes;
      moves += world.moves;
    }),
    { numRuns, endOnFailure: true },
  );
  expect(writes).toBeGreaterThan(numRuns * slots);
  expect(moves).toBeGreaterThan(numRuns * slots);
});

/** Seeds are tried until the broken protocol is seen to fail. */
async function breaks(prepare: (world: World) => void): Promise<boolean> {
  for (let seed = 0; seed < 40; seed += 1) if ((await play(seed, prepare)).violations.length > 0) return true;
  return false;
}

test('the same play finds out if a table is replaced without looking whether it is the one that was seen', async () => {
  const corruptPatch = (patch: JsonPatch) => patch.filter(({ op, path }) => op !== 'test' || !path.endsWith('slots'));
  expect(await breaks(({ server }) => Object.assign(server, { corruptPatch }))).toBe(true);
});

test('and if others do not wait as long as a member relies on', async () => {
  const corruptText = (text: string) => text.replace('"leaseMs":15000', '"leaseMs":4000');
  expect(await breaks(({ server }) => Object.assign(server, { corruptText }))).toBe(true);
});

test('and if slots of a new Lease are given away at once', async () => {
  const corruptText = (text: string) => text.replace('"open":false', '"open":true');
  expect(await breaks(({ server }) => Object.assign(server, { corruptText }))).toBe(true);
});
