import { describe, expect, test } from 'vitest';
import { type ScriptedAnswer, scriptedFailure } from '../../rest/transport/scripted-transport.js';
import { seededRandom } from '../../runtime/random.js';
import {
  bookmark,
  event,
  expectBackoff,
  list,
  object,
  open,
  refused,
  type Step,
  short,
  start,
  watch,
} from './retrying-watch.fixture.js';

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

  test('by a cut connection: continues from the last event, nothing lost and nothing twice', async () => {
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
