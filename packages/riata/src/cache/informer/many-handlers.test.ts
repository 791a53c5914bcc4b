import { expect, test } from 'vitest';
import { WorkingClock } from '../../runtime/time/working-clock.fixture.js';
import { DrivenInformer, thing } from './informer.fixture.js';

const names = Array.from({ length: 20 }, (_, at) => `t${at}`);
const handlers = 300;

/** An informer with handlers that take 0.1 ms for each change, and the changes that each received. */
function startWithHandlers() {
  const clock = new WorkingClock();
  const driven = new DrivenInformer({}, { clock });
  const reported = Array.from({ length: handlers }, (): string[] => []);
  const addHandlers = () => {
    for (const seen of reported) {
      driven.informer.addEventHandler({
        onChange: ({ type, key, metadata }) => {
          clock.work(0.1);
          seen.push(`${type} ${key} ${metadata.resourceVersion}`);
        },
      });
    }
  };
  const list = (version: number) => names.map((name) => thing(name, version));
  const expected = (type: string, version: number) => names.map((name) => `${type} shop/${name} ${version}`);
  const settle = async () => {
    await clock.base.settle();
    await driven.clock.settle();
  };
  return { clock, driven, reported, addHandlers, list, expected, settle };
}

test('a list, changes and one change reach many handlers in slices, in order', async () => {
  const { clock, driven, reported, addHandlers, list, expected, settle } = startWithHandlers();
  await using informer = driven;
  addHandlers();
  await informer.start(...list(1));
  await settle();
  for (const seen of reported) expect(seen.splice(0)).toEqual(expected('Added', 1));
  expect(clock.longestTurnMs).toBeLessThan(7);

  for (const each of list(2)) informer.queue.update(each);
  await settle();
  for (const seen of reported) expect(seen.splice(0)).toEqual(expected('Updated', 2));
  expect(clock.longestTurnMs).toBeLessThan(7);

  // One name, two objects: every handler hears of the end of the first one before it hears of the second.
  informer.queue.update(thing('t0', 3, 'another'));
  informer.queue.delete(thing('t1', 4));
  await settle();
  for (const seen of reported) expect(seen).toEqual(['Deleted shop/t0 2', 'Added shop/t0 3', 'Deleted shop/t1 4']);
  expect(clock.longestTurnMs).toBeLessThan(7);
});

test('many handlers that come late get what there is in slices', async () => {
  const { clock, driven, reported, addHandlers, list, expected, settle } = startWithHandlers();
  await using informer = driven;
  await informer.start(...list(1));
  await settle();
  addHandlers();
  // While they are called, something changes.
  informer.queue.update(thing('t0', 2));
  await settle();
  for (const seen of reported) expect(seen).toEqual([...expected('Added', 1), 'Updated shop/t0 2']);
  expect(clock.longestTurnMs).toBeLessThan(7);
});
