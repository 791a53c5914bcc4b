import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { silentLogger, VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { unlistedOptionTypes } from '../../../tools/option-types.mjs';
import { ApiServer, InProcessTransport, MemoryStorage, randomFaults } from './index.js';

/** An unknown option. The compiler refuses it as well, so it is cast. */
const wrong = { notAnOption: 1 } as never;
const clock = new VirtualClock();
const server = await ApiServer.start({ clock, log: silentLogger });

/** Every public way to give options, by what errors call it. */
const entries: Readonly<Record<string, () => unknown>> = {
  'ApiServer.start': () => ApiServer.start(wrong),
  'ApiServer.listen': () => server.listen(wrong),
  'ApiServer.connect': () => server.connect(wrong),
  'ApiServer.suspend': () => server.suspend(wrong),
  'ApiServer.restart': () => server.restart(wrong),
  InProcessTransport: () => new InProcessTransport(async () => {}, { clock, ...(wrong as object) }),
  MemoryStorage: () => new MemoryStorage({ clock, ...(wrong as object) }),
  randomFaults: () => randomFaults({} as never, wrong),
};

describe('an unknown option is refused by', () => {
  test.each(Object.keys(entries))('%s', async (name) => {
    const call = async () => entries[name]?.();
    await expect(call()).rejects.toThrow(`${name}: unknown option "notAnOption"; known options are `);
  });
});

test('the nearest name is suggested', async () => {
  await expect(ApiServer.start({ controlers: false } as never)).rejects.toThrow(
    'ApiServer.start: unknown option "controlers"; did you mean "controllers"?',
  );
});

test('every exported options type has its names listed', () => {
  expect(unlistedOptionTypes(dirname(fileURLToPath(import.meta.url)))).toEqual([]);
});
