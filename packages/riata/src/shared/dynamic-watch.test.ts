import { expect, test } from 'vitest';
import { createClient } from '../client/create-client.js';
import { ConfigMap } from '../kinds/index.js';
import type { KubeObject } from '../object/meta.js';
import { answeringTransport } from '../rest/transport/answering-transport.fixture.js';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import { resolveRuntime } from '../runtime/runtime.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { type DynamicHandler, DynamicWatch } from './dynamic-watch.js';
import { SharedClientFactory } from './shared-client-factory.js';
import type { SharedControllerFactory } from './shared-controller-factory.js';
import type { HandlerContext, SharedControllerHandler } from './shared-controller-handler.js';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', uid: 'u' } } as KubeObject;

/** A watch on a factory that only takes down what it is asked, and calls handlers when the test says so. */
function setUp(handler: DynamicHandler) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const clients = new SharedClientFactory(createClient({ server: 'http://a' }, { transport: answeringTransport([]) }));
  const handlers = new Set<SharedControllerHandler>();
  const enqueued: string[] = [];
  const controller = {
    registerHandler: (name: string, added: SharedControllerHandler) => {
      handlers.add(added);
      return { name, remove: async () => void handlers.delete(added) };
    },
    enqueueKey: (key: string) => enqueued.push(key),
  };
  const left: string[] = [];
  const stop = new AbortController();
  const watch = new DynamicWatch(ConfigMap, {
    ...{ name: 'one', handler, runtime: resolveRuntime({ clock, log }), signal: stop.signal },
    factory: { forKind: () => controller, clients } as unknown as SharedControllerFactory,
    onEnter: () => {},
    onLeft: async ({ kind }) => void left.push(kind),
  });
  const call = async (key: string, seen: KubeObject | undefined) => {
    for (const each of handlers) await each(key, seen, {} as HandlerContext);
  };
  return { clock, log, watch, call, handlers, enqueued, left, stop };
}

test('when a kind is removed, the handler gets the deletion of every known object, until it succeeds', async () => {
  const reported: string[] = [];
  const { clock, watch, call, handlers, left, log } = setUp((_, key, seen, { attempt, reasons }) => {
    if (seen !== undefined) return;
    reported.push(`${clock.monotonic()} ${key} ${reasons?.[0]?.source}`);
    if (key === 'b' && attempt === 1) throw new Error('not now');
  });
  watch.enter();
  await clock.settle();
  for (const key of ['a', 'b', 'c']) await call(key, object);
  await call('c', undefined);
  reported.length = 0;
  void watch.leave({ isGone: true });
  await clock.advance(1_000);
  expect(reported).toEqual(['0 a kind gone', '0 b kind gone', '10 b kind gone']);
  expect(handlers.size).toBe(0);
  expect(left).toEqual(['ConfigMap']);
  expect(log.messages('error')).toHaveLength(1);
});

test('a kind that comes back meanwhile takes over: what is left is looked at there', async () => {
  const reported: string[] = [];
  const { clock, watch, call, enqueued, handlers } = setUp((_, key, seen) => {
    if (seen !== undefined) return;
    reported.push(key);
    throw new Error('never');
  });
  watch.enter();
  await clock.settle();
  await call('a', object);
  void watch.leave({ isGone: true });
  await clock.advance(100);
  expect(reported.length).toBeGreaterThan(1);
  watch.enter();
  await clock.settle();
  const calls = reported.length;
  await clock.advance(3_600_000);
  expect(reported).toHaveLength(calls);
  expect(enqueued).toEqual(['a']);
  expect(handlers.size).toBe(1);
});

test('when the handler is removed, or the kind is served in another version, nothing is reported', async () => {
  const reported: string[] = [];
  const { clock, watch, call, enqueued } = setUp((_, key, seen) => {
    if (seen === undefined) reported.push(key);
  });
  watch.enter();
  await clock.settle();
  await call('a', object);
  await watch.leave({ isGone: false });
  watch.enter();
  await clock.settle();
  expect(reported).toEqual([]);
  expect(enqueued).toEqual([]);
});
