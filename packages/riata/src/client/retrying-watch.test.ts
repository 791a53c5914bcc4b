import { describe, expect, onTestFinished, test } from 'vitest';
import { ConfigMap } from '../kinds/index.js';
import { isForbidden } from '../rest/error-guards.js';
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  scriptedFailure,
  scriptedTransport,
} from '../rest/scripted-transport.js';
import type { TransportErrorKind } from '../rest/transport-error.js';
import { silentLogger } from '../runtime/logger.js';
import { seededRandom } from '../runtime/random.js';
import { VirtualClock } from '../runtime/virtual-clock.js';
import { createClient } from './create-client.js';
import type { RetryingWatchEvent, RetryingWatchOptions } from './retrying-watch.js';

type Step = ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

const object = (name: string, resourceVersion: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, uid: name, resourceVersion: String(resourceVersion) },
});
const event = (type: string, name: string, rv: number) => `${JSON.stringify({ type, object: object(name, rv) })}\n`;
const bookmark = (rv: number) => event('BOOKMARK', '', rv);
const status = (code: number, reason: string, details?: object) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: reason,
  code,
  reason,
  ...(details && { details }),
});
const errorEvent = (code: number, reason: string) =>
  `${JSON.stringify({ type: 'ERROR', object: status(code, reason) })}\n`;
const refused = (code: number, reason: string, details?: object): Step => ({
  status: code,
  body: status(code, reason, details),
});
const fails =
  (kind: TransportErrorKind): Step =>
  () => {
    throw scriptedFailure(kind);
  };
const list = (rv: number, ...names: string[]): Step => ({
  body: {
    apiVersion: 'v1',
    kind: 'ConfigMapList',
    metadata: { resourceVersion: String(rv) },
    items: names.map((name) => object(name, rv)),
  },
});
/** A watch that sends this and ends; with an error last, breaks off; with `open`, stays open. */
const watch =
  (...pieces: readonly (string | Error | typeof open | number)[]): Step =>
  ({ signal }) => ({
    body: (async function* () {
      for (const piece of pieces) {
        if (piece === open) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        else if (typeof piece === 'number') await clocks.get(signal)?.sleep(piece);
        else if (typeof piece === 'object') throw piece;
        else yield piece as string;
      }
    })(),
  });
const open = Symbol('open');
const clocks = new WeakMap<AbortSignal, VirtualClock>();

interface Setup extends RetryingWatchOptions {
  /** Answers to lists and watches, in order; after the last, watches stay open. */
  readonly steps: readonly Step[];
}

function start({ steps, ...options }: Setup) {
  const clock = new VirtualClock();
  const requests: { readonly at: number; readonly what: string; readonly url: URL }[] = [];
  const transport = scriptedTransport(
    (request) => {
      clocks.set(request.signal, clock);
      const rv = request.url.searchParams.get('resourceVersion');
      const what = request.url.searchParams.get('watch') === 'true' ? `watch ${rv}` : 'list';
      const step = steps[requests.length] ?? watch(open);
      requests.push({ at: clock.monotonic(), what, url: request.url });
      return typeof step === 'function' ? step(request) : step;
    },
    { clock },
  );
  const runtime = { clock, random: seededRandom(1), log: silentLogger };
  const client = createClient({ server: 'http://a' }, { transport, runtime });
  const retries: { readonly error: unknown; readonly delayMs: number }[] = [];
  const watching = client.retryingWatch(ConfigMap, {
    onRetry: (error, delayMs) => retries.push({ error, delayMs }),
    ...options,
  });
  onTestFinished(() => watching.stop());
  const events: string[] = [];
  const iterate = async () => {
    for await (const e of watching) events.push(short(e));
  };
  return {
    clock,
    client,
    transport,
    watching,
    events,
    retries,
    requests,
    whats: () => requests.map((r) => r.what),
    /** Starts to read; says how it ended, once it did. */
    read() {
      const outcome: { ended?: true; error?: unknown } = {};
      iterate().then(
        () => Object.assign(outcome, { ended: true }),
        (error: unknown) => Object.assign(outcome, { error }),
      );
      return outcome;
    },
  };
}

