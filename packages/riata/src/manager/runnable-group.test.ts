import { expect, test } from 'vitest';
import { systemClock } from '../runtime/time/system-clock.js';
import type { Runnable } from './runnable.js';
import { RunnableGroup } from './runnable-group.js';

/** Runs until it is stopped. */
function obedient(name: string, log: string[]): Runnable {
  return {
    name,
    async run({ signal }) {
      log.push(`${name} runs`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      log.push(`${name} ended`);
    },
  };
}

const turn = () => systemClock.yield();

test('nothing runs before the group is started; what is added later runs at once', async () => {
  const log: string[] = [];
  const group = new RunnableGroup(() => {});
  group.add(obedient('a', log));
  await turn();
  expect(log).toEqual([]);
  group.start();
  group.add(obedient('b', log));
  await turn();
  expect([log, group.running]).toEqual([
    ['a runs', 'b runs'],
    ['a', 'b'],
  ]);
  await group.stop(new Error('enough'));
  expect([log.slice(2), group.running]).toEqual([['a ended', 'b ended'], []]);
  group.add(obedient('c', log));
  await turn();
  expect(log).toHaveLength(4);
});

test('one can be removed while the others go on', async () => {
  const log: string[] = [];
  const group = new RunnableGroup(() => {});
  const remove = group.add(obedient('a', log));
  group.add(obedient('b', log));
  group.start();
  await remove();
  expect([log, group.running]).toEqual([['a runs', 'b runs', 'a ended'], ['b']]);
  await group.stop(undefined);
});

test('a failure is reported, unless the runnable was stopped; ending early is not a failure', async () => {
  const failures: string[] = [];
  const group = new RunnableGroup((runnable, error) => failures.push(`${runnable.name}: ${(error as Error).message}`));
  group.add({ name: 'early', run: async () => {} });
  group.add({ name: 'broken', run: () => Promise.reject(new Error('no luck')) });
  group.add({
    name: 'sync',
    run: () => {
      throw new Error('at once');
    },
  });
  group.add({
    name: 'stopped',
    run: ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('late')))),
  });
  group.start();
  await turn();
  expect(failures.sort()).toEqual(['broken: no luck', 'sync: at once']);
  await group.stop(undefined);
  expect(failures).toHaveLength(2);
});

test('runnables that can warm up do so before the start, later ones too; nothing waits for it', async () => {
  const failures: string[] = [];
  const group = new RunnableGroup((runnable, error) => failures.push(`${runnable.name}: ${(error as Error).message}`));
  const steps: string[] = [];
  const runnable = (name: string, warm: (signal: AbortSignal) => Promise<void>): Runnable => ({
    name,
    warmUp: ({ signal }) => {
      steps.push(`${name} warms up`);
      return warm(signal);
    },
    run: async () => void steps.push(`${name} runs`),
  });
  const untilAborted = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  group.add(runnable('slow', () => new Promise(() => {})));
  group.warmUp();
  const remove = group.add(runnable('late', untilAborted));
  group.add(
    runnable('broken', async () => {
      throw new Error('no luck');
    }),
  );
  await remove();
  group.start();
  group.add(runnable('last', async () => {}));
  await turn();
  expect(steps).toEqual(['slow warms up', 'late warms up', 'broken warms up', 'slow runs', 'broken runs', 'last runs']);
  expect(failures).toEqual(['broken: no luck']);
});

test('a runnable that has only warmed up is stopped, and awaited', async () => {
  const group = new RunnableGroup(() => {});
  let hasEnded = false;
  group.add({
    name: 'warm',
    warmUp: ({ signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          hasEnded = true;
          resolve();
        }),
      ),
    run: async () => {},
  });
  group.warmUp();
  await group.stop(undefined);
  expect(hasEnded).toBe(true);
});
