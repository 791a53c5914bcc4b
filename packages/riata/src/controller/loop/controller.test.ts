import { describe, expect, test } from 'vitest';
import { clusterKey } from '../../object/key.js';
import { WorkQueue } from '../../queue/work-queue.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { seededRandom } from '../../runtime/random.js';
import { LostLease } from '../../runtime/stop-reasons.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { Tracer } from '../../runtime/tracing.js';
import type { Source, SyncingSource } from '../source/source.js';
import type { ActiveReconcile } from './active-reconcile.js';
import { Controller } from './controller.js';
import type { ControllerOptions, RequestQueueOptions } from './controller-options.js';
import type { ReconcileRun } from './reconciler.js';
import type { RequestQueue } from './request.js';
import type { Result } from './result.js';
import { TerminalError } from './terminal-error.js';

const a = clusterKey({ namespace: 'shop', name: 'a' });
const b = clusterKey({ namespace: 'shop', name: 'b' });

/** A controller on a clock of its own, and all that it did. */
function setUp(reconcile: (run: ReconcileRun) => Result | Promise<Result>, options: ControllerOptions = {}) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const metrics = memoryMetrics();
  const runs: { key: string; at: number; run: ReconcileRun }[] = [];
  const started = clock.monotonic();
  const controller = new Controller('carts', {
    ...options,
    runtime: { clock, log, metrics, random: seededRandom(1) },
    reconcile: (run) => {
      runs.push({ key: run.key.name, at: clock.monotonic() - started, run });
      return reconcile(run);
    },
  });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  const start = async () => {
    running = controller.run({ signal: stop.signal });
    running.catch(() => {});
    await clock.settle();
  };
  const end = async (reason?: unknown) => {
    stop.abort(reason);
    await clock.settle();
    return running;
  };
  return { clock, log, metrics, runs, controller, start, end, running: () => running };
}

function source(name: string, begin: (queue: RequestQueue) => void): Source {
  return { name, start: async (queue) => begin(queue) };
}

const corrupted = (property: string) =>
  Object.defineProperty(new Error('x'), property, {
    get() {
      throw new Error('unreadable');
    },
  });

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

test.each<[string, unknown, string]>([
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a symbol', Symbol('odd'), 'Symbol(odd)'],
  ['an object without prototype', Object.create(null), '{}'],
  ['an error without a readable message', corrupted('message'), 'an error that cannot be read'],
  ['an error without a readable stack', corrupted('stack'), 'Error: x'],
  ['an error without a readable cause', corrupted('cause'), 'an error that cannot be read'],
  ['an error without a readable name', corrupted('name'), 'an error that cannot be read'],
  ['a revoked proxy', revoked(), 'an error that cannot be read'],
])('whatever is thrown is contained, told and tried again: %s', async (_, thrown, words) => {
  for (const isAsync of [false, true]) {
    const { controller, clock, runs, start, end, log } = setUp(({ attempt }) => {
      if (attempt > 1) return;
      if (isAsync) return Promise.reject(thrown);
      throw thrown;
    });
    await start();
    controller.queue.add(a);
    await clock.advance(1_000);
    expect(runs).toHaveLength(2);
    expect(controller.health.phase).toBe('running');
    expect(controller.explain.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['error', words],
      ['success', undefined],
    ]);
    expect(log.records.filter(({ message }) => message.startsWith('the reconcile failed'))).toHaveLength(1);
    await end();
  }
});

test('what onGiveUp and backoff throw, now or later, goes to the log', async () => {
  const { controller, clock, start, end, log } = setUp(
    () => {
      throw new Error('not today');
    },
    {
      maxRetries: 1,
      backoff: () => {
        throw new Error('no backoff');
      },
      onGiveUp: async () => {
        throw new Error('no callback');
      },
    },
  );
  await start();
  controller.queue.add(a);
  await clock.advance(10_000);
  const reported = log.records.filter(({ message }) => message.startsWith("the controller's"));
  expect(reported.map(({ message, fields }) => [message, (fields.error as Error).message])).toEqual([
    ["the controller's backoff failed", 'no backoff'],
    ["the controller's onGiveUp failed", 'no callback'],
  ]);
  expect(controller.health).toMatchObject({ phase: 'running', delayed: 0 });
  await end();
});