function short(e: RetryingWatchEvent<ConfigMap>): string {
  if (e.type === 'RESET') return 'RESET';
  if (e.type === 'SYNCED') return `SYNCED ${e.resourceVersion}`;
  const { name, resourceVersion } = e.object.metadata as { name?: string; resourceVersion: string };
  return e.type === 'BOOKMARK' ? `BOOKMARK ${resourceVersion}` : `${e.type} ${name}`;
}

describe('the beginning', () => {
  test('all that exists, then its end, then the events', async () => {
    const t = start({ steps: [list(5, 'a', 'b'), watch(event('MODIFIED', 'a', 6), bookmark(9), open)] });
    const outcome = t.read();
    await t.clock.settle();
    expect(t.events).toEqual(['RESET', 'ADDED a', 'ADDED b', 'SYNCED 5', 'MODIFIED a', 'BOOKMARK 9']);
    expect(t.whats()).toEqual(['list', 'watch 5']);
    expect(outcome).toEqual({});
  });

  test('nothing exists', async () => {
    const t = start({ steps: [list(5)] });
    t.read();
    await t.clock.settle();
    expect(t.events).toEqual(['RESET', 'SYNCED 5']);
  });

  test('from a resourceVersion: its events alone', async () => {
    const t = start({ steps: [watch(event('ADDED', 'a', 8), open)], resourceVersion: '7' });
    t.read();
    await t.clock.settle();
    expect(t.events).toEqual(['ADDED a']);
    expect(t.whats()).toEqual(['watch 7']);
  });

  test.each(['', '0'])('from %j: as from none, as no server says where its events end', async (resourceVersion) => {
    const t = start({ steps: [list(5, 'a')], resourceVersion });
    t.read();
    await t.clock.settle();
    expect(t.events).toEqual(['RESET', 'ADDED a', 'SYNCED 5']);
    expect(t.whats()).toEqual(['list', 'watch 5']);
  });

  test('list and watch ask for the same; each watch for 5 to 10 minutes, not always the same, with bookmarks', async () => {
    const selection = { namespace: 'shop', labelSelector: 'app=web', fieldSelector: 'metadata.name=a' };
    const t = start({
      steps: [list(5), ...Array.from({ length: 20 }, (_, i) => watch(bookmark(6 + i)))],
      ...selection,
    });
    t.read();
    await t.clock.settle();
    expect(t.requests).toHaveLength(22);
    for (const { url } of t.requests) {
      expect(url.pathname).toBe('/api/v1/namespaces/shop/configmaps');
      expect(url.searchParams.get('labelSelector')).toBe('app=web');
      expect(url.searchParams.get('fieldSelector')).toBe('metadata.name=a');
    }
    const watches = t.requests.slice(1).map(({ url }) => url.searchParams);
    const timeouts = watches.map((params) => Number(params.get('timeoutSeconds')));
    expect(Math.min(...timeouts)).toBeGreaterThanOrEqual(300);
    expect(Math.max(...timeouts)).toBeLessThanOrEqual(600);
    expect(new Set(timeouts).size).toBeGreaterThan(5);
    expect(watches.every((params) => params.get('allowWatchBookmarks') === 'true')).toBe(true);
  });

  test('a list that fails on the way begins again', async () => {
    const half = JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [object('a', 1)] });
    const t = start({ steps: [{ body: half.slice(0, -2) }, list(5, 'a', 'b')] });
    t.read();
    await t.clock.settle();
    expect(t.events).toEqual(['RESET', 'ADDED a']);
    await t.clock.advance(2_000);
    expect(t.events).toEqual(['RESET', 'ADDED a', 'RESET', 'ADDED a', 'ADDED b', 'SYNCED 5']);
  });

  test('a list that does not say where to watch from is asked for again, not watched from anywhere', async () => {
    const body = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [] };
    const t = start({ steps: [{ body }, list(5)] });
    t.read();
    await t.clock.advance(2_000);
    expect(String(t.retries[0]?.error)).toContain('no metadata.resourceVersion');
    expect(t.whats()).toEqual(['list', 'list', 'watch 5']);
  });
});

