import { describe, expect, test } from 'vitest';
import { isForbidden, isNotFound, isResourceExpired } from '../../rest/errors/error-guards.js';
import type { TransportErrorKind } from '../../rest/errors/transport-error.js';
import {
  added,
  apiError,
  bookmark,
  closing,
  errorEvent,
  expired,
  list,
  lostConnection,
  modified,
  reflect,
  type Step,
  tooLarge,
  watch,
} from './reflector.fixture.js';
import { isReflectorError } from './reflector-error.js';

const busy = (retryAfterSeconds?: number) => apiError(429, 'TooManyRequests', { details: { retryAfterSeconds } });
const failing =
  (error: unknown): Step =>
  (opened) => {
    opened.end(error);
  };

describe('Reflector: lists', () => {
  test('expired exact resourceVersion: lists the newest state at once', async () => {
    const t = reflect({
      steps: [list(10, 'a1'), watch(errorEvent(expired)), expired, list(20, 'a1 b15'), watch()],
    });
    await t.start();
    await t.until(5);
    expect(t.whats()).toEqual(['list "0" limit 500', 'watch "10"', 'list "10"', 'list "" limit 500', 'watch "20"']);
    expect(t.requests[3]?.at).toBe(t.requests[2]?.at);
    expect(t.calls).toEqual(['replace 10: a1', 'replace 20: a1 b15']);
  });

  test('full list if resourceVersion too large', async () => {
    const t = reflect({ steps: [list(10, 'a1'), watch(errorEvent(expired)), tooLarge, list(5, 'a1'), watch()] });
    await t.start();
    await t.until(5);
    expect(t.whats().slice(2)).toEqual(['list "10"', 'list "" limit 500', 'watch "5"']);
  });

  test('full list if expired: a continuation that is too old gives up the pages for one whole list', async () => {
    const t = reflect({
      steps: [list(10, 'a1 b2', 'more'), list(10, 'c3 d4', 'yet more'), expired, list(12, 'a1 b2 c3 d4 e11'), watch()],
    });
    await t.start();
    expect(t.whats()).toEqual([
      'list "0" limit 500',
      'list undefined limit 500 continue more',
      'list undefined limit 500 continue yet more',
      'list "0"',
      'watch "12"',
    ]);
    expect(t.calls).toEqual(['replace 12: a1 b2 c3 d4 e11']);
  });

  test('pages become one list, of the version of the first', async () => {
    const t = reflect({ steps: [list(10, 'a1', 'x'), list(10, 'b2', 'y'), list(10, 'c3'), watch()] });
    await t.start();
    expect(t.calls).toEqual(['replace 10: a1 b2 c3']);
    expect(t.whats().at(-1)).toBe('watch "10"');
  });

  test('a token that comes twice is an error, not an endless list', async () => {
    const t = reflect({ steps: [list(10, 'a1', 'x'), list(10, 'b2', 'x')] });
    await t.start();
    expect(t.errors[0]?.error.message).toContain('the same continue token twice');
  });

  test('not paginating consistent reads: a list by resourceVersion comes from the cache as a whole', async () => {
    const t = reflect({ steps: [list(10, 'a1'), watch(errorEvent(expired)), list(20, 'a1')] });
    await t.start();
    await t.until(3);
    expect(t.whats()[2]).toBe('list "10"');
  });

  test('paginating when the watch cache is off: a server that pages a list from "0" pages all later ones', async () => {
    const t = reflect({ steps: [list(10, 'a1', 'x'), list(10, 'b2'), watch(errorEvent(expired)), list(20, 'a1')] });
    await t.start();
    await t.until(4);
    expect(t.whats()[3]).toBe('list "10" NotOlderThan limit 500');
  });

  test('only the first list shows that: pages of the newest state, after an expiry, do not; and versions count again', async () => {
    const steps = [list(10, 'a1'), watch(errorEvent(expired)), expired, list(20, 'a1', 'x'), list(20, 'b2')];
    const t = reflect({ steps: [...steps, watch(errorEvent(expired)), list(30, ''), watch()] });
    await t.start();
    await t.until(8);
    expect(t.whats().slice(2)).toEqual([
      'list "10"',
      'list "" limit 500',
      'list undefined limit 500 continue x',
      'watch "20"',
      'list "20"',
      'watch "30"',
    ]);
  });

  test('an explicit page size wins', async () => {
    const t = reflect({ steps: [list(10, 'a1'), watch(errorEvent(expired)), list(20, 'a1')], pageSize: 7 });
    await t.start();
    await t.until(3);
    expect(t.whats().slice(0, 3)).toEqual(['list "0" limit 7', 'watch "10"', 'list "10" NotOlderThan limit 7']);
    expect(() => reflect({ steps: [], pageSize: 0 })).toThrow('pageSize must be an integer ≥ 1, got 0');
  });

  test('a relist replaces all: what vanished meanwhile is gone', async () => {
    const t = reflect({ steps: [list(10, 'a1 b2'), watch(errorEvent(expired)), list(20, 'b2 c15'), watch()] });
    await t.start();
    await t.until(4);
    expect(t.stored()).toBe('b2 c15');
  });
});