describe('outcomes', () => {
  test('success: forgotten, not run again', async () => {
    const { controller, clock, runs, start, end, metrics } = setUp(() => {});
    await start();
    controller.queue.add(a);
    await clock.advance(3_600_000);
    expect(runs.map(({ key }) => key)).toEqual(['a']);
    expect(metrics.value('controller_runtime_reconcile_total', { controller: 'carts', result: 'success' })).toBe(1);
    await end();
  });

  test('an error is retried with growing waits; backoff is not reset until a non-error result', async () => {
    let failures = 3;
    const { controller, clock, runs, start, end, metrics } = setUp(() => {
      if (failures-- > 0) throw new Error('not yet');
    });
    await start();
    controller.queue.add(a);
    await clock.advance(1_000);
    expect(runs.map(({ at }) => at)).toEqual([0, 5, 15, 35]);
    expect(runs.map(({ run }) => run.attempt)).toEqual([1, 2, 3, 4]);
    expect(controller.queue.numRequeues(a)).toBe(0);
    expect(metrics.value('controller_runtime_reconcile_errors_total', { controller: 'carts' })).toBe(3);
    failures = 1;
    controller.queue.add(a);
    await clock.advance(1_000);
    expect(runs.at(-1)?.run.attempt).toBe(2);
    await end();
  });

  test('whatever is thrown or returned, sync or async, is contained', async () => {
    const throws: (() => Result | Promise<Result>)[] = [
      () => {
        throw new Error('sync');
      },
      () => Promise.reject(new Error('async')),
      () => Promise.reject(undefined),
      () => {
        throw null;
      },
      () => 'nonsense' as never,
      () => ({ requeueAfter: '10 minutes' as never }),
    ];
    const { controller, clock, runs, start, end, log } = setUp(({ attempt }) => throws[attempt - 1]?.());
    await start();
    controller.queue.add(a);
    await clock.advance(10_000);
    expect(runs).toHaveLength(throws.length + 1);
    expect(log.records.filter(({ level }) => level === 'error')).toHaveLength(throws.length);
    await end();
  });

  test('TerminalError: logged and counted, no requeue; also as a cause', async () => {
    const { controller, clock, runs, start, end, metrics } = setUp(({ key }) => {
      if (key === a) throw new TerminalError('never');
      throw new Error('wrapped', { cause: new TerminalError('never') });
    });
    await start();
    controller.queue.add(a);
    controller.queue.add(b);
    await clock.advance(3_600_000);
    expect(runs).toHaveLength(2);
    const labels = { controller: 'carts' };
    expect(metrics.value('controller_runtime_terminal_reconcile_errors_total', labels)).toBe(2);
    expect(metrics.value('controller_runtime_reconcile_errors_total', labels)).toBe(2);
    const [record] = controller.explain;
    expect(record?.errorAt).toMatch(/controller\.test\.ts:\d+:\d+/);
    expect(record).not.toHaveProperty('requeueAfterMs');
    await end();
  });

  test('requeueAfter: forget and addAfter; requeue: rate limited', async () => {
    const { controller, clock, runs, start, end } = setUp(({ key, attempt, reasons }) => {
      if (key === a)
        return reasons.some(({ source }) => source === 'requeueAfter') ? undefined : { requeueAfter: '10m' };
      return attempt === 1 && controller.queue.numRequeues(b) < 2 ? { requeue: true } : undefined;
    });
    await start();
    controller.queue.add(a);
    controller.queue.add(b);
    await clock.advance(600_000);
    expect(runs.map(({ key, at }) => `${key} ${at}`)).toEqual(['a 0', 'b 0', 'b 5', 'b 15', 'a 600000']);
    await end();
  });

  test('backoff by error, and a cap on retries with a callback', async () => {
    const given: unknown[] = [];
    const { controller, clock, runs, start, end, metrics } = setUp(
      () => {
        throw new Error('busy');
      },
      {
        maxRetries: 2,
        backoff: (error, attempt) => ((error as Error).message === 'busy' ? `${attempt}m` : undefined),
        onGiveUp: (key, error, attempt) => given.push([key, (error as Error).message, attempt]),
      },
    );
    await start();
    controller.queue.add(a);
    await clock.advance(3_600_000);
    expect(runs.map(({ at }) => at)).toEqual([0, 60_000, 180_000]);
    expect(given).toEqual([[a, 'busy', 3]]);
    expect(metrics.value('riata_reconcile_given_up_total', { controller: 'carts' })).toBe(1);
    await end();
  });

  test('requeues keep their priority', async () => {
    const seen: number[] = [];
    const { controller, clock, start, end } = setUp(({ priority, attempt }) => {
      seen.push(priority);
      if (attempt < 3) throw new Error('again');
    });
    await start();
    controller.queue.add(a, { priority: -100 });
    await clock.advance(1_000);
    expect(seen).toEqual([-100, -100, -100]);
    await end();
  });
});

