import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import type { WorkItem } from './queue-entry.js';
import { WorkQueue } from './work-queue.js';

/** A key in the model; a list of these, looked through from start to end, is the whole of it. */
interface Pending {
  readonly key: string;
  readonly order: number;
  note: string | undefined;
  priority: number;
}

const agingMs = 40;
const groupOf = (key: string) => (key < 'c' ? 'first' : key < 'e' ? 'second' : 'third');
const join = (a: string | undefined, b: string | undefined) => (a && b ? `${a},${b}` : (a ?? b));

/** What the queue does, in the simplest words: no heap, no lists within lists, no timers. */
class Model {
  dirty: (Pending & { readyAt: number })[] = [];
  delayed: (Pending & { at: number })[] = [];
  readonly processing = new Map<string, WorkItem<string, string>>();
  now = 0;
  order = 0;
  down = false;
  tookAged = false;
  /** Groups with ready keys by priority, the one whose turn it is first. */
  turns = new Map<number, string[]>();
  readonly priorities: boolean;
  readonly fair: boolean;

  constructor(priorities: boolean, fair: boolean) {
    this.priorities = priorities;
    this.fair = fair;
  }

  group(key: string): string {
    return this.fair ? groupOf(key) : '';
  }

  /** Groups without keys leave, groups that come back go to the end. */
  updateTurns(): void {
    const ready = this.ready();
    const has = (level: number, group: string) =>
      ready.some((entry) => this.level(entry) === level && this.group(entry.key) === group);
    for (const entry of ready) {
      const line = this.turns.get(this.level(entry)) ?? [];
      this.turns.set(this.level(entry), line);
      if (!line.includes(this.group(entry.key))) line.push(this.group(entry.key));
    }
    for (const [level, line] of this.turns) {
      this.turns.set(
        level,
        line.filter((group) => has(level, group)),
      );
    }
  }

  level(entry: Pending): number {
    return this.priorities ? entry.priority : 0;
  }

  add(key: string, note: string | undefined, priority: number): void {
    const found = this.dirty.find((entry) => entry.key === key);
    if (found !== undefined) {
      found.note = join(found.note, note);
      found.priority = Math.max(found.priority, priority);
      this.updateTurns();
      return;
    }
    const delayed = this.priorities ? this.delayed.find((entry) => entry.key === key) : undefined;
    this.delayed = this.delayed.filter((entry) => entry !== delayed);
    this.dirty.push({
      key,
      order: this.order++,
      note: join(delayed?.note, note),
      priority: Math.max(priority, delayed?.priority ?? priority),
      readyAt: this.now,
    });
    this.updateTurns();
  }

  addAfter(key: string, ms: number, note: string | undefined, priority: number | undefined): void {
    const kept = priority ?? this.processing.get(key)?.priority ?? 0;
    if (ms <= 0 || (this.priorities && this.dirty.some((entry) => entry.key === key))) {
      this.add(key, note, kept);
      return;
    }
    const at = this.now + ms;
    const found = this.delayed.find((entry) => entry.key === key);
    if (found === undefined) {
      this.delayed.push({ key, order: this.order++, note, priority: kept, at });
      return;
    }
    found.note = join(found.note, note);
    found.priority = Math.max(found.priority, kept);
    found.at = Math.min(found.at, at);
  }

  ready(): (Pending & { readyAt: number })[] {
    return this.dirty.filter((entry) => !this.processing.has(entry.key));
  }

  get(): WorkItem<string, string> | undefined {
    const ready = this.ready();
    const top = Math.max(...ready.map((entry) => this.level(entry)));
    const line = this.turns.get(top) ?? [];
    const [first] = ready
      .filter((entry) => this.level(entry) === top && this.group(entry.key) === line[0])
      // Without an order to keep, what was done only later is behind.
      .sort((a, b) => (this.priorities || this.fair ? a.order - b.order : 0));
    if (first === undefined) return undefined;
    let chosen = first;
    // Ready longest: what was done only later is behind, so the list is by that.
    const oldest = ready[0];
    if (this.priorities && oldest && !this.tookAged && oldest.priority !== first.priority) {
      if (this.now - oldest.readyAt >= agingMs) chosen = oldest;
    }
    this.tookAged = chosen !== first;
    this.dirty = this.dirty.filter((entry) => entry !== chosen);
    if (chosen === first) line.push(line.shift() ?? '');
    const item = { key: chosen.key, note: chosen.note, priority: chosen.priority };
    this.processing.set(chosen.key, item);
    this.updateTurns();
    return item;
  }