describe('Reflector: watches that fail', () => {
  test('no relist on 429: at the opening or in the stream, it waits as long as asked and continues', async () => {
    const t = reflect({ steps: [list(10, ''), busy(), busy(20), watch(added('a11'), errorEvent(busy())), watch()] });
    await t.start();
    await t.until(5);
    expect(t.whats().slice(1)).toEqual(['watch "10"', 'watch "10"', 'watch "10"', 'watch "11"']);
    expect((t.requests[3]?.at ?? 0) - (t.requests[2]?.at ?? 0)).toBe(20_000);
    expect(t.errors).toHaveLength(3);
  });

  test('410 on start of a watch, and in the stream: relists', async () => {
    const t = reflect({
      steps: [
        list(10, 'a1'),
        expired,
        list(20, 'a1'),
        watch(modified('a21'), errorEvent(expired)),
        list(30, ''),
        watch(),
      ],
    });
    await t.start();
    await t.until(6);
    expect(t.whats()).toEqual([
      'list "0" limit 500',
      'watch "10"',
      'list "10"',
      'watch "20"',
      'list "21"',
      'watch "30"',
    ]);
    expect(t.errors.every(({ error }) => isResourceExpired(error))).toBe(true);
  });

  test('very short watch: ended within a second without an event, is an error and leads to a list', async () => {
    const t = reflect({ steps: [list(10, ''), closing(), list(11, ''), watch()] });
    await t.start();
    expect(t.errors[0]?.error.message).toContain('very short watch');
    await t.until(4);
    expect(t.whats().slice(2)).toEqual(['list "10"', 'watch "11"']);
    expect(t.metrics.value('reflector_short_watches_total', { name: t.reflector.name })).toBe(1);
  });

  test('retry internal error: continues twice, then lists, as the next event may be what cannot be sent', async () => {
    const internal = apiError(500, 'InternalError');
    const steps: Step[] = [list(10, ''), watch(errorEvent(internal)), watch(errorEvent(internal))];
    const t = reflect({ steps: [...steps, watch(errorEvent(internal)), list(20, ''), watch()] });
    await t.start();
    await t.until(6);
    expect(t.whats().slice(1)).toEqual(['watch "10"', 'watch "10"', 'watch "10"', 'list "10"', 'watch "20"']);
  });

  test('replace on unsafe delete: an object that cannot be read any more is gone after a list', async () => {
    const unreadable = apiError(500, 'StorageReadError', { message: 'data from the storage is not transformable' });
    const t = reflect({ steps: [list(10, 'a1 b2'), watch(errorEvent(unreadable)), list(20, 'b2'), watch()] });
    await t.start();
    await t.until(4);
    expect(t.calls).toEqual(['replace 10: a1 b2', 'replace 20: b2']);
  });

  test.each<TransportErrorKind>(['connect-refused', 'dns', 'unreachable'])(
    'a server that is not there (%s): tried again for as long as it takes, never by a list',
    async (kind) => {
      const away = lostConnection(kind, false);
      const t = reflect({ steps: [list(10, ''), ...Array.from({ length: 12 }, () => away), watch()] });
      await t.start();
      await t.until(14);
      expect(new Set(t.whats().slice(1))).toEqual(new Set(['watch "10"']));
      expect(t.errors.at(-1)?.health).toMatchObject({ consecutiveFailures: 12, phase: 'waiting', lastError: away });
      await t.clock.advance(1_000);
      expect(t.reflector.health).toMatchObject({ consecutiveFailures: 0, phase: 'watching' });
      expect(t.reflector.health.lastError).toBe(undefined);
    },
  );

  test('a connection that breaks after a while: continues at once; one that breaks at once, after a wait', async () => {
    const t = reflect({ steps: [list(10, ''), watch(added('a11')), failing(lostConnection('reset')), watch()] });
    await t.start();
    await t.clock.advance(5_000);
    t.last().end(lostConnection('eof'));
    await t.clock.settle();
    expect(t.requests[2]).toMatchObject({ what: 'watch "11"', at: 5_000 });
    expect(t.errors).toHaveLength(1);
    await t.until(4);
    expect(t.requests[3]?.what).toBe('watch "11"');
    expect((t.requests[3]?.at ?? 0) - 5_000).toBeGreaterThan(100);
  });

  test('a proxy that breaks every watch at once, or a server that refuses them all by 5xx: lists now and then', async () => {
    for (const step of [failing(lostConnection('reset')), apiError(503, 'ServiceUnavailable')]) {
      const t = reflect({ steps: [list(10, ''), ...Array.from({ length: 6 }, () => step), list(20, ''), watch()] });
      await t.start();
      await t.until(9);
      expect(t.whats().slice(1)).toEqual([...Array(6).fill('watch "10"'), 'list "10"', 'watch "20"']);
    }
  });
});

