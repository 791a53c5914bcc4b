import { randomFaults } from '@riata/apiserver';
import { ConfigMap } from 'riata/kinds';
import { isConnectionRefused, isConnectionReset, isForbidden } from 'riata/rest';
import { seededRandom, silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from '../test-environment.js';
import { inDefault, Widget, widget, widgets } from '../widget.fixture.js';

const start = async () => {
  const env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.run(widgets);
  await env.settle();
  return env;
};

test('the n-th write fails: it is tried again', async () => {
  await using env = await start();
  const rule = env.faults.failWrite(2, { code: 409, reason: 'Conflict' });
  await env.client.create(widget('w'));
  await env.expectConverged();
  expect(rule.hits).toBe(1);
  const writes = env.requests.select({ verb: 'write' }).map(({ object, code }) => [object, code]);
  expect(writes.slice(0, 2)).toEqual([
    ['ConfigMap default/w', 201],
    ['Widget default/w/status', 409],
  ]);
  expect((await env.client.get(Widget, inDefault('w'))).status?.size).toBe(1);
  expect(() => env.faults.failWrite(0)).toThrow('failWrite: the number of the write must be an integer ≥ 1, got 0');
});

test('an answer is lost after the server has done what was asked', async () => {
  await using env = await start();
  const rule = env.faults.add({ verb: 'patch', kind: ConfigMap }, { cut: 'answer' }, { times: 1 });
  await env.client.create(widget('w'));
  await env.expectConverged();
  expect(rule.hits).toBe(1);
  expect(await env.client.get(ConfigMap, inDefault('w'))).toMatchObject({ data: { size: '1' } });
});

test('a rule holds until it is removed; the test itself is spared', async () => {
  await using env = await start();
  using rule = env.faults.add({ kind: 'ConfigMap', verb: 'write', namespace: 'default' }, { fail: { code: 403 } });
  await env.client.create(ConfigMap({ metadata: inDefault('by-hand') }));
  await env.client.create(widget('w'));
  await env.settle();
  expect(rule.hits).toBeGreaterThan(1);
  expect(await env.client.find(ConfigMap, inDefault('w'))).toBe(undefined);
  rule.remove();
  await env.settle({ horizon: '10m' });
  expect(await env.client.find(ConfigMap, inDefault('w'))).toBeDefined();
});

test.each([
  ['connections are dropped', (env: TestEnvironment) => env.faults.dropConnections()],
  ['the server restarts', (env: TestEnvironment) => env.faults.restart({ down: '5s' })],
  ['the server ends all in order and restarts', (env: TestEnvironment) => env.faults.restart({ graceful: true })],
  [
    'the past is forgotten while nobody watches',
    async (env: TestEnvironment) => {
      env.faults.dropConnections();
      await env.faults.compact();
    },
  ],
])('%s: all is well again afterwards', async (_, happens) => {
  await using env = await start();
  await env.client.create(widget('before'));
  await env.settle();
  const watches = env.requests.select({ verb: 'watch' }).length;
  await happens(env);
  await env.client.create(widget('after', 2));
  await env.settle();
  expect(env.requests.select({ verb: 'watch' }).length).toBeGreaterThan(watches);
  expect((await env.client.get(Widget, inDefault('after'))).status?.size).toBe(2);
  await env.expectConverged();
});

test('a watch that dies in silence is noticed, and what was missed is caught up with', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const rule = env.faults.add({ verb: 'watch', kind: Widget }, { stall: { afterEvents: 2 } }, { times: 1 });
  await env.run(widgets);
  for (const name of ['a', 'b', 'c']) await env.client.create(widget(name));
  await env.settle();
  expect(rule.hits).toBe(1);
  expect((await env.client.list(ConfigMap, { namespace: 'default' })).items.length).toBeGreaterThanOrEqual(3);
  expect(env.clock.monotonic()).toBeGreaterThan(60_000);
});

test('by chance, with the same outcome for the same seed', async () => {
  const run = async (seed: number) => {
    await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process', seed });
    const rates = { fail: 0.1, cut: 0.1, cutWatch: 0.5, stallWatch: 0.1, delayMs: 200 };
    using random = env.faults.use(randomFaults(seededRandom(seed), rates));
    await env.run(widgets);
    for (let i = 0; i < 5; i += 1) await env.client.create(widget(`w-${i}`, i));
    await env.settle({ horizon: '10s' });
    random[Symbol.dispose]();
    await env.settle({ horizon: '20m', timeout: '1h' });
    await env.expectConverged();
    const { items } = await env.client.list(Widget);
    return { sizes: items.map(({ status }) => status?.size), requests: env.requests.lines() };
  };
  const runs = [];
  for (const seed of [1, 2, 3, 4]) runs.push(await run(seed));
  for (const { sizes } of runs) expect(sizes).toEqual([0, 1, 2, 3, 4]);
  expect(runs[0]?.requests).not.toEqual(runs[1]?.requests);
  expect((await run(1)).requests).toEqual(runs[0]?.requests);
});