  done(key: string): void {
    if (!this.processing.delete(key)) return;
    const again = this.dirty.find((entry) => entry.key === key);
    if (again === undefined) return;
    again.readyAt = this.now;
    this.dirty = [...this.dirty.filter((entry) => entry !== again), again];
    this.updateTurns();
  }

  advance(ms: number): void {
    const target = this.now + ms;
    for (;;) {
      const due = this.delayed
        .filter((entry) => entry.at <= target)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (due === undefined) break;
      this.now = due.at;
      this.delayed = this.delayed.filter((entry) => entry !== due);
      this.add(due.key, due.note, due.priority);
    }
    this.now = target;
  }
}

interface Real {
  readonly queue: WorkQueue<string, string>;
  readonly clock: VirtualClock;
}

type Command = fc.AsyncCommand<Model, Real>;

function command(name: string, run: (model: Model, real: Real) => Promise<void> | void): Command {
  return {
    check: () => true,
    toString: () => name,
    run: async (model, real) => {
      await run(model, real);
      expect(real.queue.len()).toBe(model.ready().length);
      expect(real.queue.delayed()).toBe(model.delayed.length);
      expect(real.clock.pending).toBe(model.delayed.length > 0 ? 1 : 0);
    },
  };
}

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const note = fc.option(fc.constantFrom('x', 'y', 'z'), { nil: undefined });
const priority = fc.option(fc.constantFrom(-100, 0, 1), { nil: undefined });

const add = fc.tuple(key, note, priority).map(([key, note, priority]) =>
  command(`add(${key}, ${note}, ${priority})`, (model, { queue }) => {
    queue.add(key, { note, priority });
    if (!model.down) model.add(key, note, priority ?? 0);
  }),
);

const addAfter = fc.tuple(key, fc.integer({ min: -1, max: 30 }), note, priority).map(([key, ms, note, priority]) =>
  command(`addAfter(${key}, ${ms}, ${note}, ${priority})`, (model, { queue }) => {
    queue.addAfter(key, ms, { note, priority });
    if (!model.down) model.addAfter(key, ms, note, priority);
  }),
);

const get = fc.constant(
  command('get', async (model, { queue }) => {
    const expected = model.get();
    // Where the model has nothing, get would wait: unless the queue is shut down.
    expect(model.down || expected ? await queue.get() : queue.tryGet()).toEqual(expected);
  }),
);

const done = key.map((key) =>
  command(`done(${key})`, (model, { queue }) => {
    queue.done(key);
    model.done(key);
  }),
);

const advance = fc.integer({ min: 1, max: 35 }).map((ms) =>
  command(`advance(${ms})`, async (model, { clock }) => {
    await clock.advance(ms);
    model.advance(ms);
  }),
);

const shutDown = fc.constant(
  command('shutDown', (model, { queue }) => {
    queue.shutDown();
    expect(queue.shuttingDown()).toBe(true);
    model.down = true;
    model.delayed = [];
  }),
);

async function check(priorities: boolean, commands: fc.Arbitrary<Command>[], fair = false): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), (all) =>
      fc.asyncModelRun(() => {
        const clock = new VirtualClock({ quietTurns: 1 });
        const queue = new WorkQueue<string, string>({
          clock,
          priority: priorities && { agingMs },
          fairness: fair ? groupOf : undefined,
          merge: (a, b) => `${a},${b}`,
        });
        return { model: new Model(priorities, fair), real: { queue, clock } };
      }, all),
    ),
    { numRuns: 150 },
  );
}

test('the base queue does as the model', () => check(false, [add, add, get, get, done, done, shutDown]));

test('with delays it does as the model', () =>
  check(false, [add, addAfter, addAfter, get, get, done, done, advance, advance]));

test('with priorities it does as the model', () =>
  check(true, [add, add, addAfter, get, get, get, done, done, done, advance, advance]));

test('all together, with a shutdown, it does as the model', () =>
  check(true, [add, add, add, addAfter, addAfter, get, get, get, get, done, done, done, advance, advance, shutDown]));

test('with fairness it does as the model', () => check(false, [add, add, add, get, get, done, done, shutDown], true));

test('with fairness and priorities it does as the model', () =>
  check(true, [add, add, add, addAfter, get, get, get, done, done, done, advance, advance], true));
