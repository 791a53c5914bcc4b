import { once } from 'node:events';
import * as net from 'node:net';
import type { ConnectedClient } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf, readAll, startFaultClient, turns } from './fault-client.js';
import type { FaultScript } from './fault-server.js';
import { added, configMap, configMapList, json, what } from './sample-objects.js';
import { SleepClock } from './sleep-clock.js';

interface Call {
  readonly signal?: AbortSignal;
}

const key = { namespace: 'shop', name: 'a' };
const calls: Readonly<Record<string, (client: ConnectedClient, options?: Call) => Promise<unknown>>> = {
  get: (client, options) => client.get(ConfigMap, key, options),
  find: (client, options) => client.find(ConfigMap, key, options),
  list: (client, options) => client.list(ConfigMap, options),
  each: async (client, options) => resultOf(client.each(ConfigMap, options)),
  pages: async (client, options) => resultOf(client.pages(ConfigMap, { limit: 1, ...options })),
  watch: async (client, options) => resultOf(await client.watch(ConfigMap, options)),
  retryingWatch: async (client, options) => resultOf(client.retryingWatch(ConfigMap, options)),
  create: (client, options) => client.create(ConfigMap({ metadata: key }), options),
  update: (client, options) => client.update(ConfigMap({ metadata: { ...key, resourceVersion: '1' } }), options),
  patch: (client, options) => client.patch(ConfigMap, key, { type: 'merge', body: { data: {} } }, options),
  delete: (client, options) => client.delete(ConfigMap, key, options),
  apply: (client, options) => client.apply(ConfigMap({ metadata: key }), { fieldManager: 'test', ...options }),
};
const verbs = Object.keys(calls);
const call = (verb: string, client: ConnectedClient, options?: Call) =>
  (calls[verb] as (client: ConnectedClient, options?: Call) => Promise<unknown>)(client, options);

async function resultOf(source: AsyncIterable<unknown>): Promise<unknown> {
  const { all, error } = await readAll(source);
  if (error) throw error;
  return all;
}

/** Resolves when the server has got so many requests. */
async function requested(t: { readonly server: { readonly requests: readonly unknown[] } }, count = 1) {
  while (t.server.requests.length < count) await turns(1);
}

const hang: FaultScript = (_, reply) => reply.hang();
/** Half of any answer, and silence. */
const half: FaultScript = (request, reply) => {
  reply.head(200, json);
  const isWatch = what(request) !== 'list';
  reply.chunk(isWatch ? added('a', 1) : configMapList(9, [configMap('a', 1), configMap('b', 2)]).slice(0, -40));
  return reply.hang();
};

/** Only connections that are kept have something on the clock, one timer each. */
function expectNoWait(t: { readonly server: { readonly open: number } }, clock: SleepClock) {
  expect(clock.pending).toBeLessThanOrEqual(t.server.open);
}

/** Runs every verb against such a server, aborts where `stage` says, and looks at what is left. */
async function abortEvery(
  script: FaultScript,
  stage: (t: Parameters<typeof requested>[0], clock: SleepClock) => Promise<void>,
) {
  for (const verb of verbs) {
    const clock = new SleepClock();
    await using t = await startFaultClient(script, { clock });
    const controller = new AbortController();
    const reason = new Error(`enough of ${verb}`);
    const failing = failureOf(call(verb, t.client, { signal: controller.signal }));
    await stage(t, clock);
    controller.abort(reason);
    expect(await failing).toBe(reason);
    await turns();
    expectNoWait(t, clock);
    await t.client.close();
    expect([verb, clock.pending]).toEqual([verb, 0]);
    await t.server.idle();
  }
}

