import { type Random, seededRandom, systemClock } from 'riata/runtime';
import { crashPath, stateOf } from './crash-state.js';
import { CrashWatcher } from './crash-watcher.js';
import { CrashWriter } from './crash-writer.js';
import type { ServerProcess, ServerProgram } from './server-program.js';

/** How a test of crashes goes. */
export interface CrashPlan {
  readonly seed: number;
  readonly rounds: number;
  readonly dataDir: string;
}

/** What happened in it. */
export interface CrashTally {
  acknowledged: number;
  events: number;
  resumed: number;
  expired: number;
}

/** Clients write and watch, the server is killed at a random moment; the next one must know all that they were told. */
export async function crashRounds(program: ServerProgram, plan: CrashPlan): Promise<CrashTally> {
  const random = seededRandom(plan.seed);
  const writers = Array.from({ length: 8 }, (_, number) => new CrashWriter(number, random));
  const watchers = [new CrashWatcher(), new CrashWatcher(), new CrashWatcher()];
  let newest = 0;
  for (let round = 1; round <= plan.rounds; round++) {
    const server = await program.start(plan.dataDir);
    try {
      newest = await checkState(server, { writers, watchers, newest });
      const signal = new AbortController();
      const ready = watchers.map(() => awaited());
      const watching = watchers.map((watcher, index) => watcher.run(server, signal.signal, ready[index]?.resolve));
      // In some rounds watches begin while others write already.
      if (random.next() < 0.7) await Promise.all(ready.map(({ promise }) => promise));
      const enough = awaited();
      let left = writesBeforeKill(random);
      const count = () => {
        left -= 1;
        if (left <= 0) enough.resolve();
      };
      const writing = writers.map((writer) => writer.run(server, signal.signal, count));
      await Promise.race([enough.promise, ...writing]);
      await systemClock.sleep(random.next() * 5);
      await server.kill();
      signal.abort();
      await Promise.all([...writing, ...watching]);
      for (const watcher of watchers) watcher.checkGaps(writers.flatMap((writer) => writer.acknowledged));
    } catch (error) {
      throw new Error(`round ${round} of seed ${plan.seed}: ${(error as Error).message}`, { cause: error });
    } finally {
      await server.kill();
    }
  }
  return {
    acknowledged: writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0),
    events: watchers.reduce((sum, { events }) => sum + events, 0),
    resumed: watchers.reduce((sum, { resumed }) => sum + resumed, 0),
    expired: watchers.reduce((sum, { expired }) => sum + expired, 0),
  };
}

/** A promise, and what resolves it. */
function awaited(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** So many writes are confirmed first: the first few in some rounds, many in most. A moment of chance comes on top. */
function writesBeforeKill(random: Random): number {
  return 1 + Math.floor(random.next() * (random.next() < 0.2 ? 4 : 250));
}

interface Known {
  readonly writers: readonly CrashWriter[];
  readonly watchers: readonly CrashWatcher[];
  /** The newest revision that anybody was told. */
  readonly newest: number;
}

/** Compares what the server has with what clients were told. Gives the newest revision. */
async function checkState(server: ServerProcess, { writers, watchers, newest }: Known): Promise<number> {
  const list = (await (await server.request('GET', crashPath)).json()) as {
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly unknown[];
  };
  const revision = Number(list.metadata.resourceVersion);
  const reported = Math.max(
    newest,
    ...writers.map((writer) => writer.newest),
    ...watchers.map((watcher) => watcher.newest),
  );
  if (revision < reported) throw new Error(`the server is at revision ${revision}, but ${reported} was shown`);
  const found = new Map(list.items.map((item) => stateOf(item)));
  for (const writer of writers) writer.check(found);
  for (const watcher of watchers) watcher.check(found);
  return revision;
}