describe('one key at a time', () => {
  test('as many at once as allowed, one key never twice', async () => {
    const gates = new Map<string, () => void>();
    const { controller, clock, runs, start, end, metrics } = setUp(
      ({ key }) => new Promise<void>((resolve) => gates.set(key.name, resolve)),
      { concurrency: 2 },
    );
    await start();
    const c = clusterKey({ name: 'c' });
    for (const key of [a, b, c, a]) controller.queue.add(key);
    await clock.settle();
    expect(runs.map(({ key }) => key)).toEqual(['a', 'b']);
    controller.queue.add(a);
    await clock.settle();
    expect(metrics.value('controller_runtime_active_workers', { controller: 'carts' })).toBe(2);
    gates.get('a')?.();
    await clock.settle();
    expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    gates.get('b')?.();
    await clock.settle();
    expect(runs.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'a']);
    for (const open of gates.values()) open();
    await clock.settle();
    await end();
  });

  test('a timeout aborts the signal and counts as a failure', async () => {
    const { controller, clock, runs, start, end, metrics } = setUp(
      ({ signal, attempt }) =>
        attempt > 1
          ? undefined
          : new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { timeout: '10s' },
    );
    await start();
    controller.queue.add(a);
    await clock.advance(9_999);
    expect(runs).toHaveLength(1);
    await clock.advance(100);
    expect(runs).toHaveLength(2);
    expect(metrics.value('controller_runtime_reconcile_timeouts_total', { controller: 'carts' })).toBe(1);
    expect(controller.explain[0]).toMatchObject({
      outcome: 'error',
      error: expect.stringContaining('longer than 10s'),
      requeueAfterMs: expect.any(Number),
    });
    await end();
  });

  test.each<[string, 'shard' | 'stop']>([
    ['its key goes to another replica', 'shard'],
    ['the controller stops', 'stop'],
  ])('a reconcile that ignores that %s is named, too', async (_, how) => {
    let open = () => {};
    const { controller, clock, start, end, metrics, log } = setUp(
      () => new Promise<void>((resolve) => (open = resolve)),
      { drain: '10s' },
    );
    await start();
    controller.queue.add(a);
    await clock.settle();
    const lost = new LostLease('the key moves to another replica');
    const ending = how === 'shard' ? controller.endReconciles((key) => key === a, lost) : end();
    await clock.advance(14_999);
    const overdue = () => metrics.value('riata_overdue_reconciles', { controller: 'carts' });
    const reported = () =>
      log.records.filter(({ message }) => message.startsWith('reconcile ignored its abort signal'));
    expect([controller.health.active[0]?.isOverdue, reported()]).toEqual([false, []]);
    await clock.advance(1);
    expect([controller.health.active[0]?.isOverdue, overdue()]).toEqual([true, 1]);
    expect(reported().map(({ fields }) => fields.key)).toEqual(['shop/a']);
    open();
    await ending;
    await end();
    // The queue looks at itself once more.
    await clock.advance(1_000);
    expect([overdue(), clock.pending]).toEqual([0, 0]);
    expect(controller.explain).toMatchObject([{ outcome: 'success' }]);
  });

  test('a reconcile that ignores its signal keeps its key, and is named', async () => {
    let open = () => {};
    const { controller, clock, runs, start, end, metrics, log } = setUp(
      () => new Promise<void>((resolve) => (open = resolve)),
      // Another worker is free, and would take it.
      { timeout: '10s', concurrency: 2 },
    );
    await start();
    controller.queue.add(a);
    await clock.advance(60_000);
    controller.queue.add(a);
    await clock.settle();
    expect(runs).toHaveLength(1);
    expect(controller.health.active).toMatchObject([{ key: a, isOverdue: true, runningMs: 60_000 }]);
    expect(metrics.value('riata_overdue_reconciles', { controller: 'carts' })).toBe(1);
    expect(log.records.some(({ fields }) => fields.key === 'shop/a' && fields.after === '10s')).toBe(true);
    open();
    await clock.settle();
    expect(runs).toHaveLength(2);
    expect(metrics.value('riata_overdue_reconciles', { controller: 'carts' })).toBe(0);
    open();
    await end();
  });
});

