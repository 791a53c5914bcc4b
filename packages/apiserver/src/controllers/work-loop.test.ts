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

test('jobs are done one after the other, after whoever added them', async () => {
  const { loop, done, add } = setup();
  for (const id of ['a', 'b', 'c']) add(id);
  expect(done).toEqual([]);
  await loop.idle();
  expect(done).toEqual(['a', 'b', 'c']);
});

test('a job that waits already is not added again; one that runs is', async () => {
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

test('idle waits for what jobs add, and resolves at once when there is nothing', async () => {
  const { loop, done, add } = setup();
  await loop.idle();
  loop.add('first', () => add('second'));
  await loop.idle();
  expect(done).toEqual(['second']);
});

test('a job in steps is waited for; one that is refused comes again, later each time', async () => {
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

test('a job that fails is told of, and keeps no other from running', async () => {
  const { log, loop, done, add } = setup();
  loop.add('bad', () => {
    throw new Error('no');
  });
  add('good');
  await loop.idle();
  expect(done).toEqual(['good']);
  expect(log.messages('error')).toEqual(['the server could not finish a job of its own']);
});

test('nothing is done once it was stopped', async () => {
  const { loop, done, add } = setup();
  add('a');
  loop.stop();
  add('b');
  await loop.idle();
  expect(done).toEqual([]);
});
