import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { App, app, appKey, type CorpusCase } from './corpus-case.js';

/** Bugs that a failed request shows, or a close look at the run without faults. */
export const alwaysWrong: readonly CorpusCase[] = [
  {
    name: 'error swallowed',
    bug: 'a failed write is caught and forgotten: nothing tries again',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          await apply(ConfigMap({ metadata: { name: object.metadata.name } })).catch(() => {});
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
        }),
    story: ({ client }) => client.create(app()),
  },
  {
    name: 'failed for ever',
    bug: 'a transient failure is recorded in the status, and the status keeps the controller from trying again',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply, status }) => {
          if (object.status?.phase === 'Failed') return;
          const phase = await apply(ConfigMap({ metadata: { name: object.metadata.name } })).then(
            () => 'Ready',
            () => 'Failed',
          );
          await status({ phase });
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply, status }) => {
          await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
          await status({ phase: 'Ready' });
        }),
    story: ({ client }) => client.create(app()),
  },
  {
    name: 'hot loop',
    bug: 'every reconcile writes a new value to its own object, which wakes the controller again',
    faulty: () =>
      control(App).reconcile(async ({ object, status }) => {
        await status({ size: (object.status?.size ?? 0) + 1 });
      }),
    fixed: () =>
      control(App).reconcile(async ({ object, status }) => {
        await status({ size: object.spec.size });
      }),
    story: ({ client }) => client.create(app()),
  },
  {
    name: 'write in the steady state',
    bug: 'every pass writes, though nothing has changed: a thousand objects make a thousand writes per resync',
    faulty: () =>
      control(App).reconcile(async ({ object, client, clock }) => {
        const metadata = appKey(`seen-${object.metadata.name}`);
        await client.apply(Secret({ metadata, stringData: { at: String(clock.monotonic()) } }));
        await client.delete(Secret, metadata);
      }),
    fixed: () =>
      control(App)
        .owns(Secret)
        .reconcile(async ({ object, apply }) => {
          await apply(Secret({ metadata: { name: `seen-${object.metadata.name}` } }));
        }),
    story: ({ client }) => client.create(app()),
  },
  {
    name: 'child without an owner',
    bug: 'a child has no owner and nobody deletes it',
    faulty: () =>
      control(App).reconcile(async ({ object, client }) => {
        await client.apply(Secret({ metadata: appKey(object.metadata.name) }));
      }),
    fixed: () =>
      control(App)
        .owns(Secret)
        .reconcile(async ({ object, apply }) => {
          await apply(Secret({ metadata: { name: object.metadata.name } }));
        }),
  },
  {
    name: 'finalizer left',
    bug: 'a child gets a finalizer that nobody removes: it is never deleted',
    faulty: () =>
      control(App)
        .owns(Secret)
        .reconcile(async ({ object, apply }) => {
          await apply(Secret({ metadata: { name: object.metadata.name, finalizers: ['corpus.riata.dev/keep'] } }));
        }),
    fixed: () =>
      control(App)
        .owns(Secret)
        .reconcile(async ({ object, apply }) => {
          await apply(Secret({ metadata: { name: object.metadata.name } }));
        }),
  },
  {
    name: 'two owners',
    bug: 'the name of a child comes from the spec: two objects that name the same child fight over it',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { target: name = 'none', size } = object.spec;
          const data = { size: String(size) };
          if ((await client.find(ConfigMap, appKey(name))) === undefined)
            await apply(ConfigMap({ metadata: { name }, data }));
          else await client.patch(ConfigMap, appKey(name), { type: 'merge', body: { data } });
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          const { target = 'none', size } = object.spec;
          const name = `${object.metadata.name}-${target}`;
          await apply(ConfigMap({ metadata: { name }, data: { size: String(size) } }));
        }),
    story: async ({ client }) => {
      await client.create(app('one', { target: 'web' }));
      await client.create(app('two', { target: 'web' }));
    },
  },
];