describe('sources', () => {
  test('no reconcile until every source is synced and has put what it knew into the queue', async () => {
    const { controller, clock, runs, start, end } = setUp(() => {});
    let sync = () => {};
    const slow: SyncingSource = {
      ...source('slow', (queue) => queue.add(a)),
      waitForSync: () => new Promise<void>((resolve) => (sync = resolve)),
    };
    await controller.watch(slow);
    await controller.watch(source('fast', (queue) => queue.add(b)));
    await start();
    await clock.advance(60_000);
    expect(runs).toEqual([]);
    expect(controller.health).toMatchObject({ phase: 'syncing', waitingFor: ['slow'], queued: 2 });
    sync();
    await clock.settle();
    expect(runs).toHaveLength(2);
    expect(controller.health.phase).toBe('running');
    await end();
  });

  test('a source added while it runs is started at once', async () => {
    const { controller, clock, runs, start, end } = setUp(() => {});
    await start();
    await controller.watch(source('late', (queue) => queue.add(a)));
    await clock.settle();
    expect(runs).toHaveLength(1);
    await end();
  });

  test('a source that fails ends the run with its error', async () => {
    const { controller, start, running, runs } = setUp(() => {});
    await controller.watch({ name: 'broken', start: () => Promise.reject(new Error('no such thing')) });
    await start();
    await expect(running()).rejects.toThrow('no such thing');
    expect(controller.health.phase).toBe('stopped');
    expect(runs).toEqual([]);
  });

  test('sources that do not sync in time end the run, by name', async () => {
    const { controller, clock, start, running } = setUp(() => {}, { syncTimeout: '1m' });
    const never: SyncingSource = { ...source('never', () => {}), waitForSync: () => new Promise(() => {}) };
    await controller.watch(never);
    await start();
    await clock.advance(60_000);
    await expect(running()).rejects.toThrow(/"carts".*not synced.*1m.*never/);
  });

  test('so does one of two that have the same name, and it is named until then', async () => {
    const { controller, clock, start, running } = setUp(() => {}, { syncTimeout: '1m' });
    const twin = (waitForSync: SyncingSource['waitForSync']) => ({ ...source('twin', () => {}), waitForSync });
    await controller.watch(twin(() => new Promise(() => {})));
    await controller.watch(twin(async () => {}));
    await start();
    expect(controller.health.waitingFor).toEqual(['twin']);
    await clock.advance(60_000);
    await expect(running()).rejects.toThrow('not synced after 1m: twin');
  });

  test('but what waits for a kind that is not served yet may take its time', async () => {
    const { controller, clock, start, runs, end } = setUp(() => {}, { syncTimeout: '1m' });
    let sync = () => {};
    const late: SyncingSource = {
      ...source('late', (queue) => queue.add(a)),
      isPatient: true,
      waitForSync: () => new Promise<void>((resolve) => (sync = resolve)),
    };
    await controller.watch(late);
    await start();
    await clock.advance(600_000);
    expect([controller.health.phase, runs.length]).toEqual(['syncing', 0]);
    sync();
    await clock.settle();
    expect(runs).toHaveLength(1);
    await end();
  });

  test('warm-up: sources are ready before it runs', async () => {
    const { controller, clock, runs, start, end } = setUp(() => {});
    await controller.watch(source('early', (queue) => queue.add(a)));
    await controller.warmUp();
    await clock.settle();
    expect([runs.length, controller.queue.len()]).toEqual([0, 1]);
    await start();
    expect(runs).toHaveLength(1);
    await end();
  });
});

