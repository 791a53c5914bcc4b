import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import { lossOf } from '../../object/value/lossy.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import {
  added,
  apiError,
  bookmark,
  closing,
  deleted,
  errorEvent,
  expired,
  list,
  modified,
  reflect,
  short,
  streamed,
  Thing,
  thing,
  watch,
} from './reflector.fixture.js';

describe('Reflector: list, then watch', () => {
  test('ListAndWatch: the first list may come from the cache of the server, the watch continues from it', async () => {
    const t = reflect({ steps: [list(10, 'a1 b2'), watch()] });
    expect(t.reflector.health).toMatchObject({ phase: 'idle', listed: false, resourceVersion: '' });
    await t.start();
    await t.push(added('c11'), modified('a12'), deleted('b13'));
    expect(t.whats()).toEqual(['list "0" limit 500', 'watch "10"']);
    expect(t.calls).toEqual(['replace 10: a1 b2', 'add c11', 'update a12', 'delete b13']);
    expect(t.stored()).toBe('a12 c11');
    expect(t.reflector.lastSyncResourceVersion()).toBe('13');
    expect(t.reflector.health).toMatchObject({ phase: 'watching', listed: true, consecutiveFailures: 0 });
  });

  test('a list that comes item by item is taken in as it comes', async () => {
    const seen: string[] = [];
    const transform = (object: KubeObject) => {
      seen.push(short(object));
      return object;
    };
    const t = reflect({ steps: [streamed(list(10, 'a1 b2 c3')), watch()], transform });
    await t.start();
    expect(seen).toEqual(['a1', 'b2', 'c3']);
    expect(t.calls).toEqual(['replace 10: a1 b2 c3']);
  });

  test('admitListed: what comes in a list, after the transform; not what comes later', async () => {
    const seen: unknown[] = [];
    const transform = (object: KubeObject) => ({
      ...object,
      metadata: { ...object.metadata, labels: { slim: 'yes' } },
    });
    const admitListed = (object: KubeObject) => {
      seen.push([short(object), object.metadata.labels]);
      return object.metadata.name === 'a' ? { ...object, kind: 'Admitted' } : object;
    };
    const steps = [list(10, 'a1 b2'), watch(added('c11'), modified('a12'))];
    const t = reflect({ steps, transform, admitListed });
    await t.start();
    expect(seen).toEqual([
      ['a1', { slim: 'yes' }],
      ['b2', { slim: 'yes' }],
    ]);
    expect(t.calls).toEqual(['replace 10: a1 b2', 'add c11', 'update a12']);
  });

  test('RunUntil: stops with its signal, and nothing reaches the store after that', async () => {
    const t = reflect({ steps: [list(10, 'a1')], resyncPeriod: '1m' });
    const { done } = await t.start();
    t.stop();
    await done;
    expect(t.last().isStopped).toBe(true);
    t.last().push(added('late11'));
    await t.clock.advance(600_000);
    expect(t.stored()).toBe('a1');
    expect(t.calls).toEqual(['replace 10: a1']);
    expect(t.clock.pending).toBe(0);
    expect(t.reflector.health).toMatchObject({ phase: 'stopped', resourceVersion: '10' });
  });

  test('stopped while it lists, opens a watch or waits: resolves at once', async () => {
    for (const steps of [
      [{ hangs: true }],
      [list(1, ''), { hangs: true }],
      [apiError(500, 'InternalError')],
    ] as const) {
      const t = reflect({ steps });
      const { done } = await t.start();
      t.stop();
      await done;
      expect(t.clock.pending).toBe(0);
      expect(t.reflector.health.phase).toBe('stopped');
    }
  });

  test('is refused a second run at the same time; a later one lists nothing older than what is known', async () => {
    const t = reflect({ steps: [list(10, 'a1'), watch(added('b11'))] });
    const { done } = await t.start();
    await expect(t.reflector.run({ signal: new AbortController().signal })).rejects.toThrow(
      'reflector "things.test.riata.dev" is already running',
    );
    t.stop();
    await done;
    const stop = new AbortController();
    const again = t.reflector.run({ signal: stop.signal });
    await t.clock.settle();
    expect(t.whats().at(-1)).toBe('list "11"');
    stop.abort();
    await again;
  });

  test('watch timeout: between 5 and 10 minutes, another for each watch; bookmarks are asked for always', async () => {
    const t = reflect({ steps: [list(10, ''), ...Array.from({ length: 40 }, () => closing(bookmark(11)))] });
    await t.start();
    const timeouts = t.watches.map(({ options }) => options.timeoutSeconds ?? 0);
    expect(Math.min(...timeouts)).toBeGreaterThanOrEqual(300);
    expect(Math.max(...timeouts)).toBeLessThan(600);
    expect(new Set(timeouts).size).toBeGreaterThan(20);
    expect(t.watches.every(({ options }) => options.allowWatchBookmarks === true)).toBe(true);
  });

  test('a watch that ends in good order is followed by another at once, from the last resourceVersion', async () => {
    const t = reflect({
      steps: [list(10, 'a1'), closing(added('b11'), bookmark(15)), closing(modified('a16')), watch()],
    });
    await t.start();
    expect(t.whats().slice(1)).toEqual(['watch "10"', 'watch "15"', 'watch "16"']);
    expect(t.clock.monotonic()).toBe(0);
    expect(t.errors).toEqual([]);
  });

  test('ResyncChecker: resyncs by the clock when asked to, and never contacts the server for it', async () => {
    let should = false;
    const t = reflect({ steps: [list(10, '')], resyncPeriod: '30s', shouldResync: () => should });
    await t.start();
    await t.clock.advance(60_000);
    expect(t.calls).toEqual(['replace 10: ']);
    should = true;
    await t.clock.advance(60_000);
    expect(t.calls).toEqual(['replace 10: ', 'resync', 'resync']);
    expect(t.requests.filter(({ what }) => what.startsWith('list'))).toHaveLength(1);
  });
});

