import { ConfigMap, Secret } from 'riata/kinds';
import { defineKind, makeKind } from 'riata/object';
import {
  Cond,
  ConditionError,
  Controllers,
  clearFinalizers,
  registerStatusHandler,
  relatedResource,
} from 'riata/patterns';
import { memoryLogger, silentLogger } from 'riata/runtime';
import { IgnoreError } from 'riata/shared';
import { beforeAll, expect, test } from 'vitest';
import type { WidgetKind } from './custom-kind.js';
import { startPatterns } from './patterns-play.js';
import { describeServers, rejection, uniqueName, until } from './servers.js';
import { watchesOf } from './shared-play.js';

const runtime = { log: silentLogger };

const group = `${uniqueName('g')}.riata.dev`;

/** Of the project's own making: it has a place for the generation, and for standard conditions. */
const Gadget = defineKind({
  ...{ group, version: 'v1', kind: 'Gadget' },
  spec: { type: 'object', properties: { size: { type: 'integer' }, wait: { type: 'boolean' } } } as const,
  status: { type: 'object', properties: { size: { type: 'integer' } } } as const,
});

/** The same, for code that knows only the names. */
const Widget: WidgetKind = makeKind({ group, version: 'v1', kind: 'Gadget', plural: 'gadgets', scope: 'Namespaced' });

