import { expect, test } from 'vitest';
import type { Scheduler } from '../runtime/clock.js';
import { silentLogger } from '../runtime/logger.js';
import { VirtualClock } from '../runtime/virtual-clock.js';
import { Controller } from './controller.js';
import type { Source } from './source.js';

/** A controller of `count` keys whose reconciles compute for `workMs` and never wait. */
function computing(options: { count: number; workMs: number; concurrency: number; onTurn?: (done: number) => void }) {
  const { count, workMs, concurrency, onTurn } = options;
  const base = new VirtualClock();
  let workedMs = 0;
  const done: string[] = [];
  /** Computed since the loop last turned, when it turns. */
  const turns: number[] = [];
  let turnedAt = 0;
  const clock: Scheduler = {
    now: () => base.now(),
    monotonic: () => base.monotonic() + workedMs,
    after: (...args) => base.after(...args),
    sleep: (...args) => base.sleep(...args),
    yield: () => {
      turns.push(workedMs - turnedAt);
      turnedAt = workedMs;
      onTurn?.(done.length);
      return base.yield();
    },
  };
  const keys: Source = {
    name: 'keys',
    start: async (queue) => {
      for (let i = 0; i < count; i++) queue.add({ name: `k${i}` });
    },
  };
  const controller = new Controller('x', {
    concurrency,
    reconcile: ({ key }) => {
      workedMs += workMs;
      done.push(key.name);
    },
    runtime: { clock, log: silentLogger },
  });
  const stop = new AbortController();
  const run = async () => {
    await controller.watch(keys);
    const ended = controller.run({ signal: stop.signal });
    await base.settle();
    return { ended };
  };
  return { run, done, turns, stop };
}

test('reconciles that never wait give others a turn every 10 ms, whatever their number', async () => {
  const { run, done, turns, stop } = computing({ count: 100, workMs: 1, concurrency: 3 });
  const { ended } = await run();
  expect(done).toHaveLength(100);
  expect(turns.length).toBeGreaterThanOrEqual(9);
  expect(Math.max(...turns)).toBe(10);
  stop.abort();
  await ended;
});

test('one that computes for long lets the others wait, so that a stop in between is heard', async () => {
  const onTurn = (count: number) => {
    if (count === 2) stop.abort();
  };
  const { run, done, turns, stop } = computing({ count: 5, workMs: 5_000, concurrency: 5, onTurn });
  const { ended } = await run();
  await ended;
  expect([done.length, turns.length]).toEqual([2, 2]);
});
