import { createClient } from '../client/create-client.js';
import { Controller } from '../controller/loop/controller.js';
import { ConfigMap } from '../kinds/index.js';
import { clusterKey } from '../object/key.js';
import { answeringTransport } from '../rest/transport/answering-transport.fixture.js';
import { memoryLogger } from '../runtime/log/memory-logger.js';
import { memoryMetrics } from '../runtime/metrics.js';
import { seededRandom } from '../runtime/random.js';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { HandlerChain, type RetryMode } from './handler-chain.js';
import { HandlerMetrics } from './handler-metrics.js';
import { KindClient } from './kind-client.js';
import { sharedControllerRateLimiter } from './shared-controller-rate-limiter.js';

/** A chain on a queue and a clock of its own, over objects that the test puts there. */
export async function runningChain({ retry = 'failed', workers = 1 }: { retry?: RetryMode; workers?: number } = {}) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const metrics = memoryMetrics();
  const objects = new Map<string, ConfigMap>();
  const client = createClient({ server: 'http://a' }, { transport: answeringTransport([{ hangs: true }]) });
  const reading: { failure?: Error } = {};
  const chain = new HandlerChain<ConfigMap>({
    ...{ client: new KindClient<ConfigMap>(ConfigMap, client), retry, clock },
    read: async (key) => {
      if (reading.failure !== undefined) throw reading.failure;
      return objects.get(key);
    },
    metrics: new HandlerMetrics(metrics, { context: 'test', controller: 'things' }),
  });
  const loop = new Controller('things', {
    ...{ priority: false, concurrency: workers, rateLimiter: sharedControllerRateLimiter },
    runtime: { clock, log, metrics, random: seededRandom(1) },
    reconcile: (run) => chain.run(run),
  });
  const stop = new AbortController();
  const ended = loop.run({ signal: stop.signal });
  await clock.settle();
  let version = 0;
  const enqueue = (name: string, source = 'ConfigMap changed') =>
    loop.queue.add(clusterKey({ namespace: 'shop', name }), { note: [{ source, count: 1, atMs: clock.monotonic() }] });
  /** Stores a new version and delivers it, unless it is an own write that is not visible yet. */
  const put = (name: string, metadata: Partial<ConfigMap['metadata']> = {}, report = true): ConfigMap => {
    version += 1;
    const key = { namespace: 'shop', name };
    const object: ConfigMap = Object.freeze({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...key, uid: `uid-${name}`, resourceVersion: `${version}`, creationTimestamp: '', ...metadata },
    });
    objects.set(`shop/${name}`, object);
    if (report) enqueue(name);
    return object;
  };
  const remove = (name: string) => {
    objects.delete(`shop/${name}`);
    enqueue(name);
  };
  return {
    ...{ clock, log, metrics, chain, loop, enqueue, put, remove, reading, ended },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await clock.advance(60_000);
      await ended;
      await client.close();
    },
  };
}
