import { createClient } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { isConnectionReset, isTransportError } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget, widgets } from './widget.fixture.js';

const map = (name: string) => ConfigMap({ metadata: inDefault(name) });

test('what goes over a connection is recorded: its own, and among those of all', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.run(widgets);
  await using connection = env.connect({ name: 'importer' });
  await connection.client.create(widget('w'));
  const second = createClient({ ...connection.config, userAgent: 'second' }, { runtime: { clock: env.clock } });
  await second.get(Widget, inDefault('w'));
  await env.settle();
  expect(connection.requests.lines()).toEqual(['create Widget default/w', 'get Widget default/w']);
  expect(connection.requests.all.map(({ path, code }) => [path, code])).toEqual([
    ['/apis/testing.riata.dev/v1/namespaces/default/widgets', 201],
    ['/apis/testing.riata.dev/v1/namespaces/default/widgets/w', 200],
  ]);
  const [, get] = connection.requests.all;
  expect(get?.headers['user-agent']).toBe('second');
  expect(get?.headers).not.toHaveProperty('authorization');
  expect(env.requests.lines({ client: 'importer' })).toEqual(connection.requests.lines());
  expect(env.requests.lines({ verb: 'write' })).toHaveLength(3);
  expect([env.connect().name, env.connect().name]).toEqual(['connection-1', 'connection-2']);
});

test('a request waits for the promise of onRequest, fails with what it throws, and can be given up meanwhile', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const held: string[] = [];
  let go = () => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  await using connection = env.connect({
    onRequest: async ({ verb, name = '' }) => {
      if (verb !== 'create') return;
      held.push(name);
      if (name === 'refused') throw new Error('not this one');
      if (name !== 'free') await gate;
    },
  });
  const { client } = connection;
  await client.create(map('free'));
  await expect(client.create(map('refused'))).rejects.toThrow('not this one');
  const stop = new AbortController();
  const givenUp = client.create(map('given-up'), { signal: stop.signal });
  const waiting = client.create(map('late'));
  await env.advance('1m');
  expect(held).toEqual(['free', 'refused', 'given-up', 'late']);
  expect(await env.client.find(ConfigMap, inDefault('late'))).toBe(undefined);
  stop.abort(new Error('enough'));
  await expect(givenUp).rejects.toThrow('enough');
  go();
  await waiting;
  const names = (await env.client.list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
  expect(names).toEqual(expect.arrayContaining(['free', 'late']));
  expect(names).not.toContain('given-up');
  expect(connection.requests.all.map(({ code }) => code)).toEqual([201, undefined, undefined, 201]);
});

test.each(['in-process', 'https'] as const)(
  'a cut breaks off what is open, or ends watches in order (%s)',
  async (server) => {
    await using env = await TestEnvironment.start({ server, time: 'real', log: silentLogger });
    let sent = () => {};
    await using connection = env.connect({ onRequest: ({ verb }) => void (verb === 'list' && sent()) });
    const { client } = connection;
    const open = async () => {
      const { resourceVersion } = (await env.client.list(ConfigMap)).metadata;
      return client.watch(ConfigMap, { namespace: 'default', resourceVersion });
    };
    const read = async (watch: Awaited<ReturnType<typeof open>>) => {
      const seen: string[] = [];
      for await (const event of watch) if (event.type === 'ADDED') seen.push(event.object.metadata.name);
      return seen;
    };
    const first = read(await open());
    connection.cut();
    await expect(first).rejects.toSatisfy(isConnectionReset);
    const second = read(await open());
    connection.cut({ graceful: true });
    expect(await second).toEqual([]);
    // Requests other than watches are answered, in order.
    sent = () => connection.cut({ graceful: true });
    expect((await client.list(ConfigMap, { namespace: 'default' })).kind).toBe('ConfigMapList');
    const third = read(await open());
    env.faults.dropConnections();
    await expect(third).rejects.toSatisfy(isConnectionReset);
  },
);

test('faults can be for one connection alone; a reset ends it', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const [one, two] = [env.connect({ name: 'one' }), env.connect({ name: 'two' })];
  env.faults.add({ client: 'one' }, { fail: { code: 403, reason: 'Forbidden' } });
  await expect(one.client.create(map('one'))).rejects.toThrow('a fault made on purpose');
  await two.client.create(map('two'));
  const { client } = two;
  await env.reset();
  await expect(client.get(ConfigMap, inDefault('two'))).rejects.toSatisfy(isTransportError);
  expect(await env.client.find(ConfigMap, inDefault('two'))).toBe(undefined);
});
