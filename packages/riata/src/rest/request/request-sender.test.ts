import { expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { Credentials } from '../config/rest-config.js';
import { isUnauthorized } from '../errors/error-guards.js';
import { TransportError } from '../errors/transport-error.js';
import { RestClient } from '../rest-client.js';
import { type Answer, answeringTransport } from '../transport/answering-transport.fixture.js';

function setUp(answers: readonly Answer[], authorization = ['a', 'b']) {
  const clock = new VirtualClock();
  const [log, metrics, transport] = [memoryLogger(), memoryMetrics(), answeringTransport(answers)];
  const asked = { refreshes: 0 };
  const credentials: Credentials = {
    authorization: async () => authorization[asked.refreshes],
    tls: async () => ({}),
    refresh: async () => ++asked.refreshes < authorization.length,
    tryCached: () => ({ authorization: authorization[asked.refreshes], tls: {} }),
  };
  const rest = RestClient.for({ server: 'https://host', credentials }, { transport, runtime: { clock, log, metrics } });
  const count = (code: string) => metrics.value('rest_client_requests_total', { code, method: 'GET', host: 'host' });
  const sent = () => transport.requests.map(({ headers }) => headers.authorization);
  return { clock, log, rest, transport, asked, count, sent, get: () => rest.get().absPath('/x').do() };
}

const text = '{"a":1}';
const whole = { status: 200, headers: { 'content-length': String(text.length) }, body: text };

test('a success comes straight back, in one piece or in several, and is counted once', async () => {
  const { get, count, sent } = setUp([whole, { status: 200, body: ['{"a"', ':1}'] }]);
  for (const result of [await get(), await get()]) {
    expect(result.json()).toEqual({ a: 1 });
    expect(Buffer.from(result.raw()).toString()).toBe(text);
  }
  expect([count('200'), sent()]).toEqual([2, ['a', 'a']]);
});

test('a 401 refreshes the credentials, and the request is sent once more', async () => {
  const { get, sent, count, asked } = setUp([{ status: 401 }, whole]);
  expect((await get()).statusCode).toBe(200);
  expect([sent(), count('200'), asked.refreshes]).toEqual([['a', 'b'], 1, 1]);
  const other = setUp([{ status: 401 }], ['a']);
  expect(isUnauthorized(await other.get().catch((error: unknown) => error))).toBe(true);
  expect([other.sent(), other.count('401')]).toEqual([['a'], 1]);
});

test('an answer that asks for another try gets it, after the time that it asks for', async () => {
  const { get, clock, count, sent } = setUp([{ status: 429, headers: { 'retry-after': '3' } }, whole]);
  const result = get();
  await clock.advance(2_999);
  expect(sent()).toHaveLength(1);
  await clock.advance(1);
  expect((await result).statusCode).toBe(200);
  expect([sent().length, count('429'), count('200')]).toEqual([2, 1, 1]);
});

test('a lost connection is tried again before the answer, not within it', async () => {
  const reset = new TransportError('reset', { kind: 'reset', requestSent: true });
  const { get, clock, sent } = setUp([{ error: reset }, { status: 200, body: '{"a"', error: reset }]);
  const failed = get().catch((error: unknown) => error);
  await clock.advance(1_000);
  expect(await failed).toBe(reset);
  expect(sent()).toHaveLength(2);
});

test('warnings are handled once', async () => {
  const { get, log } = setUp([{ ...whole, headers: { ...whole.headers, warning: '299 - "old"' } }]);
  expect((await get()).warnings).toEqual([{ code: 299, agent: '-', text: 'old' }]);
  expect(log.records.filter(({ fields }) => fields.warning === 'old')).toHaveLength(1);
});

test('what beforeSend throws is the outcome, and nothing is sent', async () => {
  const { rest, sent } = setUp([whole]);
  const error = new Error('no longer');
  const beforeSend = () => {
    throw error;
  };
  await expect(rest.get().absPath('/x').do({ beforeSend })).rejects.toBe(error);
  expect(sent()).toEqual([]);
});