describe('stopping', () => {
  test('what runs may end well; what waits is left', async () => {
    let open = () => {};
    const { controller, clock, runs, start, end } = setUp(() => new Promise<void>((resolve) => (open = resolve)));
    await start();
    controller.queue.add(a);
    controller.queue.add(b);
    await clock.settle();
    const ended = end();
    await clock.settle();
    expect(runs[0]?.run.signal.aborted).toBe(false);
    open();
    await ended;
    expect(runs).toHaveLength(1);
    expect(controller.explain).toMatchObject([{ key: a, outcome: 'success' }]);
  });

  test('after the time to drain, signals abort; being stopped is no failure', async () => {
    const { controller, clock, start, end, metrics } = setUp(
      ({ signal }) => new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { drain: '5s' },
    );
    await start();
    controller.queue.add(a);
    await clock.settle();
    const ended = end();
    await clock.advance(4_999);
    expect(controller.health.active).toHaveLength(1);
    await clock.advance(1);
    await ended;
    expect(controller.explain).toMatchObject([{ outcome: 'stopped' }]);
    expect(metrics.value('controller_runtime_reconcile_errors_total', { controller: 'carts' })).toBeUndefined();
  });

  test('a lost lease aborts at once', async () => {
    const { controller, clock, start, end } = setUp(
      ({ signal }) => new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    await start();
    controller.queue.add(a);
    await clock.settle();
    await end(new LostLease());
    expect(controller.explain).toMatchObject([{ outcome: 'stopped' }]);
  });
});

describe('explain', () => {
  test('why it ran, how long it waited and ran', async () => {
    const { controller, clock, start, end } = setUp(() => clock.sleep(30), { history: 2 });
    const cause = { source: 'owns Deployment', change: 'Updated', object: 'Deployment shop/d', count: 1 } as const;
    const atMs = () => clock.monotonic();
    await start();
    for (const key of [b, a]) controller.queue.add(key, { note: [{ ...cause, atMs: atMs() }] });
    await clock.advance(10);
    controller.queue.add(a, { note: [{ ...cause, atMs: atMs() }] });
    await clock.advance(100);
    const [, last] = controller.explain;
    expect(last).toMatchObject({
      controller: 'carts',
      key: a,
      queuedMs: 30,
      durationMs: 30,
      outcome: 'success',
      attempt: 1,
    });
    expect(last?.reasons).toMatchObject([{ ...cause, count: 2 }]);
    controller.queue.add(b);
    await clock.advance(100);
    expect(controller.explain.map(({ key }) => key)).toEqual([a, b]);
    await end();
  });
});

test('mistakes of the program are counted as what they are, beside errors', async () => {
  const thrown: unknown[] = [new TypeError('x is undefined'), 'a text', new Error('no luck')];
  thrown.push(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }));
  const { controller, clock, start, end, metrics } = setUp(() => {
    if (thrown.length > 0) throw thrown.pop();
  });
  const counted = (what: string) =>
    metrics.value(`controller_runtime_reconcile_${what}_total`, { controller: 'carts' });
  await start();
  expect(counted('panics')).toBe(0);
  controller.queue.add(a);
  await clock.advance(10_000);
  expect([counted('panics'), counted('errors')]).toEqual([2, 4]);
  await end();
});

