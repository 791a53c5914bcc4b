import type { TestEnvironment } from '@riata/testing';
import { Cache } from 'riata/cache';
import { type ControllerDefinition, control, controllerFor, generationChanged, TerminalError } from 'riata/controller';
import { ConfigMap, Deployment, Secret } from 'riata/kinds';
import { defineKind, findCondition } from 'riata/object';
import { isNotFound } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { describeServers, uniqueName, until } from './servers.js';

/** A kind of a group that no other test has. */
function widgetKind() {
  return defineKind({
    group: `${uniqueName('c')}.riata.dev`,
    version: 'v1',
    kind: 'Widget',
    spec: z.object({ size: z.int().default(1), secretName: z.string().optional() }),
    status: z.object({ size: z.int() }),
  });
}

/** Runs controllers, with a cache of their own, until the block is left. */
async function running(server: TestEnvironment, ...definitions: readonly ControllerDefinition[]) {
  const connection = server.connect();
  const { client, requests } = connection;
  const cache = new Cache(client, { runtime: { log: silentLogger } });
  const stop = new AbortController();
  const runtime = { log: silentLogger };
  const controllers = await Promise.all(
    definitions.map((definition) => controllerFor(definition, { client, cache, runtime })),
  );
  const runs = [cache.run({ signal: stop.signal }), ...controllers.map((c) => c.run({ signal: stop.signal }))];
  return {
    ...{ controllers, cache, requests },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await Promise.all(runs);
      await connection.close();
    },
  };
}

/** For all tests: real servers take seconds until they serve a new one. */
const Widget = widgetKind();

