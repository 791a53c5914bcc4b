import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { unlistedOptionTypes } from '../../../tools/option-types.mjs';
import { eventually, simulate, TestEnvironment } from './index.js';

/** An unknown option. The compiler refuses it as well, so it is cast. */
const wrong = { notAnOption: 1 } as never;
const env = await TestEnvironment.start({ server: 'in-process' });
afterAll(() => env.stop());

/** Every public way to give options, by what errors call it. */
const entries: Readonly<Record<string, () => unknown>> = {
  'TestEnvironment.start': () => TestEnvironment.start(wrong),
  'TestEnvironment.start: embedded': () => TestEnvironment.start({ embedded: wrong }),
  'TestEnvironment.connect': () => env.connect(wrong),
  'TestConnection.cut': () => env.connect().cut(wrong),
  startManager: () => env.startManager(wrong),
  settle: () => env.settle(wrong),
  expectConverged: () => env.expectConverged(wrong),
  eventually: () => eventually(() => {}, wrong),
  requests: () => env.requests.select(wrong),
  'faults.add': () => env.faults.add(wrong, { refuse: true }),
  'faults.add: turns': () => env.faults.add({}, { refuse: true }, wrong),
  'faults.delayEvents': () => env.faults.delayEvents('1s', wrong),
  'faults.dropConnections': () => env.faults.dropConnections(wrong),
  'faults.suspend': () => env.faults.suspend(wrong),
  'faults.restart': () => env.faults.restart(wrong),
  simulate: () => simulate(wrong),
};

describe('an unknown option is refused by', () => {
  test.each(Object.keys(entries))('%s', async (name) => {
    const call = async () => entries[name]?.();
    await expect(call()).rejects.toThrow(/: unknown option "notAnOption"; known options are /);
  });
});

test('the nearest name is suggested', async () => {
  await expect(TestEnvironment.start({ sed: 1 } as never)).rejects.toThrow(
    'TestEnvironment.start: unknown option "sed"; did you mean "seed"?',
  );
});

test('every exported options type has its names listed', () => {
  expect(unlistedOptionTypes(dirname(fileURLToPath(import.meta.url)))).toEqual([]);
});