test('a server that is down comes back, at the latest with a reset', async () => {
  await using env = await start();
  const { ended } = await env.startManager({ name: 'second' });
  await env.client.create(widget('before'));
  await env.faults.suspend();
  await expect(env.client.list(Widget, { maxRetries: 0 })).rejects.toSatisfy(isConnectionRefused);
  await env.faults.resume();
  await env.client.create(widget('after'));
  await env.settle();
  expect((await env.client.get(Widget, inDefault('after'))).status?.size).toBe(1);
  await env.faults.suspend({ graceful: true });
  await env.reset();
  expect(await ended).toEqual({ reason: 'stopped', unfinished: [] });
  expect((await env.client.list(Widget)).items).toEqual([]);
});

test.each(['in-process', 'https'])('whatever goes wrong, in real time (%s)', async (server) => {
  await using env = await TestEnvironment.start({ server, time: 'real', log: silentLogger });
  await using connection = env.connect({ name: 'unlucky' });
  const { client } = connection;
  const map = (name: string) => ConfigMap({ metadata: inDefault(name) });
  const create = { client: 'unlucky', verb: 'create' };
  const refused = env.faults.add(create, { fail: { code: 403, reason: 'Forbidden' } }, { times: 1 });
  await expect(client.create(map('refused'))).rejects.toSatisfy(isForbidden);
  expect(refused.hits).toBe(1);
  env.faults.add(create, { cut: 'answer' }, { times: 1 });
  await expect(client.create(map('lost'))).rejects.toSatisfy(isConnectionReset);
  env.faults.add(create, { cut: 'request' }, { times: 1 });
  await expect(client.create(map('cut'))).rejects.toSatisfy(isConnectionReset);
  env.faults.add(create, { fail: { code: 504, handled: true } }, { times: 1 });
  await expect(client.create(map('handled'), { maxRetries: 0 })).rejects.toThrow('a fault made on purpose: 504');
  const stalled = env.faults.add(create, { stall: 'request' }, { times: 1 });
  const stop = new AbortController();
  const stuck = client.create(map('stuck'), { signal: stop.signal });
  await env.eventually(() => stalled.hits === 1);
  stop.abort(new Error('enough'));
  await expect(stuck).rejects.toThrow('enough');
  const late = env.faults.add(create, { delayMs: 1, answerDelayMs: 1 });
  await client.create(map('late'));
  expect(late.hits).toBe(1);
  late.remove();
  using hook = env.faults.use(() => {
    throw new Error('a mistake of the test');
  });
  await expect(client.create(map('hooked'))).rejects.toThrow('a mistake of the test');
  hook[Symbol.dispose]();
  const { items } = await client.list(ConfigMap, { namespace: 'default' });
  const names = items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  expect(names).toEqual(['handled', 'late', 'lost']);

  env.faults.add({ verb: 'watch' }, { cut: { afterEvents: 2 } }, { times: 1 });
  const seen: string[] = [];
  const watched = async () => {
    const watch = await client.watch(ConfigMap, { namespace: 'default', sendInitialEvents: true });
    for await (const event of watch) if (event.type === 'ADDED') seen.push(event.object.metadata.name);
  };
  await expect(watched()).rejects.toSatisfy(isConnectionReset);
  expect(seen).toHaveLength(2);
  const delayed = env.faults.delayEvents('1ms', { kind: ConfigMap });
  const watch = await client.watch(ConfigMap, { namespace: 'default', sendInitialEvents: true });
  for await (const event of watch) if (event.type === 'ADDED' && event.object.metadata.name === 'lost') break;
  delayed[Symbol.dispose]();
  const kinds = connection.requests.all.map(({ verb, code }) => `${verb} ${code}`);
  expect(kinds.filter((line) => line.startsWith('create')).slice(0, 4)).toEqual([
    'create 403',
    'create undefined',
    'create undefined',
    'create 504',
  ]);
});

test('rules that can never hold are refused: a test would pass without them', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const { faults } = env;
  expect(() => faults.add({ verb: 'pach' }, { refuse: true })).toThrow(
    'faults.add: expected a verb out of get, list, watch, read, write, create, update, patch, delete, deletecollection; got "pach"',
  );
  expect(() => faults.add({}, {})).toThrow('faults.add: expected some of delayMs, answerDelayMs');
  expect(() => faults.add({}, { delay: 5 } as never)).toThrow('got {"delay":5}');
  expect(() => faults.add({}, { cut: 'anser' } as never)).toThrow("{ afterEvents } for cut and stall; got 'anser'");
  expect(() => env.requests.lines({ verb: 'writes' })).toThrow('requests: expected a verb out of');
});
