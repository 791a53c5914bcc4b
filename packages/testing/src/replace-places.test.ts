import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import type { AddedController } from 'riata/manager';
import { admit } from 'riata/webhook';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import type { TestManager } from './test-manager.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

/** Lists and watches of a kind so far. */
const reads = (env: TestEnvironment, kind: string) =>
  env.requests.all.filter(({ verb, object }) => (verb === 'list' || verb === 'watch') && object.startsWith(kind))
    .length;

test('fifty replacements while objects change: the newest code that works always runs, and nothing is read anew', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const names = Array.from({ length: 12 }, (_, at) => `w${at}`);
  for (const name of names) await env.client.create(widget(name));
  const manager = await env.startManager();
  const active = new Map<string, number>();
  /** The last code that has seen each object, and the size that it saw. */
  const last = new Map<string, string>();
  let newest = 0;
  let late = 0;
  const define = (version: number) => {
    const field = `of-${version % 4}`;
    const base = control(Widget, { concurrency: 1 + (version % 3) })
      .owns(ConfigMap)
      .indexes(ConfigMap, field, ({ metadata }) => [metadata.name]);
    const watching = version % 5 === 2 ? base.watches(Secret, ({ metadata }) => [inDefault(metadata.name)]) : base;
    return watching.reconcile(async ({ object, key, client, apply, clock }) => {
      const beside = (active.get(key.name) ?? 0) + 1;
      active.set(key.name, beside);
      expect(beside).toBe(1);
      if (version < newest) late += 1;
      await apply(ConfigMap({ metadata: { name: key.name }, data: { size: `${object.spec.size}` } }));
      await clock.sleep(20);
      const { items } = await client.list(ConfigMap, { fieldSelector: { [field]: key.name } });
      expect(items).toHaveLength(1);
      last.set(key.name, `${version} ${object.spec.size}`);
      active.set(key.name, beside - 1);
    });
  };
  const broken = () =>
    control(Widget)
      .owns(ConfigMap)
      .source(() => {
        throw new Error('broken');
      })
      .reconcile(() => {});
  const added = manager.add(define(0));
  await env.settle();
  const before = { widgets: reads(env, 'Widget'), maps: reads(env, 'ConfigMap') };
  for (let version = 1; version <= 50; version += 1) {
    const name = names[version % names.length] ?? '';
    const changed = env.client.patch(Widget, inDefault(name), { type: 'merge', body: { spec: { size: version } } });
    if (version % 7 === 3) await expect(added.replace(broken())).rejects.toThrow('broken');
    else {
      await added.replace(define(version), { reconcile: version % 2 === 0 ? 'recent' : 'all' });
      newest = version;
      late = 0;
    }
    await changed;
    if (version % 10 === 0) {
      await env.settle();
      // What was in flight at the replacement is all that the old code has ended since.
      expect(late).toBe(0);
      const { spec } = await env.client.get(Widget, inDefault(name));
      expect(last.get(name)).toBe(`${newest} ${spec.size}`);
    }
  }
  await added.replace(define(51));
  newest = 51;
  await env.settle();
  for (const name of names) {
    const { spec } = await env.client.get(Widget, inDefault(name));
    expect(last.get(name)).toBe(`51 ${spec.size}`);
    expect((await env.client.get(ConfigMap, inDefault(name))).data).toEqual({ size: `${spec.size}` });
  }
  expect({ widgets: reads(env, 'Widget'), maps: reads(env, 'ConfigMap') }).toEqual(before);
  expect(manager.manager.cache.holds(Secret)).toBe(false);
  expect(manager.explain.filter(({ outcome }) => outcome === 'error')).toEqual([]);
});

test('a replica that does not lead yet starts with the newest code', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await env.client.create(widget('a'));
  const ran: string[] = [];
  const define = (code: string) => control(Widget).reconcile(({ key }) => void ran.push(`${code} ${key.name}`));
  const leaderElection = { namespace: 'default', name: 'lease' };
  const first = await env.startManager({ name: 'first', leaderElection, run: [define('first')] });
  await env.settle();
  const second = await env.startManager({ name: 'second', leaderElection });
  const added = second.add(define('old'));
  await added.replace(define('new'));
  await first.stop();
  await env.eventually(() => ran.length === 2, { within: '1m' });
  expect(ran).toEqual(['first a', 'new a']);
});

