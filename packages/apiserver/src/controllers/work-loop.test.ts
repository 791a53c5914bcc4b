import { memoryLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { type Steps, wait } from '../steps.js';
import { WorkLoop } from './work-loop.js';

function setup() {
  const log = memoryLogger();
  const loop = new WorkLoop(new VirtualClock(), log);
  const done: string[] = [];
  const add = (id: string) => loop.add(id, () => done.push(id));
  return { log, loop, done, add };
}

test('runs jobs one by one, after the code that added them', async () => {
  const { loop, done, add } = setup();
  for (const id of ['a', 'b', 'c']) add(id);
  expect(done).toEqual([]);
  await loop.idle();
  expect(done).toEqual(['a', 'b', 'c']);
});

test('adds a job again while it runs, but not while it is queued', async () => {
  const { loop, done, add } = setup();
  add('a');
  add('a');
  let again = true;
  loop.add('b', () => {
    done.push('b');
    if (again) loop.add('b', () => done.push('b again'));
    again = false;
  });
  await loop.idle();
  expect(done).toEqual(['a', 'b', 'b again']);
});

test('idle waits for jobs that jobs add, and resolves at once without any', async () => {
  const { loop, done, add } = setup();
  await loop.idle();
  loop.add('first', () => add('second'));
  await loop.idle();
  expect(done).toEqual(['second']);
});

test('waits for a job in steps; retries a refused one with backoff', async () => {
  const log = memoryLogger();
  const clock = new VirtualClock();
  const loop = new WorkLoop(clock, log);
  const at: number[] = [];
  const start = clock.now();
  function* job(): Steps<void> {
    yield* wait(Promise.resolve());
    at.push(clock.now() - start);
    if (at.length < 4) loop.retry('a', job, 'no');
  }
  loop.add('a', job);
  await loop.idle();
  expect(at).toEqual([0]);
  await clock.advance(100);
  await loop.idle();
  expect(at).toEqual([0, 5, 15, 35]);
  expect(log.records.map(({ fields }) => fields?.afterMs)).toEqual([5, 10, 20]);
});

test('reports a failed job and continues with the others', async () => {
  const { log, loop, done, add } = setup();
  loop.add('bad', () => {
    throw new Error('no');
  });
  add('good');
  await loop.idle();
  expect(done).toEqual(['good']);
  expect(log.messages('error')).toEqual(['the server could not finish a job of its own']);
});

test('runs nothing once it was stopped', async () => {
  const { loop, done, add } = setup();
  add('a');
  loop.stop();
  add('b');
  await loop.idle();
  expect(done).toEqual([]);
});