test('Reflector: rights or credentials lost between two watches are reported by name, and it resumes when they are back', async () => {
  const t = reflect({
    steps: [list(10, ''), closing(added('a11')), apiError(401, 'Unauthorized'), apiError(403, 'Forbidden'), watch()],
  });
  await t.start();
  await t.until(5);
  expect(t.whats().slice(1)).toEqual(['watch "10"', 'watch "11"', 'watch "11"', 'watch "11"']);
  expect(t.errors.map(({ error }) => isReflectorError(error) && error.problem)).toEqual(['unauthorized', 'forbidden']);
  expect(t.errors[1]?.error.message).toContain('may not watch things.test.riata.dev');
});

describe('Reflector: waits', () => {
  test('backoff: 0.8 s doubled up to 30 s, each up to twice as long; short again after two quiet minutes', async () => {
    const away = apiError(500, 'InternalError');
    const t = reflect({
      steps: [...Array.from({ length: 9 }, () => away), list(10, ''), watch(), list(11, ''), watch()],
    });
    await t.start();
    await t.until(11);
    const starts = t.requests.map(({ at }) => at);
    for (const [i, base] of [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000].entries()) {
      const waited = (starts[i + 1] ?? 0) - (starts[i] ?? 0);
      expect(waited).toBeGreaterThanOrEqual(base);
      expect(waited).toBeLessThan(base * 2);
    }
    await t.push(bookmark(12));
    for (let i = 0; i < 5; i += 1) {
      await t.clock.advance(60_000);
      await t.push(bookmark(13 + i));
    }
    const at = t.clock.monotonic();
    await t.push(errorEvent(expired));
    await t.until(12);
    expect((t.requests[11]?.at ?? 0) - at).toBeLessThan(1_600);
  });

  test('requests are not retried below: a Retry-After is reported at once, not after the wait', async () => {
    const t = reflect({ steps: [busy(30), list(10, 'a1'), busy(30), watch()] });
    await t.start();
    expect(t.errors).toHaveLength(1);
    await t.until(4);
    expect(t.errors).toHaveLength(2);
    expect(t.requests.map(({ options }) => options.maxRetries)).toEqual([0, 0, 0, 0]);
  });

  test('a server that asks to stay away for hours is asked again after a minute: it may be another one by then', async () => {
    const t = reflect({ steps: [busy(7200), list(10, 'a1'), watch()] });
    await t.start();
    await t.clock.advance(59_000);
    expect(t.whats()).toHaveLength(1);
    await t.clock.advance(1_001);
    expect(t.stored()).toBe('a1');
  });

  test('403 is reported at once, with user and resource, and retried: clusters get fixed', async () => {
    const message = 'things.test.riata.dev is forbidden: User "jane" cannot list resource "things"';
    const t = reflect({ steps: [apiError(403, 'Forbidden', { message }), list(10, 'a1'), watch()] });
    await t.start();
    expect(t.clock.monotonic()).toBe(0);
    const { error, health } = t.errors[0] ?? {};
    expect(isForbidden(error) && isReflectorError(error) && error.problem).toBe('forbidden');
    expect(error?.message).toContain('may not list things.test.riata.dev');
    expect(error?.message).toContain('User "jane" cannot list');
    expect(health).toMatchObject({ phase: 'waiting', listed: false, consecutiveFailures: 1, lastError: error });
    await t.until(3);
    expect(t.reflector.health).toMatchObject({ phase: 'watching', listed: true, consecutiveFailures: 0 });
  });

  test('404 is reported at once: which kind is not served, and which definition to install', async () => {
    const t = reflect({ steps: [apiError(404, 'NotFound'), list(10, ''), watch()] });
    await t.start();
    expect(isNotFound(t.errors[0]?.error)).toBe(true);
    expect(t.errors[0]?.error.message).toContain(
      'does not serve kind Thing of test.riata.dev/v1; install the CustomResourceDefinition "things.test.riata.dev"',
    );
    await t.until(3);
    expect(t.reflector.health.listed).toBe(true);
  });

  test('without onError it is logged: once loudly, the same again quietly; what throws in onError is contained', async () => {
    const refused = apiError(403, 'Forbidden');
    const t = reflect({ steps: [refused, refused, refused, list(10, ''), watch()], onError: undefined });
    await t.start();
    await t.until(5);
    expect(t.log.messages('error')).toEqual(['list or watch failed, retrying']);
    const boom = reflect({
      steps: [refused, list(10, 'a1'), watch()],
      onError: () => {
        throw new Error('boom');
      },
    });
    await boom.start();
    await boom.until(3);
    expect(boom.stored()).toBe('a1');
    expect(boom.log.messages('error')).toEqual(['error handler failed']);
  });

  test('a store that refuses a list: reported, and retried', async () => {
    let full = true;
    const t = reflect({
      steps: [list(10, 'a1'), list(11, 'a1'), watch()],
      onWrite: () => {
        if (full) throw new Error('no room');
      },
    });
    await t.start();
    expect(t.errors[0]?.error.message).toBe('no room');
    expect(t.reflector.lastSyncResourceVersion()).toBe('');
    full = false;
    await t.until(3);
    expect(t.stored()).toBe('a1');
  });
});

test('metrics under the names of the original', async () => {
  const t = reflect({ steps: [list(10, 'a1 b2'), watch(added('c11'))], name: 'things' });
  await t.start();
  await t.clock.advance(2_000);
  await t.push(bookmark(12));
  t.last().end();
  await t.clock.settle();
  const name = { name: 'things' };
  expect(t.metrics.value('reflector_lists_total', name)).toBe(1);
  expect(t.metrics.observed('reflector_items_per_list', name)).toEqual([2]);
  expect(t.metrics.observed('reflector_list_duration_seconds', name)).toEqual([0]);
  expect(t.metrics.value('reflector_watches_total', name)).toBe(2);
  expect(t.metrics.observed('reflector_watch_duration_seconds', name)).toEqual([2]);
  expect(t.metrics.observed('reflector_items_per_watch', name)).toEqual([2]);
  expect(t.metrics.value('reflector_last_resource_version', name)).toBe(12);
  expect(t.metrics.value('reflector_short_watches_total', name)).toBe(undefined);
});
