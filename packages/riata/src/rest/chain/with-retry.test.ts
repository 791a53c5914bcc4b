import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { isTooManyRequests } from '../errors/error-guards.js';
import { isRequestTimeout } from '../errors/request-timeout.js';
import { TransportError, type TransportErrorKind } from '../errors/transport-error.js';
import type { RestRequest } from '../request/rest-request.js';
import { RestClient, type RestClientOptions } from '../rest-client.js';
import { type Answer, answeringTransport } from '../transport/answering-transport.fixture.js';
import { urlBackoff } from './backoff-manager.js';
import { tokenBucketRateLimiter } from './rate-limiter.js';

const failure = (kind: TransportErrorKind, message: string = kind) =>
  new TransportError(message, { kind, requestSent: true });
const retryAfter = (status: number, seconds: string | number = 1): Answer => ({
  status,
  headers: { 'retry-after': String(seconds) },
});

function setUp(answers: Parameters<typeof answeringTransport>[0], options: RestClientOptions = {}) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const metrics = memoryMetrics();
  const transport = answeringTransport(answers);
  const at: number[] = [];
  const dispatch = transport.dispatch.bind(transport);
  transport.dispatch = (request, sink) => {
    at.push(clock.monotonic());
    dispatch(request, sink);
  };
  const runtime = { clock, log, metrics };
  const rest = RestClient.for({ server: 'https://host' }, { transport, apiVersion: 'v1', runtime, ...options });
  return { clock, log, metrics, transport, rest, at };
}

type Way = 'do' | 'doRaw' | 'stream' | 'watch';
function send(way: Way, request: RestRequest, signal?: AbortSignal): Promise<unknown> {
  if (way !== 'watch') return request[way]({ signal });
  return new Promise((resolve, reject) => {
    request.exchange({ onHeaders: resolve, onData() {}, onEnd() {}, onError: reject }, { watch: true, signal });
  });
}

/** Settles a promise while time passes. */
async function outcome(promise: Promise<unknown>, clock: VirtualClock): Promise<unknown> {
  const settled = promise.then(
    () => 'ok',
    (error: unknown) => error,
  );
  await clock.runAll();
  await clock.advance(0);
  return settled;
}

const all: readonly Way[] = ['do', 'doRaw', 'stream', 'watch'];
const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];
const always = (answer: Answer) => ({ answer, retried: all });
const never = (answer: Answer) => ({ answer, retried: [] as Way[] });
const cases: Record<string, { answer: Answer; retried: readonly Way[]; verbs?: readonly string[] }> = {
  '429 with Retry-After': always(retryAfter(429)),
  '429 with Retry-After 0': always(retryAfter(429, 0)),
  '500 with Retry-After': always(retryAfter(500)),
  '503 with Retry-After': always(retryAfter(503)),
  '599 with Retry-After': always(retryAfter(599)),
  '500 alone': never({ status: 500 }),
  '429 alone': never({ status: 429 }),
  '429 with a date': never(retryAfter(429, 'Wed, 21 Oct 2026 07:28:00 GMT')),
  '503 with a fraction': never(retryAfter(503, '1.5')),
  '503 with a negative wait': never(retryAfter(503, '-1')),
  '301 with Retry-After': never(retryAfter(301)),
  '409 with Retry-After': never(retryAfter(409)),
  'reset on a read': { answer: { error: failure('reset') }, retried: ['do', 'doRaw', 'watch'], verbs: ['GET'] },
  'end of file on a read': { answer: { error: failure('eof') }, retried: ['do', 'doRaw', 'watch'], verbs: ['GET'] },
  'reset on a write': {
    answer: { error: failure('reset') },
    retried: ['watch'],
    verbs: ['POST', 'PUT', 'PATCH', 'DELETE'],
  },
  'timeout on a read': { answer: { error: failure('headers-timeout') }, retried: ['watch'], verbs: ['GET'] },
  refused: never({ error: failure('connect-refused') }),
  'any other error': never({ error: new Error('ECONNRESET') }),
};

describe.each(Object.entries(cases))('%s', (_, { answer, retried, verbs: only = verbs }) => {
  test.each(all.flatMap((way) => only.map((verb) => [verb, way] as const)))('%s by %s', async (verb, way) => {
    const { rest, transport, clock } = setUp([answer]);
    const request = rest
      .verb(verb)
      .resource('pods')
      .maxRetries(3)
      .body(verb === 'GET' ? undefined : 'abcd');
    expect(await outcome(send(way, request), clock)).toBeInstanceOf(Error);
    expect(transport.requests).toHaveLength(retried.includes(way) ? 4 : 1);
    expect(transport.requests.every(({ body }) => body === (verb === 'GET' ? undefined : 'abcd'))).toBe(true);
  });
});