test('each reconcile is traced: what it is about, how it ended; a tracer that fails is contained', async () => {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const lines: string[] = [];
  let isBroken = false;
  const tracer: Tracer = {
    enabled: true,
    span: (name, attributes) => {
      if (isBroken) throw new Error('no tracer today');
      lines.push(`${name} ${attributes?.controller} ${attributes?.key} attempt ${attributes?.attempt}`);
      return {
        set: ({ outcome }) => void lines.push(String(outcome)),
        error: (error) => void lines.push(String(error)),
        end: () => void lines.push('end'),
      };
    },
  };
  const controller = new Controller('carts', {
    runtime: { clock, log, tracer },
    reconcile: ({ attempt }) => {
      if (attempt === 1) throw new Error('no luck');
    },
  });
  const stop = new AbortController();
  const running = controller.run({ signal: stop.signal });
  controller.queue.add(a);
  await clock.advance(1_000);
  expect(lines).toEqual([
    ...['reconcile carts shop/a attempt 1', 'Error: no luck', 'error', 'end'],
    ...['reconcile carts shop/a attempt 2', 'success', 'end'],
  ]);
  isBroken = true;
  controller.queue.add(a);
  await clock.advance(1_000);
  expect(controller.explain.map(({ outcome }) => outcome)).toEqual(['error', 'success', 'error', 'success']);
  expect(log.messages('error')).toContain("the controller's tracer failed");
  stop.abort();
  await clock.settle();
  await running;
});

test('a queue of one’s own making, of what the options come to', async () => {
  let given: RequestQueueOptions | undefined;
  const newQueue = (options: RequestQueueOptions) => {
    given = options;
    return new WorkQueue({ ...options, priority: false });
  };
  const { controller, clock, runs, start, end } = setUp(() => {}, { newQueue, fairness: 'namespace' });
  expect(given).toMatchObject({ name: 'carts', priority: true });
  const groups = [undefined, 'north', 'south'].map((cluster) =>
    given?.fairness?.({ cluster, namespace: 'n', name: 'a' }),
  );
  expect(new Set(groups).size).toBe(3);
  await start();
  controller.queue.add(a);
  await clock.settle();
  expect(runs.map(({ key }) => key)).toEqual(['a']);
  await end();
});

test('reconciles that take long can be found, also when they have just ended', async () => {
  const { controller, clock, start, end } = setUp(async ({ key, clock: own }) => {
    if (key === a) await own.sleep(700);
  });
  await start();
  controller.queue.add(b);
  controller.queue.add(a);
  await clock.advance(600);
  expect(controller.lasting(500, 0)).toEqual([{ key: a, durationMs: 600 }]);
  expect(controller.lasting(601, 0)).toEqual([]);
  await clock.advance(300);
  expect(controller.lasting(500, 200)).toMatchObject([{ key: a, durationMs: 700 }]);
  expect(controller.lasting(500, 199)).toEqual([]);
  await end();
});

test('options that make no sense are refused', () => {
  const make = (options: ControllerOptions) => () => new Controller('x', { ...options, reconcile: () => {} });
  expect(make({ concurrency: 0 })).toThrow('concurrency must be an integer ≥ 1, got 0');
  expect(make({ maxRetries: -1 })).toThrow('maxRetries');
  expect(make({ timeout: 'soon' as never })).toThrow('timeout');
  // Not when it is stopped: nothing could be done about it then.
  expect(make({ drain: '15' as never })).toThrow('controller "x": drain: expected a number and one of ms');
  expect(make({ syncTimeout: -1 as never })).toThrow('controller "x": syncTimeout');
  expect(make({ history: Number.NaN })).toThrow('controller "x": history must be an integer ≥ 0, got NaN');
});

test('each reconcile is a line at level debug: why it ran, how long it took, what it wrote', async () => {
  const { controller, clock, log, start, end } = setUp(async (run) => {
    await run.clock.sleep(20);
    const write = { verb: 'patch', kind: 'Cart', namespace: 'shop', name: 'a', resourceVersion: '7' };
    (run as ActiveReconcile).wrote({ ...write, subresource: 'status' });
    return { requeueAfter: '10m' };
  });
  await start();
  const cause = { source: 'for Cart', change: 'Updated', object: 'Cart shop/a', count: 2, atMs: 0 } as const;
  controller.queue.add(a, { note: [cause, { source: 'cron', count: 1, atMs: 0 }] });
  await clock.advance(20);
  const line = log.records.find(({ message }) => message === 'reconciled');
  expect(line).toMatchObject({
    level: 'debug',
    fields: {
      ...{ controller: 'carts', key: 'shop/a', outcome: 'requeue_after', durationMs: 20, requeueAfterMs: 600_000 },
      reasons: ['for Cart: Updated Cart shop/a, 2 times', 'cron'],
      writes: ['patch Cart shop/a/status'],
    },
  });
  await end();
});
