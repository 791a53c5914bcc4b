import { expect, test } from 'vitest';
import { Store } from './store.js';

function setUp() {
  const store = new Store('#/caches');
  const source = new EventTarget();
  store.follow(source as EventSource);
  const send = (event: string, data: unknown) => {
    source.dispatchEvent(new MessageEvent(event, { data: JSON.stringify(data) }));
  };
  const controller = { id: 'carts', queued: 0, waiting: [], outcomes: {}, latency: { count: 0 } };
  const state = {
    process: { rssBytes: 1_048_576, loopLagMs: 1 },
    controllers: [controller],
    caches: [],
    clusters: [],
    webhooks: [],
  };
  send('snapshot', { version: 1, at: 1_000, state, reconciles: [{ reconcileID: '1' }], webhookCalls: [] });
  return { store, source, send, controller };
}

test('follows the stream: a snapshot, deltas that become points of charts, records', () => {
  const { store, send, controller } = setUp();
  expect([store.connection.value, store.route.value.page]).toEqual(['live', 'caches']);
  send('reconciles', { at: 1_500, records: [{ reconcileID: '2' }], seen: 40 });
  const next = {
    ...controller,
    queued: 3,
    waiting: [{ since: 1_800 }, { dueAt: 9_000 }, { since: 1_600 }],
    outcomes: { success: 38, error: 2 },
    latency: { count: 40, p50: 2, p95: 9 },
  };
  send('delta', { at: 2_000, changed: { controllers: [next] }, removed: {} });
  expect(store.records.value.map(({ reconcileID }) => reconcileID)).toEqual(['1', '2']);
  expect(store.sampling.value).toEqual({ seen: 40, sent: 1 });
  expect(store.charts.value.get('carts')).toEqual([
    { at: 2_000, values: { rate: 40, errors: 2, queued: 3, ageMs: 400, p50: 2, p95: 9 } },
  ]);
  send('delta', { at: 3_000, changed: {}, removed: {} });
  expect(store.charts.value.get('carts')?.[1]?.values).toMatchObject({ rate: 0, p95: undefined });
});

test('rates are per second, also where a delta comes late', () => {
  const { store, send, controller } = setUp();
  const next = { ...controller, outcomes: { success: 30, error: 6 }, latency: { count: 36, p50: 2, p95: 9 } };
  send('delta', { at: 4_000, changed: { controllers: [next] }, removed: {} });
  expect(store.charts.value.get('carts')?.[0]?.values).toMatchObject({ rate: 12, errors: 2 });
});

test('says that the connection was lost, until the next snapshot', () => {
  const { store, source } = setUp();
  source.dispatchEvent(new Event('error'));
  expect(store.connection.value).toBe('lost');
});