describe('the watch ends', () => {
  test('as it regularly does: the next one at once, from where it was', async () => {
    const t = start({
      steps: [list(5), watch(event('ADDED', 'a', 6), bookmark(8)), watch(event('DELETED', 'a', 9), open)],
    });
    t.read();
    await t.clock.settle();
    expect(t.events.slice(2)).toEqual(['ADDED a', 'BOOKMARK 8', 'DELETED a']);
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 8']);
    expect(t.retries).toEqual([]);
  });

  test('by a cut connection: goes on from the last event, nothing lost and nothing twice', async () => {
    const t = start({
      steps: [
        list(5),
        watch(event('ADDED', 'a', 6), event('ADDED', 'b', 7), scriptedFailure('reset')),
        watch(event('ADDED', 'c', 8), scriptedFailure('idle-timeout')),
        watch(event('ADDED', 'd', 9), open),
      ],
    });
    t.read();
    await t.clock.advance(10_000);
    expect(t.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a', 'ADDED b', 'ADDED c', 'ADDED d']);
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 7', 'watch 8']);
    expect(t.retries).toHaveLength(2);
  });

  test('in the middle of an event: that one comes whole from the next watch', async () => {
    const second = event('ADDED', 'b', 7);
    const t = start({
      steps: [list(5), watch(event('ADDED', 'a', 6), second.slice(0, 40)), watch(second, open)],
    });
    t.read();
    await t.clock.advance(10_000);
    expect(t.events.slice(2)).toEqual(['ADDED a', 'ADDED b']);
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 6']);
  });

  test('by a line that is no event: opened again', async () => {
    const t = start({
      steps: [list(5), watch(event('ADDED', 'a', 6), 'rubbish\n'), watch(event('ADDED', 'b', 7), open)],
    });
    t.read();
    await t.clock.advance(10_000);
    expect(t.events.slice(2)).toEqual(['ADDED a', 'ADDED b']);
    expect(String(t.retries[0]?.error)).toContain('unable to decode');
  });

  test('an event without a resourceVersion does not lose the place', async () => {
    const odd = `${JSON.stringify({ type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'x' } } })}\n`;
    const t = start({ steps: [list(5), watch(event('ADDED', 'a', 6), odd)] });
    t.read();
    await t.clock.advance(10_000);
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 6']);
  });

  test('within a second and without an event, again and again: waits that grow, no list', async () => {
    const t = start({ steps: [list(5), watch(), watch(), watch()] });
    t.read();
    await t.clock.settle();
    expect(t.whats()).toEqual(['list', 'watch 5']);
    await t.clock.advance(60_000);
    expect(t.whats()).toEqual(['list', ...Array(4).fill('watch 5')]);
    expect(String(t.retries[0]?.error)).toContain('within a second, without an event');
    expectBackoff(t.retries, [800, 1_600, 3_200]);
  });

  test('after more than a second of quiet: that is no failure', async () => {
    const t = start({ steps: [list(5), watch(1_500)] });
    t.read();
    await t.clock.advance(1_500);
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 5']);
    expect(t.retries).toEqual([]);
  });
});

/** Each wait is the base plus up to as much again. */
function expectBackoff(retries: readonly { readonly delayMs: number }[], bases: readonly number[]) {
  expect(retries.length).toBe(bases.length);
  for (const [i, base] of bases.entries()) {
    expect(retries[i]?.delayMs).toBeGreaterThanOrEqual(base);
    expect(retries[i]?.delayMs).toBeLessThan(base * 2);
  }
}

describe('the server is in trouble', () => {
  test('5xx: waits that double up to 30 s, each with jitter; the list is not asked for again', async () => {
    const t = start({
      steps: [list(5), ...Array(7).fill(refused(500, 'InternalError')), watch(event('ADDED', 'a', 6), open)],
    });
    t.read();
    await t.clock.advance(300_000);
    expectBackoff(t.retries, [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000]);
    expect(t.whats().slice(1)).toEqual(Array(8).fill('watch 5'));
    expect(t.events).toEqual(['RESET', 'SYNCED 5', 'ADDED a']);
  });

  test('an event makes the waits short again', async () => {
    const down = refused(503, 'ServiceUnavailable');
    const t = start({ steps: [list(5), down, down, watch(event('ADDED', 'a', 6), scriptedFailure('reset')), down] });
    t.read();
    await t.clock.advance(60_000);
    expectBackoff(t.retries, [800, 1_600, 800, 1_600]);
  });

  test('so does a watch that lived, though quietly', async () => {
    const down = refused(503, 'ServiceUnavailable');
    const t = start({ steps: [list(5), down, down, watch(5_000, scriptedFailure('reset')), down] });
    t.read();
    await t.clock.advance(60_000);
    expectBackoff(t.retries, [800, 1_600, 800, 1_600]);
  });

  test('the list fails: tried again like the watch', async () => {
    const t = start({ steps: [refused(500, 'InternalError'), fails('connect-refused'), list(5)] });
    t.read();
    await t.clock.advance(10_000);
    expectBackoff(t.retries, [800, 1_600]);
    expect(t.events.at(-1)).toBe('SYNCED 5');
  });

  test('429: as long as it asks for, by header or Status', async () => {
    const busy = { status: 429, headers: { 'retry-after': '7' }, body: status(429, 'TooManyRequests') };
    const t = start({
      steps: [
        list(5),
        busy,
        refused(429, 'TooManyRequests', { retryAfterSeconds: 9 }),
        watch(event('ADDED', 'a', 6), open),
      ],
    });
    t.read();
    await t.clock.advance(6_900);
    expect(t.requests).toHaveLength(2);
    await t.clock.advance(100);
    expect(t.requests).toHaveLength(3);
    await t.clock.advance(8_900);
    expect(t.requests).toHaveLength(3);
    await t.clock.advance(100);
    expect(t.events.at(-1)).toBe('ADDED a');
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 5', 'watch 5']);
  });

  test('an error inside the stream that is no expiry: goes on from the last event', async () => {
    const t = start({ steps: [list(5), watch(event('ADDED', 'a', 6), errorEvent(500, 'InternalError')), watch(open)] });
    t.read();
    await t.clock.advance(2_000);
    expect(t.whats()).toEqual(['list', 'watch 5', 'watch 6']);
  });
});

describe('expiry', () => {
  test.each([
    ['inside the stream', watch(event('ADDED', 'b', 6), errorEvent(410, 'Expired'))],
    ['inside the stream, by its other name', watch(event('ADDED', 'b', 6), errorEvent(410, 'Gone'))],
    ['on opening', refused(410, 'Expired')],
    ['too new, after a restore', refused(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] })],
  ])('%s: all again, at once', async (_, expired) => {
    const t = start({ steps: [list(5, 'a'), expired, list(20, 'a', 'c'), watch(open)] });
    t.read();
    await t.clock.settle();
    expect(t.events.filter((e) => e !== 'ADDED b')).toEqual([
      ...['RESET', 'ADDED a', 'SYNCED 5'],
      ...['RESET', 'ADDED a', 'ADDED c', 'SYNCED 20'],
    ]);
    expect(t.whats()).toEqual(['list', 'watch 5', 'list', 'watch 20']);
    expect(t.retries.map((r) => r.delayMs)).toEqual([0]);
  });

  test('from a given resourceVersion, too', async () => {
    const t = start({ steps: [refused(410, 'Expired'), list(20, 'a')], resourceVersion: '1' });
    t.read();
    await t.clock.settle();
    expect(t.events).toEqual(['RESET', 'ADDED a', 'SYNCED 20']);
  });

  test.each([
    ['without an event', () => refused(410, 'Expired')],
    ['with an event before each', (rv: number) => watch(event('ADDED', 'x', rv + 1), errorEvent(410, 'Expired'))],
  ])('again and again, %s: waits that grow', async (_, expired) => {
    const t = start({ steps: [1, 2, 3, 4].flatMap((n) => [list(n * 10), expired(n * 10)]) });
    t.read();
    await t.clock.settle();
    expect(t.whats().filter((what) => what === 'list')).toHaveLength(2);
    await t.clock.advance(60_000);
    expect(t.retries[0]?.delayMs).toBe(0);
    expectBackoff(t.retries.slice(1), [800, 1_600, 3_200]);
  });

  test('after calm it is the first again', async () => {
    const t = start({
      steps: [
        list(1),
        refused(410, 'Expired'),
        list(2),
        watch(180_000, errorEvent(410, 'Expired')),
        list(3),
        watch(open),
      ],
    });
    t.read();
    await t.clock.advance(180_000);
    expect(t.retries.map((r) => r.delayMs)).toEqual([0, 0]);
    expect(t.events.at(-1)).toBe('SYNCED 3');
  });
});