describe('retries', () => {
  test('are at most 10, and the error says how often it was tried', async () => {
    const { rest, transport, clock } = setUp([retryAfter(429)]);
    const error = await outcome(rest.post().resource('pods').body({}).do(), clock);
    expect(transport.requests).toHaveLength(11);
    expect(isTooManyRequests(error)).toBe(true);
    expect(String(error)).toContain('after 11 attempts');
    expect(error).toMatchObject({ retryAfterMs: 1_000, attempts: 11 });
  });

  test.each([
    [0, 1],
    [-5, 1],
    [2, 3],
  ])('maxRetries(%i) sends %i times', async (maxRetries, sent) => {
    const { rest, transport, clock } = setUp([retryAfter(503)]);
    await outcome(rest.get().resource('pods').maxRetries(maxRetries).do(), clock);
    expect(transport.requests).toHaveLength(sent);
  });

  test('wait as long as the server asks, and 1 s after a cut connection', async () => {
    const { rest, at, clock } = setUp([retryAfter(429, 7), { error: failure('reset') }, retryAfter(500, 0), {}]);
    expect(await outcome(rest.get().resource('pods').do(), clock)).toBe('ok');
    expect(at).toEqual([0, 7_000, 8_000, 8_000]);
  });

  test('after more than a minute are reported before the wait', async () => {
    const { rest, log, clock, at } = setUp([retryAfter(429, 60), retryAfter(503, 999_999_999), {}]);
    const done = rest.get().resource('pods').param('token', 'hunter22').do();
    await clock.advance(60_000);
    expect(log.records.filter(({ level }) => level !== 'debug')).toMatchObject([
      { level: 'warn', message: 'request will be sent again', fields: { waitMs: 999_999_999_000, method: 'GET' } },
    ]);
    expect(JSON.stringify(log.records)).not.toContain('hunter22');
    expect(await outcome(done, clock)).toBe('ok');
    expect(at.at(-1)).toBe(1_000_000_059_000);
  });

  test('end in a success', async () => {
    const { rest, clock, metrics } = setUp([429, 500, 501, 504, 200].map((status) => retryAfter(status)));
    expect(await outcome(rest.post().resource('pods').do(), clock)).toBe('ok');
    const labels = { host: 'host', method: 'POST' };
    expect(metrics.value('rest_client_requests_total', { ...labels, code: '429' })).toBe(1);
    expect(metrics.value('rest_client_requests_total', { ...labels, code: '200' })).toBe(1);
    expect(
      metrics.value('rest_client_request_retries_total', { host: 'host', verb: 'POST', code: '429' }),
    ).toBeUndefined();
    expect(metrics.value('rest_client_request_retries_total', { host: 'host', verb: 'POST', code: '200' })).toBe(1);
    expect(metrics.observed('rest_client_request_duration_seconds', { host: 'host', verb: 'POST' })).toEqual([4]);
  });

  test('let go of the bodies in between: short ones are read, long ones cut off', async () => {
    const long = { ...retryAfter(429), body: Array.from({ length: 9 }, () => 'x'.repeat(1_000)), hangs: true };
    const { rest, clock, transport } = setUp([{ ...retryAfter(429), body: 'short' }, long, {}]);
    expect(await outcome(rest.get().resource('pods').do(), clock)).toBe('ok');
    expect(transport.requests).toHaveLength(3);
  });

  test('of a request pass the rate limiter, those of a watch too', async () => {
    const clock = new VirtualClock();
    const limiter = tokenBucketRateLimiter(0.1, 1, clock);
    const { rest, at } = setUp([retryAfter(429, 1), {}], {
      rateLimiter: limiter,
      runtime: { clock, log: memoryLogger() },
    });
    await outcome(rest.get().resource('pods').do(), clock);
    expect(limiter.tryAccept()).toBe(false);
    await clock.advance(10_000);
    expect(limiter.tryAccept()).toBe(true);
    expect(at).toHaveLength(2);
    const watching = setUp([retryAfter(429, 0), {}], { rateLimiter: limiter, runtime: { clock, log: memoryLogger() } });
    const start = clock.monotonic();
    await outcome(send('watch', watching.rest.get().resource('pods')), clock);
    expect(watching.transport.requests).toHaveLength(2);
    expect(clock.monotonic() - start).toBe(10_000);
  });

  test('back off per host if configured, and then wait for the longer of the two', async () => {
    const clock = new VirtualClock();
    const backoff = urlBackoff({ baseMs: 2_000, maxMs: 60_000, clock });
    const { rest, transport } = setUp([retryAfter(500, 3), retryAfter(500, 1), {}], {
      backoff,
      runtime: { clock, log: memoryLogger() },
    });
    await outcome(rest.get().resource('pods').do(), clock);
    expect(transport.requests).toHaveLength(3);
    expect(clock.monotonic()).toBe(3_000 + 4_000);
  });
});

