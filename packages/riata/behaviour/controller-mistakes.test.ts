import { type ControllerDefinition, control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { defineKind, findCondition } from 'riata/object';
import { Apply, clearFinalizers, registerGeneratingHandler } from 'riata/patterns';
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

  test('a status that the server refuses: told in the status itself, with what stood there before', async () => {
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
    expect(run.log.messages()).not.toContain('the status could not be told of the failure');
  });

  test('a frozen object that is changed: how to do it, and where it was tried', async () => {
    const widgets = control(Widget).reconcile(({ object }) => {
      (object.spec as { size: number }).size = 7;
    });
    await using run = await running(() => widgets);
    const [first] = await until('it has failed', async () => run.failures().length > 0 && run.failures());
    expect(first?.hint).toContain('change a copy, edit(object');
    expect(first?.at).toContain('controller-mistakes.test.ts');
    expect((await run.widget()).spec.size).toBe(1);
  });

  test('what is applied and owned but not watched is told once; what is watched is not', async () => {
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
    const told = run.log.records.filter(({ message }) => message.startsWith('applies a kind that it does not watch'));
    expect(told).toMatchObject([{ level: 'info', fields: { controller: 'widget', kind: 'Secret' } }]);
    expect(told[0]?.message).toContain('say .owns(Secret)');
  });

  test('a clean-up that a newer version does not have any more: what waits for it is told', async () => {
    const { client } = server();
    const widgets = control(Widget).reconcile(() => {});
    await using run = await running(() => widgets);
    const finalizers = [`${Widget.group}/widget`];
    await client.patch(Widget, run.key, { type: 'merge', body: { metadata: { finalizers } } });
    await client.delete(Widget, run.key);
    const words = 'waits for a finalizer named after this controller';
    const [told] = await until('it is told', async () => {
      const found = run.log.records.filter(({ message }) => message.startsWith(words));
      return found.length > 0 && found;
    });
    expect(told).toMatchObject({ level: 'warn', fields: { controller: 'widget', finalizer: finalizers[0] } });
    await clearFinalizers(client, [Widget], { namespace: run.key.namespace, finalizers });
    await until('it is gone', async () => (await client.find(Widget, run.key)) === undefined);
  });

  test('a generating handler that returns nothing: told by the condition', async () => {
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
    expect(condition.message).toContain('generating handler "parts" wants to return { objects: […] }');
  });
});
