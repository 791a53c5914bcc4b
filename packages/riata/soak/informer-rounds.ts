import { eventually } from '@riata/testing';
import { createClient } from 'riata/client';
import type { RestConfig } from 'riata/rest';
import { silentLogger, systemClock } from 'riata/runtime';
import { CountingClock, heldMemory, median, openSockets, socketsText } from './holdings.js';
import { informerRound, type RoundFigures } from './informer-round.js';

export interface RoundsOptions {
  readonly config: RestConfig;
  readonly rounds: number;
  readonly firstSeed: number;
  /** Rounds at the same time. @default 10 */
  readonly lanes?: number;
  readonly newNamespace: () => Promise<string>;
  /** Restarts the server in every so many-th batch of rounds, in turns gracefully and not. @default never */
  readonly restartEvery?: number;
  readonly restart?: (options: { readonly graceful: boolean }) => Promise<void>;
  /** Makes the server forget the past, in every batch. @default not */
  readonly compact?: () => Promise<void>;
}

export interface RoundsReport {
  readonly rounds: number;
  readonly restarts: number;
  readonly seconds: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
  /** In MB, medians of the first and the last third of the run. */
  readonly memory: readonly [number, number];
  /** The round that took longest. */
  readonly slowest: { readonly seed: number; readonly seconds: number };
}

/** Waits between tries are seconds; here they are to be fractions of one. */
const speed = 10;

/**
 * Runs seeded rounds. A seed decides what is done, not what comes first: on other days the same seed may do no harm. After
 * each batch of rounds no timer and no socket of theirs may be left.
 */
export async function informerRounds(options: RoundsOptions): Promise<RoundsReport> {
  const { config, rounds, firstSeed, lanes = 10, restartEvery = Number.POSITIVE_INFINITY } = options;
  const started = systemClock.monotonic();
  const namespaces = await Promise.all(Array.from({ length: Math.min(lanes, rounds) }, options.newNamespace));
  const clock = new CountingClock({ speed });
  const faults: Record<string, number> = {};
  const counts: Record<string, number> = {};
  const memory: number[] = [];
  let restarts = 0;
  let slowest = { seed: firstSeed, seconds: 0 };
  // Those of the creator of the namespaces.
  const socketsBefore = openSockets();
  for (let seed = firstSeed, batch = 0; seed < firstSeed + rounds; seed += lanes, batch++) {
    const seeds = Array.from({ length: Math.min(lanes, firstSeed + rounds - seed) }, (_, nth) => seed + nth);
    const direct = createClient(config, { runtime: { log: silentLogger } });
    const half = seeds.length * 20;
    let writes = 0;
    let disturbing: Promise<void> | undefined;
    const disturb = async () => {
      await options.compact?.();
      if (batch % restartEvery !== 1 % restartEvery) return;
      restarts++;
      await options.restart?.({ graceful: restarts % 2 === 0 });
    };
    const onWrite = () => {
      if (++writes === half) disturbing = disturb();
    };
    const figures = await settled(
      seeds.map((each, lane) => {
        const namespace = namespaces[lane] as string;
        const world = { config, direct, runtime: { clock, log: silentLogger }, namespace, onWrite };
        return naming(each, informerRound(world, each));
      }),
    );
    await disturbing;
    for (const [nth, figure] of figures.entries()) {
      if (figure.seconds > slowest.seconds) slowest = { seed: seed + nth, seconds: figure.seconds };
      addTo(faults, figure.faults);
      addTo(counts, figure.counts);
    }
    await eventually(() => clock.pending === 0, { what: `timers are gone after seeds ${seeds}` });
    await direct.close();
    await eventually(() => openSockets() <= socketsBefore, { what: `sockets are closed after seeds ${seeds}` }).catch(
      (error: Error) => {
        throw new Error(`${error.message}; before there were ${socketsBefore}, now: ${socketsText()}`);
      },
    );
    memory.push(heldMemory());
  }
  const third = Math.max(1, Math.floor(memory.length / 3));
  const held = [median(memory.slice(0, third)), median(memory.slice(-third))] as const;
  const seconds = (systemClock.monotonic() - started) / 1000;
  return { rounds, restarts, seconds, faults, counts, memory: held, slowest };
}

async function naming(seed: number, round: Promise<RoundFigures>): Promise<RoundFigures> {
  try {
    return await round;
  } catch (error) {
    throw new Error(`seed ${seed} (again: SEED=${seed} INFORMER_ROUNDS=1): ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** All of them, also if one fails: it is the first failure that counts then. */
async function settled<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

function addTo(sum: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + count;
}