describe('what waiting cannot mend', () => {
  test.each([
    ['list', [refused(403, 'Forbidden')]],
    ['watch', [list(5), refused(403, 'Forbidden')]],
    ['stream', [list(5), watch(errorEvent(403, 'Forbidden'))]],
  ])('403 on the %s: rejects with it', async (_, steps) => {
    const t = start({ steps });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toSatisfy(isForbidden);
    expect(t.retries).toEqual([]);
    await t.clock.advance(100_000);
    expect(t.requests).toHaveLength(steps.length);
    expect(t.transport.running).toBe(0);
  });

  test.each([400, 401, 404, 405, 422])('%i rejects, too', async (code) => {
    const t = start({ steps: [refused(code, '')] });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toMatchObject({ code });
  });

  test('a transport that was closed, and a mistake of the caller', async () => {
    const t = start({ steps: [list(5), fails('closed')] });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toMatchObject({ kind: 'closed' });
    const mistaken = start({ steps: [], labelSelector: { app: 'x' } as never });
    const refusal = mistaken.read();
    await mistaken.clock.settle();
    expect(refusal.error).toBeInstanceOf(TypeError);
  });

  test('what onRetry throws ends it', async () => {
    const t = start({
      steps: [refused(500, 'InternalError')],
      onRetry: () => {
        throw new Error('enough');
      },
    });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toMatchObject({ message: 'enough' });
  });
});

