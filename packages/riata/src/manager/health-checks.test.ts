import { expect, test } from 'vitest';
import { HealthChecks } from './health-checks.js';
import { healthRoute } from './health-routes.js';

function checks() {
  const healthz = new HealthChecks();
  healthz.add('ping', () => {});
  healthz.add('db', async () => {
    throw new Error('down');
  });
  return healthz;
}

const query = (text = '') => new URLSearchParams(text);

test('all well: ok; one line each when asked for', async () => {
  const route = healthRoute(checks());
  expect(await route({ rest: '', query: query('exclude=db') })).toEqual({ body: 'ok' });
  expect(await route({ rest: '', query: query('exclude=db&verbose') })).toEqual({ body: '[+]ping ok\nok\n' });
});

test('one fails: 503, and says which and why', async () => {
  const route = healthRoute(checks());
  const answer = await route({ rest: '', query: query() });
  expect(answer).toMatchObject({ status: 503, body: expect.stringMatching(/\[\+\]ping ok\n\[-\]db failed: .*down/) });
});

test('one alone, by its name', async () => {
  const route = healthRoute(checks());
  expect(await route({ rest: 'ping', query: query() })).toEqual({ body: 'ok' });
  expect(await route({ rest: 'db', query: query() })).toMatchObject({ status: 503 });
  expect(await route({ rest: 'none', query: query() })).toBeUndefined();
});

test('names are taken once, and are names', () => {
  const healthz = checks();
  expect(() => healthz.add('ping', () => {})).toThrow('already is a health check named "ping"');
  expect(() => healthz.add('a b', () => {})).toThrow('letters, digits');
});
