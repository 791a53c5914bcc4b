import { expect, test } from 'vitest';
import { silentLogger } from '../../runtime/log/logger.js';
import { WorkingClock } from '../../runtime/time/working-clock.fixture.js';
import type { Source } from '../source/source.js';
import { Controller } from './controller.js';
import type { Request, RequestQueue } from './request.js';

interface Computing {
  readonly controllers?: number;
  readonly count: number;
  readonly workMs: number;
  readonly concurrency: number;
  readonly isAsync?: boolean;
  readonly onReconciled?: (done: number) => void;
}

/** Controllers of `count` keys each, whose reconciles compute for `workMs` and never await I/O. */
function computing({ controllers = 1, count, workMs, concurrency, isAsync = false, onReconciled }: Computing) {
  const clock = new WorkingClock();
  const { base, turns } = clock;
  const done: string[] = [];
  const queues: RequestQueue[] = [];
  const keys: Source = {
    name: 'keys',
    start: async (queue) => {
      queues.push(queue);
      for (let i = 0; i < count; i++) queue.add({ name: `k${i}` });
    },
  };
  const reconcile = ({ key }: { readonly key: Request }) => {
    clock.work(workMs);
    done.push(key.name);
    onReconciled?.(done.length);
  };
  const all = Array.from(
    { length: controllers },
    (_, at) =>
      new Controller(`x${at}`, {
        concurrency,
        reconcile: isAsync
          ? async (given) => {
              await Promise.resolve();
              reconcile(given);
            }
          : reconcile,
        runtime: { clock, log: silentLogger },
      }),
  );
  const stop = new AbortController();
  const run = async () => {
    for (const controller of all) await controller.watch(keys);
    const ended = Promise.all(all.map((controller) => controller.run({ signal: stop.signal })));
    await base.settle();
    return { ended };
  };
  const addToAll = async (name: string) => {
    for (const queue of queues) queue.add({ name });
    await base.settle();
  };
  return { run, addToAll, done, clock, turns, stop };
}

test('reconciles that never wait give others a turn every 5 ms, whatever their number', async () => {
  const { run, done, turns, stop } = computing({ count: 100, workMs: 1, concurrency: 3 });
  const { ended } = await run();
  expect(done).toHaveLength(100);
  expect(turns.length).toBeGreaterThanOrEqual(19);
  expect(Math.max(...turns)).toBe(5);
  stop.abort();
  await ended;
});

test.each([false, true])('the turns of many controllers are no longer than those of one, async %s', async (isAsync) => {
  const { run, done, turns, stop } = computing({ controllers: 50, count: 10, workMs: 1, concurrency: 2, isAsync });
  const { ended } = await run();
  expect(done).toHaveLength(500);
  expect(Math.max(...turns)).toBe(5);
  stop.abort();
  await ended;
});

test('a change that wakes up every controller does not run all of them in one turn', async () => {
  const { run, addToAll, done, turns, stop } = computing({ controllers: 50, count: 0, workMs: 1, concurrency: 1 });
  const { ended } = await run();
  await addToAll('changed');
  expect(done).toHaveLength(50);
  expect(turns.length).toBeGreaterThanOrEqual(9);
  expect(Math.max(...turns)).toBe(5);
  stop.abort();
  await ended;
});

test('controllers that are always busy take turns', async () => {
  const { run, done, stop } = computing({ controllers: 3, count: 4, workMs: 6, concurrency: 1 });
  const { ended } = await run();
  expect(done).toEqual(['k0', 'k0', 'k0', 'k1', 'k1', 'k1', 'k2', 'k2', 'k2', 'k3', 'k3', 'k3']);
  stop.abort();
  await ended;
});

test('one that computes for long lets the others wait, so that a stop in between is heard', async () => {
  const onReconciled = (count: number) => {
    if (count === 2) stop.abort();
  };
  const { run, done, turns, stop } = computing({ count: 5, workMs: 5_000, concurrency: 5, onReconciled });
  const { ended } = await run();
  await ended;
  expect([done.length, turns.length]).toEqual([2, 2]);
});
