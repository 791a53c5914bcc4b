import { Cache } from 'riata/cache';
import { ConfigMap, CustomResourceDefinition, Deployment, Job, Namespace, Secret } from 'riata/kinds';
import { makeKind } from 'riata/object';
import { isApplySetError, setMarks } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { map, names, secret, startApply } from './desired-set-play.js';
import { describeServers, rejection, uniqueName, until } from './servers.js';
import { watchesOf } from './shared-play.js';

describeServers('apply of a desired set', (server) => {
  test('makes, changes and deletes, and what is as wanted is not written', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    const first = await applier.apply([map(namespace, 'a'), map(namespace, 'b'), secret(namespace, 's')]);
    expect(names(first.created)).toEqual(['a', 'b', 's']);
    expect(play.writes()).toBe(3);
    const again = await applier.apply([map(namespace, 'a'), map(namespace, 'b'), secret(namespace, 's')]);
    expect(names(again.unchanged)).toEqual(['a', 'b', 's']);
    expect(play.writes()).toBe(0);
    const next = await applier.apply([map(namespace, 'a', { a: '2' }), map(namespace, 'c')]);
    expect([names(next.updated), names(next.created), names(next.deleted)]).toEqual([['a'], ['c'], ['b', 's']]);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ a: '2' });
    expect(await client.find(Secret, { namespace, name: 's' })).toBeUndefined();
  });

  test('wrangler#195: an empty set deletes, without an owner too', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    await play.applier.apply([map(namespace, 'a')]);
    expect(names((await play.applier.apply([])).deleted)).toEqual(['a']);
    expect(await play.client.find(ConfigMap, { namespace, name: 'a' })).toBeUndefined();
  });

  test('⚠ prune covers only known kinds: a process that never saw a kind finds what another left of it', async () => {
    const namespace = await server().namespace();
    const setId = uniqueName('set-');
    {
      await using before = startApply(server(), { setId, lookup: 'server' });
      await before.applier.apply([map(namespace, 'a'), secret(namespace, 's')]);
    }
    await using after = startApply(server(), { setId, lookup: 'server' });
    const { deleted, unchanged } = await after.applier.apply([map(namespace, 'a')]);
    expect([names(deleted), names(unchanged)]).toEqual([['s'], ['a']]);
    expect(after.writes()).toBe(1);
  });

  test('what others write is kept where the set does not speak of it, and undone where it does', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    await applier.apply([map(namespace, 'a', { ours: '1' })]);
    const body = { data: { ours: 'spoilt', theirs: '2' } };
    await client.patch(ConfigMap, { namespace, name: 'a' }, { type: 'merge', body });
    const { updated } = await applier.apply([map(namespace, 'a', { ours: '1' })]);
    expect(names(updated)).toEqual(['a']);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ ours: '1', theirs: '2' });
    await applier.apply([]);
  });

  test('rancher#35656: namespaces are filled in and left out as the scope of each kind requires', async () => {
    const namespace = await server().namespace();
    const name = uniqueName('ns-');
    await using play = startApply(server(), { setId: uniqueName('set-'), defaultNamespace: namespace });
    const { applier, client } = play;
    const misplaced = Namespace({ metadata: { name, namespace } });
    await applier.apply([ConfigMap({ metadata: { name: 'a' } }), misplaced]);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).metadata.namespace).toBe(namespace);
    expect((await client.get(Namespace, { name })).metadata.namespace).toBeUndefined();
    const refusal = await rejection(
      applier.apply([Namespace({ metadata: { name } })], { restrictClusterScoped: true }),
    );
    expect(refusal.message).toContain(`Namespace ${name} is cluster-scoped`);
    await applier.apply([]);
  });

  test('an owner: its identity is that of wrangler, it is found again, and orphans are purged', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: 'children' });
    const { applier, client } = play;
    const owner = await client.create(map(namespace, 'owner'));
    const { objects } = await applier.apply([map(namespace, 'child')], { owner });
    const child = objects[0]!;
    expect(child.metadata.annotations).toMatchObject({
      [setMarks.id]: 'children',
      [setMarks.ownerGvk]: '/v1, Kind=ConfigMap',
      [setMarks.ownerName]: 'owner',
      [setMarks.ownerNamespace]: namespace,
    });
    expect((await applier.findOwner(child))?.metadata.uid).toBe(owner.metadata.uid);
    expect(await applier.purgeOrphan(child)).toBe(false);
    await client.delete(ConfigMap, { namespace, name: 'owner' });
    expect(await applier.findOwner(child)).toBeUndefined();
    const purged = await applier.purgeOrphans({ ownerKind: ConfigMap, setId: 'children' });
    expect(names(purged)).toContain('child');
    expect(await client.find(ConfigMap, { namespace, name: 'child' })).toBeUndefined();
  });

  test('what says prune=false stays, as do kinds and sets that nothing is deleted of', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    const kept = ConfigMap({ metadata: { namespace, name: 'kept', labels: { [setMarks.prune]: 'false' } } });
    await applier.apply([kept, map(namespace, 'a'), secret(namespace, 's')]);
    expect(names((await applier.apply([], { noDelete: true })).deleted)).toEqual([]);
    expect(names((await applier.apply([], { noDeleteKinds: [Secret] })).deleted)).toEqual(['a']);
    expect(names((await applier.apply([])).deleted)).toEqual(['s']);
    expect(await client.find(ConfigMap, { namespace, name: 'kept' })).toBeDefined();
  });

  test('a definition comes before its objects, and goes after them', async () => {
    const namespace = await server().namespace();
    const group = `${uniqueName('g')}.riata.dev`;
    const Widget = makeKind({ group, version: 'v1', kind: 'Widget', plural: 'widgets', scope: 'Namespaced' });
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
    const crd = CustomResourceDefinition({
      metadata: { name: `widgets.${group}` },
      spec: {
        ...{ group, scope: 'Namespaced', names: { kind: 'Widget', plural: 'widgets' } },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    // As it comes from a file: no kind has built it.
    const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { namespace, name: 'w' }, spec: { size: 1 } };
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { created } = await play.applier.apply([widget, crd], { wait: true });
    expect(names(created)).toEqual(['w', `widgets.${group}`]);
    expect(await play.client.get(Widget, { namespace, name: 'w' })).toMatchObject({ spec: { size: 1 } });
    const { deleted } = await play.applier.apply([]);
    expect(deleted.map(({ kind }) => kind.kind)).toEqual(['Widget', 'CustomResourceDefinition']);
  });

  test('fleet#2834: a dry run lists the changes, field by field, and does nothing', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    await applier.apply([map(namespace, 'a', { x: '1', y: '1' }), map(namespace, 'gone'), secret(namespace, 's')]);
    await client.create(map(namespace, 'found', { theirs: '1' }));
    const desired = [
      ...[map(namespace, 'a', { x: '2', z: '1' }), map(namespace, 'new')],
      ...[secret(namespace, 's', 'hidden'), map(namespace, 'found', { ours: '1' })],
    ];
    const plan = await applier.dryRun(desired);
    expect(String(plan).split('\n')).toEqual([
      `update ConfigMap ${namespace}/a`,
      ...['  ~ data.x: "1" → "2"', '  - data.y: "1"', '  + data.z: "1"'],
      `create ConfigMap ${namespace}/new`,
      '  + data: {"a":"1"}',
      `update Secret ${namespace}/s`,
      '  ~ data.text',
      `update ConfigMap ${namespace}/found`,
      '  + data.ours: "1"',
      `delete ConfigMap ${namespace}/gone`,
      'unchanged: 0',
    ]);
    expect(names(plan.delete)).toEqual(['gone']);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ x: '1', y: '1' });
    expect(await client.find(ConfigMap, { namespace, name: 'new' })).toBeUndefined();
    await applier.apply(desired);
    expect((await applier.dryRun(desired)).isEmpty).toBe(true);
    await applier.apply([]);
  });

  test('from a cache: an unchanged set costs no request at all', async () => {
    const namespace = await server().namespace();
    const stop = new AbortController();
    await using play = startApply(server());
    await using cache = new Cache(play.client, { runtime: { log: silentLogger } });
    cache.use(ConfigMap, { namespaces: [namespace] });
    void cache.run({ signal: stop.signal });
    await cache.waitForCacheSync();
    const applier = play.applier.with({ setId: uniqueName('set-'), cache });
    const desired = [map(namespace, 'a'), map(namespace, 'b')];
    await applier.apply(desired);
    play.requests.clear();
    expect(names((await applier.apply(desired)).unchanged)).toEqual(['a', 'b']);
    expect(play.requests.all).toEqual([]);
    const refused = await rejection(applier.apply([secret(namespace, 's')], { caching: 'strict' }));
    expect(refused.message).toContain("caching is 'strict'");
    await applier.apply([]);
    stop.abort();
  });

  test('what fails is named, the rest is applied, and nothing is deleted', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    await applier.apply([map(namespace, 'a')]);
    const bad = map(`no-${namespace}`, 'bad');
    const error = await rejection(applier.apply([map(namespace, 'b'), bad]));
    expect(isApplySetError(error) && error.failures.map(({ member }) => member.name)).toEqual(['bad']);
    expect(error.message).toContain('1 objects that are no longer in the set are kept');
    expect(names((await client.list(ConfigMap, { namespace })).items.map(({ metadata }) => metadata))).toEqual(
      expect.arrayContaining(['a', 'b']),
    );
    const forced = await rejection(applier.apply([map(namespace, 'b'), bad], { pruneOnFailure: true }));
    expect(isApplySetError(forced) && names(forced.result.deleted)).toEqual(['a']);
    await applier.apply([]);
  });

  test('reconcilers, patchers, injectors and what is not compared', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    await applier.apply([map(namespace, 'a'), map(namespace, 'b'), map(namespace, 'c')]);
    const uid = (await client.get(ConfigMap, { namespace, name: 'a' })).metadata.uid;
    const sent: string[] = [];
    const result = await applier.apply(
      [map(namespace, 'a', { a: '2' }), map(namespace, 'b', { a: '2' }), map(namespace, 'c', { a: '2', clock: 'x' })],
      {
        reconcilers: [
          {
            kind: ConfigMap,
            use: (current) => (({ a: 'replace', b: 'done' }) as const)[current.metadata.name],
          },
        ],
        patchers: [
          {
            kind: ConfigMap,
            use: async (key, patch, context) => {
              sent.push(`${patch.type} ${key.name}`);
              return context.client.patch(ConfigMap, { namespace, name: key.name }, patch as never, {
                ...{ fieldManager: context.fieldManager, force: true },
              });
            },
          },
        ],
        diffPatches: [{ kind: ConfigMap, patch: [{ op: 'remove', path: '/data/clock' }] }],
        injectors: [(objects) => [...objects, map(namespace, 'injected')]],
      },
    );
    expect(names(result.replaced)).toEqual(['a']);
    expect(sent).toEqual(expect.arrayContaining(['apply a', 'apply c', 'apply injected']));
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).metadata.uid).not.toBe(uid);
    expect((await client.get(ConfigMap, { namespace, name: 'b' })).data).toEqual({ a: '1' });
    expect((await client.get(ConfigMap, { namespace, name: 'c' })).data).toEqual({ a: '2' });
    await applier.apply([]);
  });

  test('an object that is being deleted is recreated once it is gone', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    await applier.apply([ConfigMap({ metadata: { namespace, name: 'a', finalizers: ['riata.dev/hold'] } })]);
    await applier.apply([]);
    expect(names((await applier.apply([])).deleted)).toEqual([]);
    const applied = applier.apply([map(namespace, 'a')]);
    await until('it waits', async () => watchesOf(play.requests, ConfigMap) > 0);
    await client.patch(
      ConfigMap,
      { namespace, name: 'a' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    );
    expect(names((await applied).replaced)).toEqual(['a']);
    expect((await client.get(ConfigMap, { namespace, name: 'a' })).data).toEqual({ a: '1' });
    await applier.apply([]);
  });

  test('other sets’ objects are taken over, or refused where that is not wanted', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server());
    const [one, two] = [uniqueName('one-'), uniqueName('two-')];
    await play.applier.apply([map(namespace, 'a')], { setId: one });
    const refused = await rejection(play.applier.apply([map(namespace, 'a')], { setId: two, adopt: 'unowned' }));
    expect(refused.message).toContain('is in another set');
    await play.applier.apply([map(namespace, 'a')], { setId: two });
    // It has left the first set: that deletes it no more.
    expect(names((await play.applier.apply([], { setId: one })).deleted)).toEqual([]);
    expect(names((await play.applier.apply([], { setId: two })).deleted)).toEqual(['a']);
  });

  test('what the server calls immutable is replaced, and the plan says so', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier } = play;
    const job = (image: string) =>
      Job({
        metadata: { namespace, name: 'job' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image }] } } },
      });
    await applier.apply([job('one')]);
    expect((await applier.dryRun([job('two')])).update).toMatchObject([{ action: 'replace', name: 'job' }]);
    expect(names((await applier.apply([job('two')])).replaced)).toEqual(['job']);
    expect(names((await applier.apply([job('two')])).unchanged)).toEqual(['job']);
    await applier.apply([]);
  });

  test('waits until what it applied is ready, by the rules of kstatus', async () => {
    const namespace = await server().namespace();
    await using play = startApply(server(), { setId: uniqueName('set-') });
    const { applier, client } = play;
    const labels = { app: 'web' };
    const web = Deployment({
      metadata: { namespace, name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } },
      },
    });
    let isDone = false;
    const applied = applier.apply([web], { wait: true }).finally(() => {
      isDone = true;
    });
    await until('it is there', () => client.find(Deployment, { namespace, name: 'web' }));
    expect(isDone).toBe(false);
    const status = {
      ...{ observedGeneration: 1, replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 },
      conditions: [
        { type: 'Available', status: 'True' as const },
        { type: 'Progressing', status: 'True' as const, reason: 'NewReplicaSetAvailable' },
      ],
    };
    await client.status.patch(Deployment, { namespace, name: 'web' }, { type: 'merge', body: { status } });
    expect(names((await applied).created)).toEqual(['web']);
    const short = { timeout: '50ms', isReady: () => false } as const;
    const late = await rejection(applier.apply([web], { wait: short }));
    expect(late.message).toContain('wait Deployment.apps');
    await applier.apply([]);
  });
});
