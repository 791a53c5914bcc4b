import { expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ReflectorPosition } from './reflector-position.js';
import { ReflectorStatus } from './reflector-status.js';

function setUp() {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const parts = { name: 'pods', clock, log, position: new ReflectorPosition(), onError: () => {}, withheld: () => 0 };
  return { clock, log, status: new ReflectorStatus(parts) };
}

test('what comes before a list is complete is no sign of health: it may fail half-way every time', async () => {
  const { clock, log, status } = setUp();
  for (let i = 0; i < 3; i++) {
    status.enter('listing');
    status.opened();
    await clock.advance(5_000);
    status.sign(clock.monotonic());
    status.closed();
    status.failed(new Error('an item is broken'));
    await clock.advance(60_000);
  }
  expect(status.health).toMatchObject({ consecutiveFailures: 3, lastError: { message: 'an item is broken' } });
  expect(status.health).not.toHaveProperty('lastEventMs');
  expect(log.records).toEqual([]);
  status.enter('listing');
  status.listed();
  expect(status.health).toMatchObject({ consecutiveFailures: 0, lastEventMs: 0 });
});

test.each(['an event', 'a watch that lasts'])('a recovery is logged once, by %s', async (how) => {
  const { clock, log, status } = setUp();
  status.enter('watching');
  status.failed(new Error('refused'));
  await clock.advance(30_000);
  status.failed(new Error('refused'));
  status.opened();
  if (how === 'an event') status.sign(clock.monotonic());
  await clock.advance(1_000);
  expect(status.health.consecutiveFailures).toBe(0);
  status.sign(clock.monotonic());
  const [reported, ...more] = log.records;
  expect(more).toEqual([]);
  expect(reported).toMatchObject({ level: 'info', message: 'recovered, following the server' });
  expect(reported?.fields).toEqual({ failures: 2, afterMs: how === 'an event' ? 30_000 : 31_000 });
});