describe('the end', () => {
  test.each([
    ['while it waits for events', [list(5)]],
    ['while it waits to try again', [list(5), refused(500, 'InternalError')]],
    ['while it waits for the list', [() => new Promise<ScriptedAnswer>(() => {})]],
    ['while it waits for the watch', [list(5), () => new Promise<ScriptedAnswer>(() => {})]],
  ] as [string, Step[]][])('stop() %s', async (_, steps) => {
    const t = start({ steps });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome).toEqual({});
    t.watching.stop();
    await t.clock.settle();
    expect(outcome).toEqual({ ended: true });
    expect(t.transport.running).toBe(0);
    expect(t.clock.pending).toBe(0);
  });

  test('stop() while the reader is busy: what has come already is not handed out', async () => {
    const t = start({ steps: [list(5), watch(event('ADDED', 'a', 6), event('ADDED', 'b', 7), open)] });
    const seen: string[] = [];
    for await (const e of t.watching) {
      seen.push(short(e));
      if (seen.at(-1) === 'ADDED a') {
        await t.clock.settle();
        t.watching.stop();
      }
    }
    expect(seen).toEqual(['RESET', 'SYNCED 5', 'ADDED a']);
  });

  test('stop() before the start: nothing is asked', async () => {
    const t = start({ steps: [list(5)] });
    t.watching.stop();
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome).toEqual({ ended: true });
    expect(t.requests).toEqual([]);
  });

  test('leaving the loop, or disposing, ends the request', async () => {
    const t = start({ steps: [list(5), watch(event('ADDED', 'a', 6), open)] });
    for await (const e of t.watching) if (e.type === 'ADDED') break;
    await t.clock.settle();
    expect(t.transport.running).toBe(0);
    const other = start({ steps: [list(5), watch(event('ADDED', 'a', 6), open)] });
    const outcome = other.read();
    await other.clock.settle();
    await other.watching[Symbol.asyncDispose]();
    await other.clock.settle();
    expect(outcome).toEqual({ ended: true });
  });

  test.each([0, 1])('the signal: rejects with its reason (%i failures before)', async (failures) => {
    const controller = new AbortController();
    const steps = [list(5), ...Array(failures).fill(refused(500, 'InternalError'))];
    const t = start({ steps, signal: controller.signal });
    const outcome = t.read();
    await t.clock.settle();
    const reason = new Error('shutdown');
    controller.abort(reason);
    await t.clock.settle();
    expect(outcome.error).toBe(reason);
    expect(t.transport.running).toBe(0);
    expect(t.clock.pending).toBe(0);
  });

  test('a signal that has aborted already', async () => {
    const t = start({ steps: [], signal: AbortSignal.abort(new Error('over')) });
    const outcome = t.read();
    await t.clock.settle();
    expect(outcome.error).toMatchObject({ message: 'over' });
    expect(t.requests).toEqual([]);
  });

  test('it can be gone through once', async () => {
    const t = start({ steps: [list(5)] });
    t.read();
    await t.clock.settle();
    await expect(t.watching[Symbol.asyncIterator]().next()).rejects.toThrow('iterated once');
  });
});