describeServers('controller', (server) => {
  beforeAll(async () => {
    await server().install(Widget);
    server().keep();
  });

  test('an object gets what it owns and a status; then nothing more is written', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const widgets = control(Widget)
      .owns(ConfigMap)
      .reconcile(async ({ object: widget, apply, status }) => {
        const { name } = widget.metadata;
        await apply(ConfigMap({ metadata: { name }, data: { size: String(widget.spec.size) } }));
        await status({ size: widget.spec.size });
      });
    await using run = await running(server(), widgets);
    const made = await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: { size: 3 } }));
    const ready = await until('it is ready', async () => {
      const widget = await client.get(Widget, { namespace, name: 'w' });
      return findCondition(widget.status?.conditions, 'Ready')?.status === 'True' && widget;
    });
    expect(ready.status).toMatchObject({ size: 3, observedGeneration: made.metadata.generation });
    const owned = await client.get(ConfigMap, { namespace, name: 'w' });
    expect(owned).toMatchObject({
      data: { size: '3' },
      metadata: { ownerReferences: [{ uid: made.metadata.uid, controller: true }] },
    });
    await until(
      'all is quiet',
      async () => run.controllers[0]?.queue.len() === 0 && run.controllers[0]?.health.active.length === 0,
    );
    expect(run.requests.lines({ verb: 'write' })).toEqual([
      `patch ConfigMap ${namespace}/w`,
      `patch Widget ${namespace}/w/status`,
    ]);
    // Those that came after it because of its own writes had nothing to write.
    expect(run.controllers[0]?.explain.map(({ writes }) => writes.length).filter((count) => count > 0)).toEqual([2]);
    const settled = await client.get(Widget, { namespace, name: 'w' });
    expect(settled.metadata.resourceVersion).toBe(ready.metadata.resourceVersion);
    await client.patch(Widget, { namespace, name: 'w' }, { type: 'merge', body: { spec: { size: 5 } } });
    await until(
      'the change has arrived',
      async () => (await client.get(ConfigMap, { namespace, name: 'w' })).data?.size === '5',
    );
    await client.delete(ConfigMap, { namespace, name: 'w' });
    await until('it is made anew', async () => client.find(ConfigMap, { namespace, name: 'w' }));
    const [first] = run.controllers[0]?.explain ?? [];
    expect(first).toMatchObject({ key: { namespace, name: 'w' }, outcome: 'success', attempt: 1 });
    expect(first?.reasons).toMatchObject([{ source: 'for Widget', change: 'Added', object: `Widget ${namespace}/w` }]);
    expect(first?.writes).toMatchObject([
      { object: `ConfigMap ${namespace}/w` },
      { object: `Widget ${namespace}/w/status` },
    ]);
  });

  test('a failure is said in the status, and taken back', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    let isBroken = true;
    const widgets = control(Widget).reconcile(async () => {
      if (isBroken) throw new TerminalError('the moon is not full');
    });
    await using _run = await running(server(), widgets);
    await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: {} }));
    const ready = async () =>
      findCondition((await client.get(Widget, { namespace, name: 'w' })).status?.conditions, 'Ready');
    const failed = await until('it has failed', async () => {
      const condition = await ready();
      return condition?.status === 'False' && condition;
    });
    expect(failed).toMatchObject({
      reason: 'ReconcileFailed',
      message: expect.stringContaining('the moon is not full'),
    });
    isBroken = false;
    await client.patch(Widget, { namespace, name: 'w' }, { type: 'merge', body: { spec: { size: 2 } } });
    await until('it is well again', async () => (await ready())?.status === 'True');
  });

  test('the status of a built-in kind: what is said, and nothing else', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const deployments = control(Deployment).reconcile(async ({ object, status }) => {
      const { generation = 0, namespace: place } = object.metadata;
      if (place !== namespace) return;
      const isPaused = object.spec?.paused === true;
      await status({
        replicas: object.spec?.replicas ?? 1,
        observedGeneration: generation,
        conditions: [{ type: 'Progressing', status: isPaused ? 'Unknown' : 'True', reason: 'Any' }],
      });
      if (object.spec?.minReadySeconds === 7) throw new Error('no luck');
    });
    await using _run = await running(server(), deployments);
    const metadata = { namespace, name: 'd' };
    const labels = { app: 'd' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'd', image: 'd' }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    await client.create(Deployment({ metadata, spec }));
    const said = (generation: number) =>
      until(`generation ${generation} was seen`, async () => {
        const { status } = await client.get(Deployment, metadata);
        return status?.observedGeneration === generation && status;
      });
    const first = await said(1);
    expect(first).toMatchObject({ replicas: 2, conditions: [{ type: 'Progressing', status: 'True', reason: 'Any' }] });
    await client.patch(Deployment, metadata, { type: 'merge', body: { spec: { minReadySeconds: 7 } } });
    expect((await said(2)).conditions).toEqual(first.conditions);
  });

  test('what is applied and not owned is in the same namespace, unless it names another', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const other = await server().namespace();
    const widgets = control(Widget)
      .reads(ConfigMap)
      .reconcile(async ({ apply, status }) => {
        await apply(ConfigMap({ metadata: { name: 'here' } }), { owned: false });
        await apply(ConfigMap({ metadata: { namespace: other, name: 'there' } }), { owned: false });
        await status({ size: 1 });
      });
    await using _run = await running(server(), widgets);
    await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: {} }));
    await until(
      'it was reconciled',
      async () => (await client.get(Widget, { namespace, name: 'w' })).status?.size === 1,
    );
    const here = await client.get(ConfigMap, { namespace, name: 'here' });
    expect(here.metadata.ownerReferences).toBeUndefined();
    expect(await client.find(ConfigMap, { namespace: other, name: 'there' })).toBeDefined();
  });

  test('all of what a reconciler gets can be spread into an object of its own', async () => {
    const namespace = await server().namespace();
    const seen: object[] = [];
    const widgets = control(Widget).reconcile(async (context) => {
      const own = { ...context, extra: 1 };
      seen.push(own);
      await own.client.find(ConfigMap, { namespace, name: 'none' });
      await own.status({ size: own.object.spec.size });
    });
    await using _run = await running(server(), widgets);
    await server().client.create(Widget({ metadata: { namespace, name: 'w' }, spec: {} }));
    await until('it is ready', async () => (await server().client.get(Widget, { namespace, name: 'w' })).status?.size);
    const names = ['apply', 'attempt', 'client', 'clock', 'event', 'key', 'log', 'object', 'priority', 'reasons'];
    expect(Object.keys(seen[0] ?? {}).sort()).toEqual(
      [...names, 'extra', 'reconcileID', 'signal', 'span', 'status'].sort(),
    );
    expect(Object.values(seen[0] ?? {})).not.toContain(undefined);
  });

  test('an object that goes while it is being reconciled is no failure', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const widgets = control(Widget).reconcile(async ({ object, client: own, status }) => {
      await own.delete(Widget, object.metadata);
      await status({ size: 1 });
    });
    await using run = await running(server(), widgets);
    await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: {} }));
    const [record] = await until('it was reconciled', async () => {
      const records = run.controllers[0]?.explain ?? [];
      return records.length > 0 && records;
    });
    expect(record).toMatchObject({ outcome: 'success', writes: [{ verb: 'delete' }] });
  });

  test('a finalizer is set before the first reconcile, and removed after the clean-up', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const order: string[] = [];
    const widgets = control(Widget)
      .finalize(({ object }) => void order.push(`clean ${object.metadata.name}`))
      .reconcile(({ object }) => void order.push(`${object.metadata.finalizers?.length} finalizer`));
    await using _run = await running(server(), widgets);
    await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: {} }));
    await until('it was reconciled', async () => order.length > 0);
    await client.delete(Widget, { namespace, name: 'w' });
    await until('it is gone', async () => client.get(Widget, { namespace, name: 'w' }).then(() => false, isNotFound));
    expect(order.at(0)).toBe('1 finalizer');
    expect(order.filter((step) => step === 'clean w')).toHaveLength(1);
    expect(order.at(-1)).toBe('clean w');
  });

  test('what others refer to: they are reconciled when it changes', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const seen: string[] = [];
    const widgets = control(Widget, { predicates: [generationChanged] })
      .watches(Secret, { referencedBy: (widget) => widget.spec.secretName })
      .reconcile(async ({ object: widget, client: reader }) => {
        const name = widget.spec.secretName ?? 'none';
        const secret = await reader.find(Secret, { namespace, name });
        seen.push(`${widget.metadata.name} ${secret?.metadata.labels?.step}`);
      });
    await using _run = await running(server(), widgets);
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { secretName: 's' } }));
    await client.create(Widget({ metadata: { namespace, name: 'b' }, spec: { secretName: 'other' } }));
    await until('both were reconciled', async () => seen.length >= 2);
    await client.create(Secret({ metadata: { namespace, name: 's', labels: { step: '1' } } }));
    await until('a has seen it', async () => seen.includes('a 1'));
    await client.patch(
      Secret,
      { namespace, name: 's' },
      { type: 'merge', body: { metadata: { labels: { step: '2' } } } },
    );
    await until('a has seen the change', async () => seen.includes('a 2'));
    expect(seen.filter((line) => line.startsWith('b'))).toEqual(['b undefined']);
  });

  test('a write of one controller reaches the generationChanged of another one over the same cache', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const key = { namespace, name: 'w' };
    const seen: string[] = [];
    const grows = control(Widget, { name: 'grows' }).reconcile(async ({ object: widget, client: own }) => {
      if (widget.spec.size !== 1) return;
      await until('the other one has seen the first state', async () => seen.includes('told 1'));
      await own.patch(Widget, key, { type: 'merge', body: { spec: { size: 2 } } });
      // Read back: the write is laid over the cache before its event comes.
      seen.push(`read back ${(await own.get(Widget, key)).spec.size}`);
    });
    const watches = control(Widget, { name: 'watches', predicates: [generationChanged] }).reconcile(({ object }) => {
      seen.push(`told ${object.spec.size}`);
    });
    await using _run = await running(server(), grows, watches);
    await client.create(Widget({ metadata: key, spec: { size: 1 } }));
    await until('the other one is told of it', async () => seen.includes('told 2'));
    expect(seen).toContain('read back 2');
  });

  test('a forgotten await: the reconcile ends when all that it began has, and fails with it', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const widgets = control(Widget).reconcile(({ object, apply, status }) => {
      void status({ size: object.spec.size });
      if (object.spec.size === 2) void apply(ConfigMap({ metadata: { name: 'No_Such_Name' } }));
    });
    await using run = await running(server(), widgets);
    const [controller] = run.controllers;
    await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: {} }));
    await until(
      'the status is there',
      async () => (await client.get(Widget, { namespace, name: 'w' })).status?.size === 1,
    );
    await client.patch(Widget, { namespace, name: 'w' }, { type: 'merge', body: { spec: { size: 2 } } });
    const failed = await until('it has failed', async () =>
      controller?.explain.find(({ outcome }) => outcome === 'error'),
    );
    expect(failed.error).toContain('No_Such_Name');
  });

  test('several controllers of one kind, with one watch', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const seen = new Set<string>();
    const named = (name: string) => control(Widget, { name }).reconcile(() => void seen.add(name));
    await using run = await running(server(), named('one'), named('two'));
    await client.create(Widget({ metadata: { namespace, name: 'w' }, spec: {} }));
    await until('both have seen it', async () => seen.size === 2);
    expect(run.cache.health.map(({ kind }) => kind.kind)).toEqual(['Widget']);
  });

  test('a kind that is not served yet: it begins when it comes', async () => {
    const { client } = server();
    const Gadget = widgetKind();
    const namespace = await server().namespace();
    const seen: string[] = [];
    await using run = await running(
      server(),
      control(Gadget).reconcile(({ key }) => void seen.push(key.name)),
    );
    await until('it waits', async () => run.controllers[0]?.health.waitingFor.length === 1);
    await server().install(Gadget);
    await client.create(Gadget({ metadata: { namespace, name: 'w' }, spec: {} }));
    await until('it was reconciled', async () => seen.includes('w'));
  });
});