describe('Reflector: resourceVersions', () => {
  test('a bookmark moves the resume point and reaches the store', async () => {
    const t = reflect({ steps: [list(10, 'a1'), watch()] });
    await t.start();
    await t.push(bookmark(99));
    expect(t.calls.at(-1)).toBe('bookmark 99');
    expect(t.reflector.lastSyncResourceVersion()).toBe('99');
    await t.push({ type: 'BOOKMARK', object: { metadata: {} } } as never);
    expect(t.reflector.lastSyncResourceVersion()).toBe('99');
  });

  test.each(['', '0'])(
    'a watch from %j begins with what exists: its ADDED events do not move the resume point, the first other does',
    async (version) => {
      const t = reflect({ steps: [list(version, ''), watch()] });
      await t.start();
      await t.push(added('b20'), added('a7'));
      expect(t.stored()).toBe('a7 b20');
      expect(t.reflector.lastSyncResourceVersion()).toBe(version);
      await t.push(modified('a21'));
      expect(t.reflector.lastSyncResourceVersion()).toBe('21');
      await t.push(added('c22'));
      expect(t.reflector.lastSyncResourceVersion()).toBe('22');
    },
  );

  test('RV update: each event moves it, also one that the store refuses', async () => {
    const t = reflect({
      steps: [list(10, ''), watch()],
      onWrite: (call) => {
        if (call === 'add bad11') throw new Error('no room');
      },
    });
    await t.start();
    await t.push(added('bad11'));
    expect(t.reflector.lastSyncResourceVersion()).toBe('11');
    await t.push(added('good12'));
    expect(t.stored()).toBe('good12');
    expect(t.log.messages('error')).toEqual(['dropped an event that the store refused']);
    expect(t.errors).toEqual([]);
  });
});

describe('Reflector: what comes in', () => {
  test('wrong kinds, Tables and malformed objects are dropped and logged once each; the rest comes', async () => {
    const wrong = (object: unknown) => ({ type: 'ADDED', object }) as WatchEvent;
    const other = { ...thing('x11'), kind: 'Other' };
    const otherVersion = { ...thing('x12'), apiVersion: 'test.riata.dev/v2' };
    const table = { apiVersion: 'meta.k8s.io/v1', kind: 'Table', metadata: { resourceVersion: '13' }, rows: [] };
    const mixed = list(10, 'a1');
    const t = reflect({ steps: [{ ...mixed, items: [...mixed.items, other] }, watch()] });
    await t.start();
    await t.push(wrong(other), wrong(other), wrong(otherVersion), wrong(table), wrong(null), wrong({ kind: 'Thing' }));
    await t.push(added('b14'));
    expect(t.stored()).toBe('a1 b14');
    expect(t.log.records.filter(({ level }) => level === 'error').map(({ fields }) => fields.got)).toEqual([
      'test.riata.dev/v1 Other',
      'test.riata.dev/v2 Thing',
      'meta.k8s.io/v1 Table',
      'null',
      'no metadata',
    ]);
  });

  test('without a kind anything goes but Tables; what does not say its kind is believed', async () => {
    const { apiVersion: _, kind: __, ...bare } = thing('bare11');
    const table = { apiVersion: 'meta.k8s.io/v1', kind: 'Table', metadata: { name: 't', resourceVersion: '12' } };
    const events = [{ ...thing('x11'), kind: 'Other' }, bare, table].map((object) => ({ type: 'ADDED', object }));
    for (const kind of [undefined, Thing]) {
      const t = reflect({ steps: [list(10, ''), watch(...(events as WatchEvent[]))], kind });
      await t.start();
      expect(t.stored()).toBe(kind === undefined ? 'bare11 x11' : 'bare11');
    }
  });

  test('transform: once for each object, of lists and events, deleted ones too; they are known to be incomplete', async () => {
    const seen: string[] = [];
    const transform = (object: KubeObject): KubeObject => {
      seen.push(short(object));
      return { ...object, metadata: { ...object.metadata, labels: { slim: 'yes' } } };
    };
    const t = reflect({ steps: [list(10, 'a1'), watch(added('b11'), modified('b12'), deleted('b13'))], transform });
    await t.start();
    const [kept] = t.objects();
    expect(seen).toEqual(['a1', 'b11', 'b12', 'b13']);
    expect(kept?.metadata.labels).toEqual({ slim: 'yes' });
    expect(lossOf(kept as object)?.reasons.map(({ reason }) => reason)).toEqual(['transformed']);
  });

  test('transform that throws: the object is left out of events and lists, a deletion is not, and it is retried', async () => {
    let isBroken = true;
    const transform = (object: KubeObject): KubeObject => {
      if (isBroken && object.metadata.name === 'bad') throw new Error('boom');
      return object;
    };
    const steps = [list(10, 'a1'), watch(added('bad11'), deleted('bad12'), added('c13')), list(20, 'a1 bad2'), watch()];
    const t = reflect({ steps, transform });
    await t.start();
    expect(t.calls).toEqual(['replace 10: a1', 'delete bad12', 'add c13']);
    await t.push(errorEvent(expired));
    await t.until(4);
    expect(t.stored()).toBe('a1');
    expect(t.reflector.withheld.list()).toMatchObject([{ key: 'shop/bad', function: 'transform' }]);
    isBroken = false;
    await t.clock.advance(1_000);
    expect(t.stored()).toBe('a1 bad2');
    expect(t.reflector.withheld.list()).toEqual([]);
  });
});
