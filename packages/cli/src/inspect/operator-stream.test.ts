import { expect, test } from 'vitest';
import { readEvents, StreamedReplica } from './operator-stream.js';
import { topFrame, windowMs } from './top-model.js';

const start = 1_000_000;
const process = { riata: '0.1.0', node: '24', startedAt: start - 60_000, rssBytes: 1, heapUsedBytes: 1, loopLagMs: 0 };
const latency = { count: 1, p50: 2, p95: 8, max: 9, queuedP95: 1, queuedMax: 5 };
const controller = (success: number, error = 0) => ({
  ...{ id: 'site', kind: undefined, phase: 'running', waitingFor: [], queued: 0, delayed: 0, priorities: [] },
  ...{ waiting: [], active: [], failing: 0, failingKeys: [], notEnqueued: [], outcomes: { success, error }, latency },
});
const record = (endedAt: number, id: number) => ({
  ...{
    controller: 'site',
    key: { name: 'a' },
    reconcileID: `${id}`,
    startedAt: endedAt - 4,
    queuedMs: 3,
    durationMs: 4,
  },
  ...{ attempt: 1, priority: 0, reasons: [], outcome: 'success', writes: [] },
});

function snapshot(reconciles: readonly object[]) {
  const state = { process, controllers: [controller(0)], caches: [], clusters: [], webhooks: [] };
  return { event: 'snapshot', data: { version: 1, at: start, state, reconciles, webhookCalls: [] } };
}

const rowOf = (replica: StreamedReplica) => topFrame('op', [replica]).controllers[0];

test('events are read however the bytes are cut', async () => {
  const text = 'retry: 2000\n\nevent: a\ndata: {"text":"→ ä"}\n\nevent: b\ndata: 1\n\nevent: cut\nda';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, 1_000]) {
    const parts = (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })();
    const events = [];
    for await (const event of readEvents(parts)) events.push(event);
    expect(events).toEqual([
      { event: 'a', data: { text: '→ ä' } },
      { event: 'b', data: 1 },
    ]);
  }
});

test('a rate above what the history holds is right at once: it is that of the time that the records cover', () => {
  const replica = new StreamedReplica(windowMs);
  // 256 reconciles within the last half second.
  replica.take(snapshot(Array.from({ length: 256 }, (_, at) => record(start - 500 + at * 2, at))));
  expect(rowOf(replica)?.perSecond).toBeCloseTo(512, 0);
  const rare = new StreamedReplica(windowMs);
  rare.take(snapshot([record(start - 1_000, 1), record(start - 900, 2)]));
  expect(rowOf(rare)?.perSecond).toBeCloseTo(0.2, 5);
});

test('later rates come from the counts, however few of the records are sent', () => {
  const replica = new StreamedReplica(windowMs);
  replica.take(snapshot([]));
  for (let second = 1; second <= 12; second += 1) {
    const at = start + second * 1_000;
    replica.take({ event: 'reconciles', data: { at, records: [record(at, second)], seen: 1_000 } });
    const controllers = [controller(second * 900, second * 100)];
    replica.take({ event: 'delta', data: { at, changed: { controllers }, removed: {} } });
  }
  expect(rowOf(replica)).toMatchObject({ perSecond: 1_000, errorsPerSecond: 100, medianMs: 2, p95Ms: 8, waitedMs: 5 });
  expect(topFrame('op', [replica]).sampling).toEqual({ seen: 1_000, sent: 1 });
  // Nothing happens for as long as the window.
  for (let second = 13; second <= 23; second += 1) {
    replica.take({ event: 'delta', data: { at: start + second * 1_000, changed: {}, removed: {} } });
  }
  expect(rowOf(replica)).toMatchObject({ perSecond: 0, medianMs: undefined, waitedMs: undefined });
});

test('a snapshot for a reader that was too slow, or of a restarted operator, adds nothing', () => {
  const replica = new StreamedReplica(windowMs);
  replica.take(snapshot([]));
  replica.take({
    event: 'delta',
    data: { at: start + 1_000, changed: { controllers: [controller(10)] }, removed: {} },
  });
  replica.take(snapshot(Array.from({ length: 300 }, (_, at) => record(start, at))));
  replica.take({ event: 'delta', data: { at: start + 2_000, changed: { controllers: [controller(5)] }, removed: {} } });
  expect(rowOf(replica)?.perSecond).toBeLessThan(20);
});