test('a slow reader holds the server back: memory does not grow with what it has to say', async () => {
  let sent = 0;
  const chunk = event('MODIFIED', 'a'.repeat(64 * 1024), 6);
  const endless: Step = () => ({
    body: (async function* () {
      for (; sent < 1_000; sent++) yield chunk;
    })(),
  });
  const t = start({ steps: [list(5), endless] });
  const iterator = t.watching[Symbol.asyncIterator]();
  for (let i = 0; i < 3; i++) await iterator.next();
  await t.clock.settle();
  expect(sent).toBeLessThan(20);
  await iterator.return?.();
});

test('however the stream is cut, every event comes once and in order', async () => {
  const random = seededRandom(7);
  const total = 60;
  let at = 5;
  const steps: Step[] = [list(at)];
  while (at < total) {
    const from = at;
    const to = Math.min(total, from + random.int(1, 9));
    const text = Array.from({ length: to - from }, (_, i) => event('ADDED', `n${from + i + 1}`, from + i + 1)).join('');
    const kept = random.int(0, text.length);
    const ends = random.pick([undefined, scriptedFailure('reset'), scriptedFailure('eof')]);
    steps.push(watch(text.slice(0, kept), ...(ends ? [ends] : [])));
    // The next watch begins behind the last whole event of this one.
    at = from + (text.slice(0, kept).match(/\n/g)?.length ?? 0);
    // A closing brace that came without its newline makes an event, too.
    if (text[kept] === '\n' && kept > 0) at += 1;
  }
  const t = start({ steps });
  t.read();
  await t.clock.advance(3_600_000);
  expect(t.events.slice(2)).toEqual(Array.from({ length: total - 5 }, (_, i) => `ADDED n${i + 6}`));
});