describeServers('patterns', (server) => {
  beforeAll(async () => {
    await server().install(Gadget);
    server().keep();
  });

  test("wrangler's way of use: CRUD, handlers, cache and keys of any kind, without generated code", async () => {
    const { config } = server();
    const namespace = await server().namespace();
    const stop = new AbortController();
    const cacheDefaults = { namespaces: [namespace] };
    await using controllers = await Controllers.fromConfig(config, { cacheDefaults, runtime });
    const widgets = controllers.for(Widget);
    expect(controllers.for(Widget)).toBe(widgets);
    expect(widgets.gvk).toEqual(Widget.gvk);
    const seen: string[] = [];
    widgets.onChange('see', (key, widget) => void seen.push(`${key} ${widget?.spec?.size ?? 'gone'}`), {
      signal: stop.signal,
    });
    widgets.cache.addIndexer('by-size', ({ spec }) => [String(spec?.size)]);
    await controllers.start({ workers: 2, signal: stop.signal });
    const key = { namespace, name: 'a' };
    const made = await widgets.create(Widget({ metadata: key, spec: { size: 1 } }));
    expect((await widgets.cache.get(key)).metadata.uid).toBe(made.metadata.uid);
    await until('it was seen', async () => seen.includes(`${namespace}/a 1`));
    await widgets.updater({ ...made, spec: { size: 2 } });
    expect((await widgets.cache.getByIndex('by-size', '2')).map(({ metadata }) => metadata.name)).toEqual(['a']);
    expect(await widgets.cache.getByIndex('by-size', '1')).toEqual([]);
    expect((await rejection(widgets.cache.getByIndex('by-color', 'red'))).message).toContain(
      'known indexes are by-size',
    );
    await widgets.patch(key, { type: 'merge', body: { metadata: { labels: { tier: 'web' } } } });
    expect(await widgets.cache.list({ namespace, labelSelector: 'tier=web' })).toHaveLength(1);
    expect(await widgets.cache.list({ labelSelector: 'tier=db' })).toEqual([]);
    expect((await widgets.list({ namespace })).items).toHaveLength(1);
    expect((await rejection(widgets.cache.get({ namespace, name: 'none' }))).message).toContain('none');
    seen.length = 0;
    widgets.enqueueAfter(key, '1ms');
    widgets.enqueue({ namespace, name: 'none' });
    const looked = [`${namespace}/a 2`, `${namespace}/none gone`];
    await until('both were looked at', async () => looked.every((line) => seen.includes(line)));
    await widgets.delete(key);
    expect(await widgets.cache.find(key)).toBeUndefined();
    await until('its end was seen', async () => seen.includes(`${namespace}/a gone`));
    stop.abort();
  });

  test('nothing is listed or watched before there is a handler or a read of the cache', async () => {
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, requests, signal } = play;
    const [maps, secrets] = [controllers.for(ConfigMap), controllers.for(Secret)];
    await controllers.start({ signal });
    expect(requests.all.filter(({ path }) => !path.includes('/version'))).toEqual([]);
    await maps.cache.list();
    expect(watchesOf(requests, ConfigMap)).toBe(1);
    secrets.onChange('one', () => {});
    await until('it is watched', async () => watchesOf(requests, Secret) === 1);
    expect(controllers.factory.forKind(Secret).handlers).toEqual(['one']);
  });

  test('rancher#49328: onRemove of several handlers in any order; each cleans up once, others cannot take it away', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    const maps = controllers.for(ConfigMap);
    const cleaned: string[] = [];
    let failures = 2;
    const isOurs = (key: string) => key === `${namespace}/a`;
    maps.onRemove('one', (key) => void (isOurs(key) && cleaned.push('one')));
    maps.onRemove('two', async (key, map, ctx) => {
      if (!isOurs(key)) return map;
      if (failures > 0) {
        failures -= 1;
        throw new Error('not yet');
      }
      // Another client writes at the same time: the known version is stale then, and that must not matter.
      await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body: { data: { by: 'other' } } });
      ctx.signal.throwIfAborted();
      cleaned.push('two');
      return map;
    });
    maps.onRemove('three', (key) => void (isOurs(key) && cleaned.push('three')), { finalizer: 'example.com/three' });
    await controllers.start({ signal });
    const key = { namespace, name: 'a' };
    await client.create(ConfigMap({ metadata: { ...key, finalizers: ['example.com/others'] } }));
    const finalizers = async () => (await client.get(ConfigMap, key)).metadata.finalizers ?? [];
    await until('it has all', async () => (await finalizers()).length === 4);
    expect(maps.finalizers).toEqual(['wrangler.cattle.io/one', 'wrangler.cattle.io/two', 'example.com/three']);
    await client.delete(ConfigMap, key);
    await until('ours are gone', async () => (await finalizers()).length === 1);
    expect(await finalizers()).toEqual(['example.com/others']);
    expect(cleaned.toSorted()).toEqual(['one', 'three', 'two']);
    expect(failures).toBe(0);
    await clearFinalizers(client, [ConfigMap], { namespace, finalizers: ['example.com/others'] });
    expect(await client.find(ConfigMap, key)).toBeUndefined();
  });

  test('onRemove: an object that is deleted while no replica runs is cleaned up by the next', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const key = { namespace, name: 'a' };
    await client.create(ConfigMap({ metadata: key }));
    {
      await using first = startPatterns(server(), namespace);
      first.controllers.for(ConfigMap).onRemove('clean', () => {});
      await first.controllers.start({ signal: first.signal });
      await until('it is held', async () => (await client.get(ConfigMap, key)).metadata.finalizers?.length === 1);
    }
    await client.delete(ConfigMap, key);
    const cleaned: string[] = [];
    await using second = startPatterns(server(), namespace);
    second.controllers.for(ConfigMap).onRemove('clean', (at) => void cleaned.push(at));
    await second.controllers.start({ signal: second.signal });
    await until('it is gone', async () => (await client.find(ConfigMap, key)) === undefined);
    expect(cleaned).toEqual([`${namespace}/a`]);
  });

  test('rancher#47045: finalizers are cleared when a controller is uninstalled, and others stay', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace, { finalizerPrefix: 'example.com/' });
    const { controllers } = play;
    const widgets = controllers.for(Widget);
    widgets.onRemove('clean', () => {});
    controllers.for(ConfigMap).onChange('none', () => {});
    const own = ['example.com/clean'];
    for (const [name, finalizers] of Object.entries({ a: own, b: ['example.com/other', ...own], c: [] })) {
      await client.create(Widget({ metadata: { namespace, name, finalizers }, spec: {} }));
    }
    await client.delete(Widget, { namespace, name: 'a' });
    const cleared = await controllers.clearFinalizers();
    expect(cleared.map(({ key, finalizers }) => [key, finalizers])).toEqual([
      [`${namespace}/a`, own],
      [`${namespace}/b`, own],
    ]);
    const { items } = await client.list(Widget, { namespace });
    expect(items.map(({ metadata }) => metadata.finalizers)).toEqual([['example.com/other'], undefined]);
    expect(await controllers.clearFinalizers()).toEqual([]);
    expect(() => widgets.onRemove('no good name', () => {})).toThrow('not a valid finalizer name');
  });

  test('lasso PR#11: handlers whose signal has aborted are gone from the controller', async () => {
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const maps = play.controllers.for(ConfigMap);
    const stop = new AbortController();
    for (let i = 0; i < 50; i += 1) maps.onRemove(`r${i}`, () => {}, { signal: stop.signal });
    relatedResource.watch('related', () => [], maps, [maps], { signal: stop.signal });
    expect(maps.shared.handlers).toHaveLength(51);
    stop.abort();
    expect(maps.shared.handlers).toEqual([]);
    const asked: string[] = [];
    const resolve = (_: string, name: string) => void asked.push(name);
    const related = relatedResource.watch('related', resolve, maps, [maps]);
    await play.controllers.start({ signal: play.signal });
    const { client } = server();
    const key = { namespace, name: 'a' };
    await client.create(ConfigMap({ metadata: key }));
    await until('it is asked', async () => asked.includes('a'));
    await related.remove();
    asked.length = 0;
    await client.delete(ConfigMap, key);
    await until('it is known', async () => (await maps.cache.find(key)) === undefined);
    expect([maps.shared.handlers, asked]).toEqual([[], []]);
  });

  test('write differences only; conditions show the outcome', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, requests, signal } = play;
    const widgets = controllers.for(Widget);
    const runs: string[] = [];
    registerStatusHandler(widgets, { name: 'count', condition: 'Counted' }, (widget, status, ctx) => {
      runs.push(`${widget.metadata.name} ${ctx.attempt}`);
      const size = widget.spec?.size;
      if (size === -1) throw new ConditionError('NoSize', 'spec.size is less than 0');
      if (size === -2) throw new IgnoreError();
      return { ...status, size };
    });
    const after: unknown[] = [];
    widgets.onChange('after', (_, widget) => void after.push(widget?.status?.size));
    await controllers.start({ signal });
    const key = { namespace, name: 'a' };
    const Counted = new Cond('Counted');
    await client.create(Widget({ metadata: key, spec: { size: 1 } }));
    await until('it is counted', async () => Counted.isTrue(await client.get(Widget, key)));
    // The next handler saw the write at once; the test may see it before the program does.
    await until('it was handed on', async () => after.length > 0);
    expect(after[0]).toBe(1);
    const writes = () => requests.all.filter(({ verb }) => verb === 'patch' || verb === 'update').length;
    expect(writes()).toBe(1);
    const before = runs.length;
    widgets.enqueue(key);
    await until('it ran again', async () => runs.length > before);
    expect(writes()).toBe(1);
    const setSize = (size: unknown) => client.patch(Widget, key, { type: 'merge', body: { spec: { size } } });
    await setSize(-1);
    await until('it failed', async () => Counted.isFalse(await client.get(Widget, key)));
    const failed = await client.get(Widget, key);
    expect([Counted.getReason(failed), Counted.getMessage(failed)]).toEqual(['NoSize', 'spec.size is less than 0']);
    expect(failed.status?.size).toBe(1);
    await until('it is tried again', async () => runs.includes('a 3'));
    expect(writes()).toBe(2);
    await setSize(-2);
    await until('it was skipped', async () => Counted.isTrue(await client.get(Widget, key)));
    await client.delete(Widget, key);
  });

  test('wrangler PR#197: a condition that the handler sets itself is not overwritten', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    const Deployed = new Cond('Deployed');
    registerStatusHandler(controllers.for(Widget), { name: 'own', condition: Deployed }, ({ spec }, status) =>
      spec?.wait ? Deployed.setUnknown(status, { reason: 'Waiting', message: 'for the others' }) : status,
    );
    await controllers.start({ signal });
    const key = { namespace, name: 'a' };
    await client.create(Widget({ metadata: key, spec: { wait: true } }));
    const status = async () => Deployed.getStatus(await client.get(Widget, key));
    await until('it waits', async () => (await status()) === 'Unknown');
    await client.patch(Widget, key, { type: 'merge', body: { spec: { wait: null } } });
    await until('it is deployed', async () => (await status()) === 'True');
    expect(Deployed.getMessage(await client.get(Widget, key))).toBe('');
  });

  test('the deletion of an object with an onRemove handler is no error, whichever client removed it', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const log = memoryLogger();
    await using play = startPatterns(server(), namespace, { runtime: { log } });
    const { controllers, signal } = play;
    const gadgets = controllers.for(Gadget);
    const seen = new Set<string>();
    gadgets.onRemove('clean', async (_, { metadata }, ctx) => {
      // Another client removes the finalizer first.
      const body = { metadata: { finalizers: null } };
      const key = { namespace, name: metadata.name };
      if (metadata.name === 'forced') await ctx.client.patch(key, { type: 'merge', body });
    });
    registerStatusHandler(gadgets, { name: 'count', condition: 'Counted' }, ({ metadata, spec }, status) => {
      return { ...status, size: metadata.deletionTimestamp === undefined ? spec?.size : -1 };
    });
    gadgets.onChange('after', (key, gadget) => void (gadget === undefined && seen.add(key)));
    await controllers.start({ signal });
    for (const name of ['calm', 'forced']) {
      const key = { namespace, name };
      await client.create(Gadget({ metadata: key, spec: { size: 1 } }));
      await until('it is counted', async () => (await client.get(Gadget, key)).status?.size === 1);
      await client.delete(Gadget, key);
      await until('its end was seen', async () => seen.has(`${namespace}/${name}`));
    }
    expect(log.records.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
    expect(gadgets.shared.explain.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  test('wrangler#343: kinds of defineKind have standard conditions, and the generation that was looked at', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    registerStatusHandler(controllers.for(Gadget), { name: 'count', condition: 'Counted' }, (gadget, status) => ({
      ...status,
      size: gadget.spec?.size ?? 0,
    }));
    await controllers.start({ signal });
    const key = { namespace, name: 'a' };
    await client.create(Gadget({ metadata: key, spec: { size: 3 } }));
    const found = await until('it is counted', async () => {
      const gadget = await client.get(Gadget, key);
      return gadget.status?.size === 3 && gadget;
    });
    expect(found.status).toMatchObject({
      observedGeneration: 1,
      conditions: [{ type: 'Counted', status: 'True', reason: 'Counted', message: '', observedGeneration: 1 }],
    });
  });
});
