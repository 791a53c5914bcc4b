import { type ControllerDefinition, control } from 'riata/controller';
import { ConfigMap, CustomResourceDefinition, Secret } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { defineKind, findCondition } from 'riata/object';
import { Apply, clearFinalizers, installCrds, registerGeneratingHandler } from 'riata/patterns';
import { memoryLogger, silentLogger } from 'riata/runtime';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startPatterns } from './patterns-play.js';
import { describeServers, uniqueName, until } from './servers.js';

const Widget = defineKind({
  group: `${uniqueName('mistakes')}.riata.dev`,
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int().default(1) }),
  status: z.object({ size: z.int() }),
});
type Status = { readonly size: number };

describeServers('what a controller does with mistakes of its author', (server) => {
  beforeAll(async () => {
    await server().install(Widget);
    server().keep();
  });

  /** A manager with a controller, a Widget for it, and what is logged. */
  async function running(make: (namespace: string) => ControllerDefinition) {
    const { client, config } = server();
    const namespace = await server().namespace();
    const log = memoryLogger();
    const manager = await Manager.create({ config, cache: { namespaces: [namespace] }, runtime: { log } });
    manager.add(make(namespace));
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    const key = { namespace, name: 'w' };
    await client.create(Widget({ metadata: key, spec: {} }));
    return {
      ...{ key, log },
      failures: () =>
        log.records.filter(({ message }) => message.startsWith('the reconcile failed')).map(({ fields }) => fields),
      widget: () => client.get(Widget, key),
      async [Symbol.asyncDispose]() {
        stop.abort();
        await ended;
        await manager[Symbol.asyncDispose]();
      },
    };
  }

  test('a status that the server refuses: reported in the status itself, with its previous values', async () => {
    const widgets = control(Widget).reconcile(async ({ object: { spec }, status }) => {
      await status({ size: spec.size === 2 ? 'many' : spec.size } as unknown as Status);
    });
    await using run = await running(() => widgets);
    await until('it is ready', async () => (await run.widget()).status?.size === 1);
    await server().client.patch(Widget, run.key, { type: 'merge', body: { spec: { size: 2 } } });
    const { status } = await until('the failure is told', async () => {
      const widget = await run.widget();
      return findCondition(widget.status?.conditions, 'Ready')?.status === 'False' && widget;
    });
    expect(status).toMatchObject({ size: 1, observedGeneration: 2 });
    expect(findCondition(status?.conditions, 'Ready')?.message).toContain('.status.size');
    expect(run.log.messages()).not.toContain('cannot report the failure in the status');
  });

  test('a call that is not awaited: named with its line, and the reconcile fails with it', async () => {
    const widgets = control(Widget, { name: 'forgetful' }).reconcile(({ object, client }) => {
      if (object.spec.size === 1)
        void client.create(ConfigMap({ metadata: { namespace: object.metadata.namespace, name: 'Bad_Name' } }));
    });
    await using run = await running(() => widgets);
    const [first] = await until('it has failed', async () => run.failures().length > 0 && run.failures());
    expect(first?.at).toContain('controller-mistakes.test.ts');
    const report = run.log.records.find(({ message }) => message.includes('without awaiting a call'));
    expect(report).toMatchObject({
      level: 'warn',
      fields: { controller: 'forgetful', key: `${run.key.namespace}/w`, state: 'pending' },
    });
    expect(report?.fields.call).toBe(`create ConfigMap ${run.key.namespace}/Bad_Name`);
    expect(report?.fields.at).toContain('controller-mistakes.test.ts');
  });

  test('an answer of the server names the line that asked for it', async () => {
    const widgets = control(Widget).reconcile(async ({ object, apply }) => {
      await apply(ConfigMap({ metadata: { name: object.metadata.name }, data: { size: 1 as unknown as string } }));
    });
    await using run = await running(() => widgets);
    const [first] = await until('it has failed', async () => run.failures().length > 0 && run.failures());
    expect(first?.at).toContain('controller-mistakes.test.ts');
  });

  test('a reconciler that wakes itself up: named, slowed down, and there for others at once', async () => {
    const sizes: number[] = [];
    const widgets = control(Widget, { name: 'restless' }).reconcile(async ({ object, client }) => {
      sizes.push(object.spec.size);
      const annotations = { 'example.com/runs': `${sizes.length}` };
      await client.patch(Widget, object.metadata, { type: 'merge', body: { metadata: { annotations } } });
    });
    await using run = await running(() => widgets);
    const reported = () => run.log.records.find(({ message }) => message.includes('wakes itself'));
    const record = await until('it is named', async () => reported());
    expect(record.fields).toMatchObject({ controller: 'restless', runs: 20, nextInMs: 100 });
    await until('it waits for seconds', async () => sizes.length > 25);
    await server().client.patch(Widget, run.key, { type: 'merge', body: { spec: { size: 2 } } });
    await until('the change is reconciled', async () => sizes.at(-1) === 2);
  });

  test('a definition without status.conditions: said once, with what to do, and all is well when it has been done', async () => {
    const Bare = defineKind({
      ...{ group: `${uniqueName('bare')}.riata.dev`, version: 'v1', kind: 'Bare' },
      ...{ spec: z.object({ size: z.int().default(1) }), status: z.object({ size: z.int() }) },
    });
    const crd = Bare.crd();
    const [version] = crd.spec.versions;
    const size = { type: 'object', properties: { size: { type: 'integer' } } };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: size, status: size } } };
    const versions = [{ ...version, schema }] as unknown as typeof crd.spec.versions;
    await server().install(
      CustomResourceDefinition({ metadata: { name: crd.metadata.name }, spec: { ...crd.spec, versions } }),
    );
    const tries = new Map<string, number>();
    const bares = control(Bare, { backoff: () => '100ms' }).reconcile(async ({ object, status }) => {
      const { name } = object.metadata;
      tries.set(name, (tries.get(name) ?? 0) + 1);
      await status({ size: object.spec.size });
    });
    await using run = await running(() => bares);
    const { client } = server();
    const { namespace } = run.key;
    for (const name of ['a', 'b']) await client.create(Bare({ metadata: { namespace, name }, spec: {} }));
    await until('both were tried often', async () => ['a', 'b'].every((name) => (tries.get(name) ?? 0) > 3));
    const reported = run.log.records.filter(({ level }) => level === 'error' || level === 'warn');
    const problem = `status of Bare: the installed CustomResourceDefinition ${crd.metadata.name} has no status.`;
    expect(reported.map(({ fields }) => String(fields.error))).toEqual([expect.stringContaining(problem)]);
    expect(String(reported[0]?.fields.error)).toContain('Bare needs status.conditions and status.observedGeneration');
    expect(String(reported[0]?.fields.error)).toContain('installCrds(client, [Bare])');
    await installCrds(client, [Bare]);
    await until('both are ready', async () => {
      const { items } = await client.list(Bare, { namespace });
      return items.every(({ status }) => findCondition(status?.conditions, 'Ready')?.status === 'True');
    });
  });

  test('a frozen object that is changed: how to do it, and where it was tried', async () => {
    const widgets = control(Widget).reconcile(({ object }) => {
      (object.spec as { size: number }).size = 7;
    });
    await using run = await running(() => widgets);
    const [first] = await until('it has failed', async () => run.failures().length > 0 && run.failures());
    expect(first?.hint).toContain('change a copy, with edit(object');
    expect(first?.at).toContain('controller-mistakes.test.ts');
    expect((await run.widget()).spec.size).toBe(1);
  });

  test('objects that are applied and owned but not watched are logged once; watched ones are not', async () => {
    let reconciles = 0;
    const widgets = control(Widget)
      .owns(ConfigMap)
      .reconcile(async ({ object, apply }) => {
        const { name } = object.metadata;
        await apply(ConfigMap({ metadata: { name }, data: { size: `${object.spec.size}` } }));
        await apply(Secret({ metadata: { name }, stringData: { size: `${object.spec.size}` } }));
        await apply(Secret({ metadata: { name: `${name}-free` } }), { owned: false });
        reconciles += 1;
      });
    await using run = await running(() => widgets);
    await until('it was reconciled', async () => reconciles > 0);
    const before = reconciles;
    await server().client.patch(Widget, run.key, { type: 'merge', body: { spec: { size: 2 } } });
    await until('it was reconciled again', async () => reconciles > before);
    const reported = run.log.records.filter(({ message }) =>
      message.startsWith('applies a kind that it does not watch'),
    );
    expect(reported).toMatchObject([{ level: 'info', fields: { controller: 'widget', kind: 'Secret' } }]);
    expect(reported[0]?.message).toContain('add .owns(Secret)');
  });

  test('a clean-up that a newer version no longer has: objects that wait for it are reported', async () => {
    const { client } = server();
    const widgets = control(Widget).reconcile(() => {});
    await using run = await running(() => widgets);
    const finalizers = [`${Widget.group}/widget`];
    await client.patch(Widget, run.key, { type: 'merge', body: { metadata: { finalizers } } });
    await client.delete(Widget, run.key);
    const words = 'waits for a finalizer named after this controller';
    const [reported] = await until('it is told', async () => {
      const found = run.log.records.filter(({ message }) => message.startsWith(words));
      return found.length > 0 && found;
    });
    expect(reported).toMatchObject({ level: 'warn', fields: { controller: 'widget', finalizer: finalizers[0] } });
    await clearFinalizers(client, [Widget], { namespace: run.key.namespace, finalizers });
    await until('it is gone', async () => (await client.find(Widget, run.key)) === undefined);
  });

  test('a generating handler that returns nothing: reported by the condition', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const apply = new Apply(play.client, { lookup: 'given', runtime: { log: silentLogger } });
    const options = { name: 'parts', condition: 'Made' };
    registerGeneratingHandler(play.controllers.for(Widget), apply, options, () => undefined as never);
    await play.controllers.start({ signal: play.signal });
    const key = { namespace, name: 'w' };
    await client.create(Widget({ metadata: key, spec: {} }));
    const condition = await until('it is told', async () => {
      const made = findCondition((await client.get(Widget, key)).status?.conditions, 'Made');
      return made?.status === 'False' && made;
    });
    expect(condition.message).toContain('generating handler "parts" must return { objects: […] }');
  });
});
