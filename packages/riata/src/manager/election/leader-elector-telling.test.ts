import { expect, test } from 'vitest';
import { election } from './leader-elector.fixture.js';

const reached = 'the lock can be read and written again';

test('a candidate that cannot reach the lock says so once, again when it is something else, and when it is over', async () => {
  const { clock, server, join } = election();
  server.passage = () => ({ refused: 503 });
  const a = join('a');
  await clock.advance(300_000);
  expect(a.log.messages('warn')).toEqual(['cannot read or write the lock, will be retried']);
  server.passage = () => ({ isUnreachable: true });
  await clock.advance(300_000);
  expect(a.log.messages('warn')).toHaveLength(2);
  expect(a.log.messages('info')).not.toContain(reached);
  server.passage = () => ({});
  await clock.advance(10_000);
  expect(a.elector.isLeader).toBe(true);
  expect(a.log.messages('info').filter((message) => message === reached)).toHaveLength(1);
});

test('a leader that cannot renew says so once, and when it can again', async () => {
  const { clock, server, join } = election();
  const a = join('a');
  await clock.advance(4_500);
  server.passage = () => ({ refused: 503 });
  await clock.advance(7_000);
  expect(a.log.messages('warn')).toEqual(['cannot renew the lease, will be retried']);
  server.passage = () => ({});
  await clock.advance(2_000);
  expect([a.elector.isLeader, a.log.messages('info').at(-1)]).toEqual([true, reached]);
});

test('a leader that did not get CPU time is logged as such, not as busy', async () => {
  const { clock, join } = election();
  const a = join('a');
  a.process.cpuMs = () => 0;
  await clock.advance(4_100);
  a.process.stop();
  await clock.advance(8_000);
  a.process.resume();
  await clock.advance(1_000);
  expect(a.log.messages('warn')).toEqual([
    expect.stringMatching(/^the process did not run for \d+ ms; renewal late by 6100 ms: it was stopped, .*CPU limit/),
  ]);
});