describe('an abort rejects with its reason and leaves no socket and no timer', () => {
  test('before anything is sent: nothing is', async () => {
    await using t = await startFaultClient(hang);
    for (const verb of verbs) {
      const reason = new Error(`enough of ${verb}`);
      expect(await failureOf(call(verb, t.client, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    }
    expect([t.server.connections, t.server.requests]).toEqual([0, []]);
  });

  test('in the turn of the call', async () => {
    await abortEvery(hang, async () => {});
  });

  test('while a connection is being set up', async () => {
    // Accepts, and never says a word of TLS.
    const sockets = new Set<net.Socket>();
    const mute = net.createServer((socket) => {
      sockets.add(
        socket
          .on('close', () => sockets.delete(socket))
          .on('error', () => {})
          .resume(),
      );
    });
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    onTestFinished(() => void mute.close());
    const { port } = mute.address() as net.AddressInfo;
    const clock = new SleepClock();
    await using t = await startFaultClient(hang, { clock, config: { server: `https://127.0.0.1:${port}` } });
    for (const verb of verbs) {
      const controller = new AbortController();
      const reason = new Error(`enough of ${verb}`);
      const failing = failureOf(call(verb, t.client, { signal: controller.signal }));
      while (sockets.size === 0) await turns(1);
      controller.abort(reason);
      expect(await failing).toBe(reason);
      while (sockets.size > 0) await turns(1);
      expect([verb, clock.pending]).toEqual([verb, 0]);
    }
  });

  test('before the answer', async () => {
    await abortEvery(hang, (t) => requested(t));
  });

  test('in the middle of the answer', async () => {
    await abortEvery(half, async (t) => {
      await requested(t);
      await turns();
    });
  });

  test('in the middle of a refusal', async () => {
    const refusing: FaultScript = (_, reply) => {
      reply.head(403, { ...json, 'content-length': '5000' });
      reply.chunk('{"kind":"Status",');
      return reply.hang();
    };
    await abortEvery(refusing, async (t) => {
      await requested(t);
      await turns();
    });
  });

  test('in the wait that a server asked for', async () => {
    await abortEvery(
      (_, reply) => reply.status(429, { 'retry-after': '1000' }),
      (_, clock) => clock.sleeping(1),
    );
  });

  test('in the wait of a retrying watch, and in the watch after its list', async () => {
    for (const then of ['refuse', 'watch']) {
      const clock = new SleepClock();
      await using t = await startFaultClient(
        (request, reply) => {
          if (what(request) === 'list') return reply.send(200, configMapList(9, []), json);
          return then === 'refuse' ? reply.status(500) : half(request, reply);
        },
        { clock },
      );
      const controller = new AbortController();
      const reason = new Error('enough');
      const failing = failureOf(call('retryingWatch', t.client, { signal: controller.signal }));
      if (then === 'refuse') await clock.sleeping(1);
      else await requested(t, 2);
      controller.abort(reason);
      expect(await failing).toBe(reason);
      expectNoWait(t, clock);
      await t.client.close();
      expect(clock.pending).toBe(0);
      await t.server.idle();
    }
  });
});

test('a reader that stops closes the connection, without an error', async () => {
  await using t = await startFaultClient(half);
  for await (const { metadata } of t.client.each(ConfigMap)) {
    expect(metadata.name).toBe('a');
    break;
  }
  await t.server.idle();
  for await (const event of await t.client.watch(ConfigMap)) {
    expect(event.type).toBe('ADDED');
    break;
  }
  await t.server.idle();
  const watch = await t.client.watch(ConfigMap);
  await watch[Symbol.asyncDispose]();
  expect(await readAll(watch)).toEqual({ all: [] });
  await t.server.idle();
});

describe('a client that is closed', () => {
  test('ends all that is open with an error, and no rejection goes unhandled', async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', listener);
    onTestFinished(() => void process.off('unhandledRejection', listener));
    const clock = new SleepClock();
    await using t = await startFaultClient(half, { clock });
    const failing = verbs.map((verb) => failureOf(call(verb, t.client)));
    // Opened, and not read.
    await t.client.watch(ConfigMap);
    await requested(t, verbs.length + 1);
    await turns();
    await t.client.close();
    for (const [i, error] of (await Promise.all(failing)).entries()) {
      expect([verbs[i], error.message]).toEqual([verbs[i], expect.stringContaining('the transport was closed')]);
    }
    await t.server.idle();
    expect(clock.pending).toBe(0);
    // Rejections count as unhandled when a turn has passed.
    await turns();
    expect(unhandled).toEqual([]);
  });

  test('takes no more calls', async () => {
    await using t = await startFaultClient(half);
    await t.client.close();
    for (const verb of verbs) {
      expect(await failureOf(call(verb, t.client))).toMatchObject({ name: 'TransportError', kind: 'closed' });
    }
    expect(t.server.connections).toBe(0);
    await t.client.close();
  });

  test('does not go on waiting for a server that asked for patience', async () => {
    const clock = new SleepClock();
    await using t = await startFaultClient((_, reply) => reply.status(429, { 'retry-after': '1000' }), { clock });
    const failing = verbs.map((verb) => failureOf(call(verb, t.client)));
    await clock.sleeping(verbs.length);
    await t.client.close();
    for (const error of await Promise.all(failing)) expect(error.message).toContain('the transport was closed');
    expect(clock.pending).toBe(0);
  });

  test('ends the wait of a retrying watch with an error, unless it was stopped before', async () => {
    const clock = new SleepClock();
    await using t = await startFaultClient((_, reply) => reply.status(500), { clock });
    const failing = failureOf(call('retryingWatch', t.client));
    const watching = t.client.retryingWatch(ConfigMap);
    const stopped = readAll(watching);
    await clock.sleeping(2);
    watching.stop();
    await t.client.close();
    expect(await failing).toMatchObject({ name: 'TransportError', kind: 'closed' });
    expect(await stopped).toEqual({ all: [{ type: 'RESET' }] });
    expect(clock.pending).toBe(0);
  });
});
