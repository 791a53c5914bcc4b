import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import {
  added,
  apiError,
  bookmark,
  closing,
  deleted,
  errorEvent,
  expired,
  initialEnd,
  list,
  lostConnection,
  modified,
  reflect,
  type Step,
  thing,
  tooLarge,
  watch,
} from './reflector.fixture.js';

const useWatchList = true;
const unsupported = apiError(422, 'Invalid', { message: 'sendInitialEvents is forbidden for watch' });

describe('Reflector: WatchList', () => {
  test('collects until the bookmark that ends it, replaces, and watches on over the same stream', async () => {
    const t = reflect({ steps: [watch(added('a1'), added('b2'))], useWatchList });
    await t.start();
    expect(t.calls).toEqual([]);
    expect(t.reflector.health).toMatchObject({ phase: 'listing', listed: false });
    await t.push(initialEnd(10), modified('a11'), bookmark(15));
    expect(t.calls).toEqual(['replace 10: a1 b2', 'update a11', 'bookmark 15']);
    expect(t.whats()).toEqual(['watch-list ""']);
    expect(t.last().options).toMatchObject({ resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true });
    expect(t.reflector.health).toMatchObject({ phase: 'watching', listed: true, resourceVersion: '15' });
    t.last().end();
    await t.clock.settle();
    expect(t.whats()).toEqual(['watch-list ""', 'watch "15"']);
  });

  test('is the default', async () => {
    const t = reflect({ steps: [watch(initialEnd(10))], useWatchList: undefined });
    await t.start();
    expect(t.whats()).toEqual(['watch-list ""']);
    expect(t.calls).toEqual(['replace 10: ']);
  });

  test('updates and deletes before the bookmark: what is there at the end counts', async () => {
    const events = [added('a1'), added('b2'), added('c3'), modified('a4'), deleted('b5'), added('b6'), deleted('c7')];
    const t = reflect({ steps: [watch(...events, initialEnd(10))], useWatchList });
    await t.start();
    expect(t.calls).toEqual(['replace 10: a4 b6']);
  });

  test('annotation value: only "true" ends it; other bookmarks before do not, nor move the resume point', async () => {
    const t = reflect({
      steps: [watch(added('a1'), bookmark(7), initialEnd(8, 'false'), initialEnd(9, ''))],
      useWatchList,
    });
    await t.start();
    expect(t.calls).toEqual([]);
    expect(t.reflector.lastSyncResourceVersion()).toBe('');
    await t.push(initialEnd(10));
    expect(t.calls).toEqual(['replace 10: a1']);
    expect(t.reflector.lastSyncResourceVersion()).toBe('10');
  });

  test.each([
    ['refused as unknown', unsupported],
    ['refused by 5xx', apiError(503, 'ServiceUnavailable')],
    ['a broken connection', lostConnection('reset')],
    ['an error in the stream', watch(added('a1'), errorEvent(apiError(500, 'InternalError')))],
    ['very short', closing()],
  ] satisfies [string, Step][])('fallback: %s, then LIST at once', async (_, step) => {
    const t = reflect({ steps: [step, list(10, 'b2'), watch()], useWatchList });
    await t.start();
    expect(t.whats()).toEqual(['watch-list ""', 'list "0" limit 500', 'watch "10"']);
    expect(t.calls).toEqual(['replace 10: b2']);
    expect(t.clock.monotonic()).toBe(0);
    expect(t.errors).toEqual([]);
  });

  test('429, and a server that is not there: waits and tries again, no LIST', async () => {
    const busy = apiError(429, 'TooManyRequests', { details: { retryAfterSeconds: 40 } });
    const away = lostConnection('connect-refused', false);
    const t = reflect({ steps: [busy, away, watch(added('a1'), initialEnd(10))], useWatchList });
    await t.start();
    await t.until(3);
    expect(t.whats()).toEqual(['watch-list ""', 'watch-list ""', 'watch-list ""']);
    expect(t.requests[1]?.at).toBe(40_000);
    expect(t.errors.map(({ error }) => error)).toEqual([busy, away]);
    expect(t.calls).toEqual(['replace 10: a1']);
  });

  test.each([
    ['expired', expired],
    ['too large', tooLarge],
    ['expired in the stream', watch(errorEvent(expired))],
  ] satisfies [string, Step][])('%s: asks for the newest state at once; then by LIST', async (_, step) => {
    const t = reflect({
      steps: [watch(added('a1'), initialEnd(10), errorEvent(expired)), step, expired, list(30, 'c20'), watch()],
      useWatchList,
    });
    await t.start();
    await t.until(5);
    expect(t.whats()).toEqual(['watch-list ""', 'watch-list "10"', 'watch-list ""', 'list "" limit 500', 'watch "30"']);
    expect(t.requests[3]?.at).toBe(t.requests[1]?.at);
  });

  test('a stream that ends before the bookmark gives the store nothing; it is tried again after a wait', async () => {
    const t = reflect({ steps: [closing(added('a1')), watch(added('b2'), initialEnd(10))], useWatchList });
    await t.start();
    expect(t.calls).toEqual([]);
    expect(t.errors[0]?.error.message).toContain('before it was complete');
    await t.until(2);
    expect(t.calls).toEqual(['replace 10: b2']);
    expect(t.requests[1]?.at).toBeGreaterThan(100);
  });

  test('warns every 10 s without the bookmark, and stops to when it has come', async () => {
    const t = reflect({ steps: [watch(added('a1'))], useWatchList });
    await t.start();
    await t.clock.advance(35_000);
    const warnings = t.log.messages('warn');
    expect(warnings).toEqual(Array(3).fill('WatchList is still incomplete'));
    expect(t.log.records.find(({ level }) => level === 'warn')?.fields).toMatchObject({ waitedMs: 10_000, objects: 1 });
    await t.push(initialEnd(10));
    await t.clock.advance(30_000);
    expect(t.log.messages('warn')).toEqual(warnings);
  });

  test('a server that never ends the initial events, as fakes do: by LIST, once it has been silent', async () => {
    const t = reflect({ steps: [watch(added('a1')), list(10, 'a1'), watch()], useWatchList, silence: '5s' });
    await t.start();
    await t.clock.advance(6_000);
    expect(t.whats()).toEqual(['watch-list ""', 'list "0" limit 500', 'watch "10"']);
    expect(t.watches[0]?.isStopped).toBe(true);
    expect(t.stored()).toBe('a1');
  });

  test('a source that cannot be read: by LIST, and nothing of it stays', async () => {
    const source = {
      stop() {},
      consume() {
        throw new Error('not today');
      },
      // biome-ignore lint/correctness/useYield: there is `consume`
      async *[Symbol.asyncIterator]() {
        throw new Error('expected to be read by consume');
      },
    };
    const t = reflect({ steps: [{ source }, list(10, 'a1'), { source }, watch()], useWatchList });
    await t.start();
    expect(t.whats()).toEqual(['watch-list ""', 'list "0" limit 500', 'watch "10"']);
    expect(t.stored()).toBe('a1');
    expect(t.errors.map(({ error }) => error.message)).toEqual(['not today']);
  });

  test('wrong kinds and the transform: as in a list', async () => {
    const other = { type: 'ADDED', object: { ...thing('x3'), kind: 'Other' } } as WatchEvent;
    const transform = (object: KubeObject): KubeObject => {
      if (object.metadata.name === 'bad') throw new Error('boom');
      return { ...object, metadata: { ...object.metadata, labels: { slim: 'yes' } } };
    };
    const t = reflect({ steps: [watch(added('a1'), other, initialEnd(10))], useWatchList, transform });
    await t.start();
    expect(t.calls).toEqual(['replace 10: a1']);
    expect(t.objects()[0]?.metadata.labels).toEqual({ slim: 'yes' });
    const bad = reflect({ steps: [watch(added('bad1'), added('b2'), initialEnd(10))], useWatchList, transform });
    await bad.start();
    expect(bad.calls).toEqual(['replace 10: b2']);
    expect(bad.log.messages('error')).toEqual(['withheld an object that the transform failed for, will be retried']);
    const numbered = { type: 'ADDED', object: { ...thing('n3'), metadata: { ...thing('n3').metadata, name: 5 } } };
    const odd = reflect({ steps: [watch(numbered as never, added('b2'), initialEnd(10))], useWatchList });
    await odd.start();
    expect(odd.calls).toEqual(['replace 10: b2']);
    expect(odd.log.messages('error')).toEqual(['withheld a malformed object']);
  });

  test('admitListed: each object as it comes, before the list is whole', async () => {
    const seen: string[] = [];
    const admitListed = (object: KubeObject) => {
      seen.push(object.metadata.name);
      return { ...object, metadata: { ...object.metadata, labels: { admitted: 'yes' } } };
    };
    const t = reflect({ steps: [watch(added('a1'), added('b2'))], useWatchList, admitListed });
    await t.start();
    expect(seen).toEqual(['a', 'b']);
    await t.push(initialEnd(10), modified('a11'));
    expect(seen).toEqual(['a', 'b']);
    expect(t.calls).toEqual(['replace 10: a1 b2', 'update a11']);
    expect(t.objects().map(({ metadata }) => metadata.labels?.admitted)).toEqual([undefined, 'yes']);
  });

  test('counts as a list and a watch', async () => {
    const t = reflect({ steps: [watch(added('a1'), initialEnd(10))], useWatchList, name: 'n' });
    await t.start();
    expect(t.metrics.value('reflector_lists_total', { name: 'n' })).toBe(1);
    expect(t.metrics.observed('reflector_items_per_list', { name: 'n' })).toEqual([1]);
    expect(t.metrics.value('reflector_watches_total', { name: 'n' })).toBe(1);
    expect(t.metrics.value('reflector_last_resource_version', { name: 'n' })).toBe(10);
  });
});
