import { expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { HealthChecks } from './health-checks.js';
import { healthRoute } from './health-route.js';

function checks() {
  const healthz = new HealthChecks();
  healthz.add('ping', () => {});
  healthz.add('db', async () => {
    throw new Error('down');
  });
  return healthz;
}

const asked = (rest: string, query = '') => ({
  rest,
  query: new URLSearchParams(query),
  signal: new AbortController().signal,
});

test('all well: ok; one line each when asked for', async () => {
  const route = healthRoute(checks(), new VirtualClock());
  expect(await route(asked('', 'exclude=db'))).toEqual({ body: 'ok' });
  expect(await route(asked('', 'exclude=db&verbose'))).toEqual({ body: '[+]ping ok\nok\n' });
});

test('one fails: 503, and says which and why', async () => {
  const route = healthRoute(checks(), new VirtualClock());
  const answer = await route(asked(''));
  expect(answer).toMatchObject({ status: 503, body: expect.stringMatching(/\[\+\]ping ok\n\[-\]db failed: .*down/) });
});

test('one alone, by its name', async () => {
  const route = healthRoute(checks(), new VirtualClock());
  expect(await route(asked('ping'))).toEqual({ body: 'ok' });
  expect(await route(asked('db'))).toMatchObject({ status: 503 });
  expect(await route(asked('none'))).toBeUndefined();
});

test('names are taken once, and are names', () => {
  const healthz = checks();
  expect(() => healthz.add('ping', () => {})).toThrow('health check "ping" already exists');
  expect(() => healthz.add('a b', () => {})).toThrow('letters, digits');
});

test('a check that hangs is named after ten seconds, and abandoned when the client has gone', async () => {
  const clock = new VirtualClock();
  const healthz = checks();
  healthz.add('stuck', () => new Promise(() => {}));
  const route = healthRoute(healthz, clock);
  const late = route(asked('', 'exclude=db'));
  await clock.advance(10_000);
  expect(await late).toMatchObject({
    status: 503,
    body: expect.stringContaining('[-]stuck failed: Timeout: the check'),
  });
  const caller = new AbortController();
  const left = route({ ...asked('stuck'), signal: caller.signal });
  caller.abort(new Error('hung up'));
  expect(await left).toMatchObject({ status: 503 });
  expect(clock.pending).toBe(0);
});
