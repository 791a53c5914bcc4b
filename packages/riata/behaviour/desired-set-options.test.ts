import { Cache } from 'riata/cache';
import type { KubeClient } from 'riata/client';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Namespace, Secret } from 'riata/kinds';
import { Apply } from 'riata/patterns';
import { ApiError } from 'riata/rest';
import { silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { map, names, secret, startApply } from './desired-set-play.js';
import { describeServers, uniqueName } from './servers.js';

const runtime = { log: silentLogger };

describeServers('options of a desired set', (server) => {
  test('quantities that the server spells otherwise do not make it write again', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const resources = { requests: { cpu: '1000m', memory: '1024Mi' } };
    const labels = { app: 'web' };
    const spec = { containers: [{ name: 'c', image: 'i', resources }] };
    const web = Deployment({
      metadata: { namespace, name: 'web' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    await play.applier.apply([web]);
    play.writes();
    expect(names((await play.applier.apply([web])).unchanged)).toEqual(['web']);
    expect(play.writes()).toBe(0);
    await play.applier.apply([]);
  });

  test('owner references where namespaces allow them; the set holds the rest together', async () => {
    const namespaces = [await server().namespace(), await server().namespace()] as const;
    const [namespace, elsewhere] = namespaces;
    const { client } = server();
    const owner = await client.create(map(namespace, 'owner'));
    const applier = new Apply(client, { owner, lookup: 'given', runtime });
    const free = Namespace({ metadata: { name: uniqueName('ns-') } });
    const set = [ConfigMap({ metadata: { name: 'a' } }), map(elsewhere, 'b'), free];
    const { objects } = await applier.apply(set, { setOwnerReference: { controller: true } });
    const references = objects.map(({ metadata }) =>
      metadata.ownerReferences?.map((ref) => [ref.name, ref.controller]),
    );
    expect(references).toEqual([[['owner', true]], undefined, undefined]);
    expect(objects[0]?.metadata.namespace).toBe(namespace);
    expect((await applier.apply([])).deleted).toHaveLength(3);
  });

  test('a namespace to look in: what is elsewhere is not seen, and not deleted', async () => {
    const [one, two] = [await server().namespace(), await server().namespace()];
    const { client } = server();
    const applier = new Apply(client, { setId: uniqueName('set-'), lookup: 'given', runtime });
    await applier.apply([map(one, 'a'), map(two, 'b')]);
    expect(names((await applier.apply([], { listerNamespace: one, kinds: [ConfigMap] })).deleted)).toEqual(['a']);
    expect(await client.find(ConfigMap, { namespace: two, name: 'b' })).toBeDefined();
    expect(names((await applier.apply([], { kinds: [ConfigMap] })).deleted)).toEqual(['b']);
  });

  test('who may not list everywhere lists where the set is', async () => {
    const namespace = await server().namespace();
    const { client } = server();
    const narrow: KubeClient = client.wrap((run) => async (operation) => {
      if (operation.verb === 'list' && operation.namespace === undefined) {
        throw new ApiError({ code: 403, reason: 'Forbidden', message: 'not everywhere' });
      }
      return run(operation);
    });
    const applier = new Apply(narrow, { setId: uniqueName('set-'), runtime });
    await applier.apply([map(namespace, 'a'), map(namespace, 'b')]);
    const { unchanged, deleted } = await applier.apply([map(namespace, 'a')]);
    expect([names(unchanged), names(deleted)]).toEqual([['a'], ['b']]);
  });

  test('lasso PR#5: a rate limit is for each set, none by default, and an empty set does not wait', async () => {
    const namespace = await server().namespace();
    const clock = new VirtualClock();
    const options = { lookup: 'given', rateLimit: { qps: 1, burst: 1 }, runtime: { ...runtime, clock } } as const;
    const applier = new Apply(server().client, options);
    const [one, two] = [uniqueName('one-'), uniqueName('two-')];
    await applier.apply([map(namespace, 'a')], { setId: one });
    await applier.apply([map(namespace, 'b')], { setId: two });
    let isDone = false;
    const second = applier.apply([map(namespace, 'a')], { setId: one }).then(() => {
      isDone = true;
    });
    await server().client.list(ConfigMap, { namespace });
    expect(isDone).toBe(false);
    await clock.advance(1000);
    await second;
    expect(names((await applier.apply([], { setId: one })).deleted)).toEqual(['a']);
    await applier.apply([], { setId: two });
  });

  test('calls for one set wait for each other: the last one counts', async () => {
    const namespace = await server().namespace();
    const applier = new Apply(server().client, { setId: uniqueName('set-'), lookup: 'given', runtime });
    const sets = [['a', 'b'], ['b', 'c'], [], ['c', 'd']];
    await Promise.all(sets.map((set) => applier.with({}).apply(set.map((name) => map(namespace, name)))));
    const { items } = await server().client.list(ConfigMap, { namespace });
    expect(names(items.map(({ metadata }) => metadata))).toEqual(['c', 'd']);
    await applier.apply([]);
  });

  test('another version of the same object is the same object', async () => {
    const namespace = await server().namespace();
    const applier = new Apply(server().client, { setId: uniqueName('set-'), lookup: 'given', runtime });
    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const old = {
      ...{ apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { namespace, name: 'web' } },
      spec: { maxReplicas: 3, scaleTargetRef: target },
    };
    await applier.apply([old]);
    const now = HorizontalPodAutoscaler({
      metadata: { namespace, name: 'web' },
      spec: { maxReplicas: 4, scaleTargetRef: target },
    });
    const { updated, deleted } = await applier.apply([now]);
    expect([names(updated), names(deleted)]).toEqual([['web'], []]);
    await applier.apply([]);
  });

  test('a cache that holds more kinds as they come', async () => {
    const namespace = await server().namespace();
    const stop = new AbortController();
    await using play = startApply(server());
    await using cache = new Cache(play.client, { runtime });
    void cache.run({ signal: stop.signal });
    const options = { setId: uniqueName('set-'), cache, caching: 'dynamic' } as const;
    await play.applier.apply([map(namespace, 'a'), secret(namespace, 's')], options);
    expect([cache.holds(ConfigMap), cache.holds(Secret)]).toEqual([true, true]);
    play.requests.clear();
    await play.applier.apply([map(namespace, 'a'), secret(namespace, 's')], options);
    expect(play.requests.all).toEqual([]);
    await play.applier.apply([], options);
    stop.abort();
  });

  test('a signal ends it, and what it has not begun is left', async () => {
    const namespace = await server().namespace();
    const stop = new AbortController();
    const options = { setId: uniqueName('set-'), concurrency: 1 };
    // With its first write: from outside one can come too late, as all fifty take but milliseconds.
    await using play = startApply(server(), options, ({ verb }) => {
      if (verb === 'patch') stop.abort('enough');
    });
    const applied = play.applier.apply(
      Array.from({ length: 50 }, (_, at) => map(namespace, `m-${at}`)),
      { signal: stop.signal },
    );
    await expect(applied).rejects.toBe('enough');
    expect(play.writes()).toBe(1);
    await play.applier.apply([]);
  });

  test('what cannot be in a set is refused before anything is sent', async () => {
    const applier = new Apply(server().client, { setId: uniqueName('set-'), lookup: 'given', runtime });
    const twice = [map('x', 'a'), map('x', 'a')];
    await expect(applier.apply(twice)).rejects.toThrow('ConfigMap x/a is a duplicate');
    const unnamed = ConfigMap({ metadata: { namespace: 'x', generateName: 'a-' } });
    await expect(applier.apply([unnamed])).rejects.toThrow('a ConfigMap has no metadata.name');
    await expect(new Apply(server().client, { runtime }).apply([])).rejects.toThrow(
      'a set requires setId, owner or both',
    );
  });
});
