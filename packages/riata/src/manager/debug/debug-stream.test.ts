import { expect, test } from 'vitest';
import type { ReconcileRecord } from '../../controller/loop/reconcile-record.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { EndpointSink } from '../probes/http-endpoint.js';
import type { StateSource } from './collect-state.js';
import { DebugStream } from './debug-stream.js';
import { sample } from './sample.js';

function setUp() {
  const clock = new VirtualClock();
  const listeners = new Set<(record: ReconcileRecord) => void>();
  const webhookCalls: unknown[] = [];
  let looks = 0;
  const health = { phase: 'running', waitingFor: [], queued: 0, delayed: 0, active: [], failing: [] };
  const source = {
    get controllers() {
      looks += 1;
      return [{ name: 'carts', ...health }];
    },
    ...{ explain: [], webhookCalls, cache: { health: [] }, clusters: { names: [] } },
    ...{ kinds: () => [], pending: () => [], leader: () => undefined, shards: () => undefined },
    ...{ webhookServer: () => undefined, mask: (text: string) => text.replace('xyzzy', '•') },
    onReconciled: (listener: (record: ReconcileRecord) => void) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
  } as unknown as StateSource;
  const stream = new DebugStream(source, clock);
  const listen = async (isFull = () => false) => {
    const stop = new AbortController();
    const events: { readonly event: string; readonly data: Record<string, unknown> }[] = [];
    const answer = await stream.route({ rest: '', query: new URLSearchParams(), signal: stop.signal });
    const sink: EndpointSink = {
      write: (text) => {
        const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)\n\n$/.exec(text) ?? [];
        events.push({ event, data: JSON.parse(data) });
      },
      get isFull() {
        return isFull();
      },
    };
    answer?.stream?.(sink);
    return { events, stop };
  };
  const reconciled = (name: string, error?: string) => {
    const times = { startedAt: 0, queuedMs: 1, durationMs: 2, attempt: 1, priority: 0 };
    const record = { controller: 'carts', key: { name }, outcome: error ? 'error' : 'success', ...times, error };
    for (const listener of listeners) listener({ reconcileID: '', reasons: [], writes: [], ...record } as never);
  };
  const called = (...details: string[]) =>
    webhookCalls.push({ webhook: 'carts', outcome: 'denied', durationMs: 1, details });
  return { clock, stream, listeners, listen, reconciled, called, looks: () => looks };
}

test('nothing is collected while nobody listens', async () => {
  const { clock, listeners, listen, looks } = setUp();
  await clock.advance(60_000);
  expect([listeners.size, looks()]).toEqual([0, 0]);
  const { stop } = await listen();
  const second = await listen();
  expect([listeners.size, looks()]).toEqual([1, 1]);
  stop.abort();
  expect(listeners.size).toBe(1);
  second.stop.abort();
  expect(listeners.size).toBe(0);
  await clock.advance(60_000);
  expect(looks()).toBe(1);
});

test('a snapshot, then what has changed, and records that say when they are a sample', async () => {
  const { clock, listen, reconciled } = setUp();
  const { events } = await listen();
  expect(events).toMatchObject([
    { event: 'snapshot', data: { version: 1, state: { controllers: [{ id: 'carts' }] } } },
  ]);
  for (let at = 0; at < 300; at += 1) reconciled(`key-${at}`, at % 100 === 7 ? 'no' : undefined);
  await clock.advance(250);
  const data: Record<string, unknown> = events[1]?.data ?? {};
  expect(data).toMatchObject({ seen: 300 });
  const records = data.records as ReconcileRecord[];
  expect(records).toHaveLength(50);
  expect(records.filter(({ error }) => error === 'no').map(({ key }) => key.name)).toEqual([
    'key-7',
    'key-107',
    'key-207',
  ]);
  await clock.advance(750);
  expect(events.at(-1)).toMatchObject({
    event: 'delta',
    data: { changed: { controllers: [{ outcomes: { success: 297, error: 3 }, failing: 3, latency: { count: 300 } }] } },
  });
});

test('webhook calls come once each, and what a denial quotes is masked', async () => {
  const { clock, listen, called } = setUp();
  called('denied: xyzzy is too short');
  const { events } = await listen();
  expect(events[0]?.data.webhookCalls).toMatchObject([{ details: ['denied: • is too short'] }]);
  called('denied: xyzzy again');
  await clock.advance(500);
  const calls = events.filter(({ event }) => event === 'webhookCalls').map(({ data }) => data);
  expect(calls).toMatchObject([{ records: [{ details: ['denied: • again'] }], seen: 1 }]);
});

test('a caller who does not keep up misses events, and then gets a snapshot', async () => {
  const { clock, listen, reconciled } = setUp();
  let isFull = false;
  const { events } = await listen(() => isFull);
  isFull = true;
  reconciled('a');
  await clock.advance(1_000);
  expect(events).toHaveLength(1);
  isFull = false;
  reconciled('b');
  await clock.advance(250);
  expect(events.map(({ event }) => event)).toEqual(['snapshot', 'snapshot']);
});

test('a sample has what matters, and is in order', () => {
  const all = Array.from({ length: 10 }, (_, at) => at);
  expect(sample(all, 20, () => false)).toBe(all);
  expect(sample(all, 4, (each) => each === 9)).toEqual([0, 3, 6, 9]);
  expect(sample(all, 2, (each) => each > 5)).toEqual([6, 7]);
});