describe('the final error', () => {
  test('names the one before it', async () => {
    const { rest, clock } = setUp([
      { error: failure('reset', 'cut') },
      { error: failure('connect-refused', 'refused') },
    ]);
    const error = await outcome(rest.get().resource('pods').do(), clock);
    expect(error).toMatchObject({ kind: 'connect-refused', message: 'refused; the attempt before it failed: cut' });
  });

  test('does not repeat itself', async () => {
    const cut = failure('reset', 'cut');
    const { rest, clock } = setUp([{ error: cut }]);
    expect(await outcome(rest.get().resource('pods').do(), clock)).toBe(cut);
  });

  test('of a request that was aborted while waiting is the reason alone, at once', async () => {
    const { rest, transport, clock } = setUp([retryAfter(429, 60)]);
    const controller = new AbortController();
    const sent = rest
      .get()
      .resource('pods')
      .do({ signal: controller.signal })
      .catch((error: unknown) => error);
    await clock.advance(5_000);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await sent).toBe(reason);
    await clock.runAll();
    expect(transport.requests).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});

describe('a timeout', () => {
  test('covers all attempts, is sent to the server, and names the last one', async () => {
    const { rest, transport, clock } = setUp([retryAfter(429, 4)]);
    const sent = rest
      .get()
      .resource('pods')
      .timeout('10s')
      .do()
      .catch((error: unknown) => error);
    await clock.advance(10_000);
    const error = await sent;
    expect(isRequestTimeout(error)).toBe(true);
    expect(String(error)).toBe(
      'RequestTimeout: GET https://host/api/v1/pods?timeout=10s: not done within 10000 ms; ' +
        'the attempt before it failed: HTTP 429, Retry-After: 4',
    );
    expect(transport.requests.map(({ path }) => path)).toEqual(Array(3).fill('/api/v1/pods?timeout=10s'));
    expect(clock.pending).toBe(0);
  });

  test('covers the body', async () => {
    const { rest, clock } = setUp([{ status: 200, body: '{', hangs: true }]);
    const sent = rest
      .get()
      .resource('pods')
      .timeout('1s')
      .do()
      .catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(isRequestTimeout(await sent)).toBe(true);
  });

  test('begins after the wait for the rate limiter, which is measured and logged', async () => {
    const clock = new VirtualClock();
    const log = memoryLogger();
    const metrics = memoryMetrics();
    const rateLimiter = tokenBucketRateLimiter(0.1, 1, clock);
    const { rest } = setUp([{}], { rateLimiter, runtime: { clock, log, metrics } });
    const request = rest.get().resource('pods').timeout('1s');
    expect(await outcome(request.do(), clock)).toBe('ok');
    expect(log.messages('info')).toEqual([]);
    expect(await outcome(request.do(), clock)).toBe('ok');
    expect(clock.monotonic()).toBe(10_000);
    expect(log.records.filter(({ level }) => level === 'info')).toMatchObject([
      { fields: { waitedMs: 10_000, reason: 'client-side throttling, not priority and fairness', method: 'GET' } },
    ]);
    const labels = { verb: 'GET', host: 'host' };
    expect(metrics.observed('rest_client_rate_limiter_duration_seconds', labels)).toEqual([0, 10]);
  });

  test('leaves no timer behind after a success, and does not end a watch', async () => {
    const { rest, clock } = setUp([{}, { status: 200, hangs: true }]);
    await rest.get().resource('pods').timeout('10s').do();
    expect(clock.pending).toBe(0);
    let ended = false;
    rest
      .get()
      .resource('pods')
      .timeout('10s')
      .exchange(
        {
          onHeaders() {},
          onData() {},
          onEnd() {},
          onError() {
            ended = true;
          },
        },
        { watch: true },
      );
    await clock.advance(60_000);
    expect(ended).toBe(false);
  });
});