test('each shard keeps its keys, and objects that are deleted are handled from the replacement on', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const seen: string[] = [];
  const predicates = [({ key }: { readonly key: string }) => key.startsWith('default/m')];
  const base = () => control(ConfigMap, { name: 'maps', sharded: true, predicates });
  const names = Array.from({ length: 20 }, (_, at) => `m${at}`);
  for (const name of names) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
  const replicas: { identity: string; run: TestManager; added: AddedController }[] = [];
  for (const identity of ['a', 'b']) {
    const run = await env.startManager({ sharding: { namespace: 'default', name: 'ring', identity } });
    replicas.push({ identity, run, added: run.add(base().reconcile(() => {})) });
  }
  const [a] = replicas;
  await env.eventually(() => replicas.every(({ run }) => run.manager.shards?.owned.length === 32), { within: '2m' });
  await env.settle();
  for (const { identity, added } of replicas) {
    const define = base().evenWhenGone();
    await added.replace(
      define.reconcile(({ object, key }) => void seen.push(`${identity} ${object ? 'has' : 'misses'} ${key.name}`)),
    );
  }
  await env.settle();
  const ownerOf = (name: string) => (a?.run.manager.shards?.owns(inDefault(name)) ? 'a' : 'b');
  expect(seen.splice(0).sort()).toEqual(names.map((name) => `${ownerOf(name)} has ${name}`).sort());
  await env.client.delete(ConfigMap, inDefault('m7'));
  await env.settle();
  expect(seen).toEqual([`${ownerOf('m7')} misses m7`]);
});

test('clusters that were added get what the new code needs, each for itself', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const ran: string[] = [];
  const manager = await env.startManager();
  const added = manager.add(
    control(Widget, { clusters: 'all' }).reconcile(({ key }) => void ran.push(`old ${key.cluster} ${key.name}`)),
  );
  // The same server by other names.
  manager.manager.clusters.add('north', env.connect({ name: 'north' }).config);
  await env.client.create(widget('a'));
  await env.client.create(ConfigMap({ metadata: inDefault('m') }));
  await env.settle();
  expect(ran.splice(0).sort()).toEqual(['old north a', 'old undefined a']);
  const before = reads(env, 'Widget');
  await added.replace(
    control(Widget, { clusters: 'all' })
      .watches(ConfigMap, () => [inDefault('a')])
      .reconcile(async ({ key, client }) => {
        const { items } = await client.list(ConfigMap, {
          namespace: 'default',
          fieldSelector: { 'metadata.name': 'm' },
        });
        ran.push(`new ${key.cluster} ${key.name} ${items.length}`);
      }),
  );
  manager.manager.clusters.add('south', env.connect({ name: 'south' }).config);
  await env.settle();
  expect([...new Set(ran.splice(0))].sort()).toEqual(['new north a 1', 'new south a 1', 'new undefined a 1']);
  // Only the one that was added later.
  expect(reads(env, 'Widget') - before).toBe(before / 2);
  await env.client.patch(ConfigMap, inDefault('m'), { type: 'merge', body: { data: { a: 'b' } } });
  await env.settle();
  expect(ran.sort()).toEqual(['new north a 1', 'new south a 1', 'new undefined a 1']);
});

test('a webhook is replaced from one request to the next, and a refused one is not', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const manager = await env.startManager();
  const denying = (words: string) =>
    admit(Widget, { name: 'widgets' })
      .reads(ConfigMap)
      .validates(({ object, deny }) => {
        if (object.spec.size > 5) deny(words);
      });
  const added = manager.add(denying('too large'));
  await env.settle();
  await expect(env.client.create(widget('a', 6))).rejects.toThrow('too large');
  const before = reads(env, 'ConfigMap');
  await added.replace(denying('much too large'));
  await expect(env.client.create(widget('a', 6))).rejects.toThrow('much too large');
  await expect(added.replace(admit(Widget, { name: 'others' }).validates(() => {}))).rejects.toThrow(
    'webhook "widgets": cannot be replaced by webhook "others"; give it the same name',
  );
  await env.settle();
  await expect(env.client.create(widget('a', 6))).rejects.toThrow('much too large');
  expect(reads(env, 'ConfigMap')).toBe(before);
  await added.remove();
  await expect(added.replace(denying('far too large'))).rejects.toThrow('webhook "widgets" was removed');
});
