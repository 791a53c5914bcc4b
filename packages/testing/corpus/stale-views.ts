import type { Client, FieldOwned } from 'riata/client';
import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { clone } from 'riata/object';
import { ignoreNotFound, isConflict } from 'riata/rest';
import { App, app, appKey, type CorpusCase, namespace } from './corpus-case.js';

const labelled = (name: string) => ConfigMap({ metadata: { ...appKey(name), labels: { app: 'shop' } } });
const registry = appKey('registry');
const namesIn = (list = '') => list.split(',').filter((name) => name !== '');

/** Has as many members as the size says. */
async function scale(client: Client<FieldOwned>, size: number): Promise<void> {
  for (const index of [1, 2, 3]) {
    const key = appKey(`member-${index}`);
    const isThere = (await client.find(Secret, key)) !== undefined;
    if (index <= size && !isThere) await client.create(Secret({ metadata: key }));
    if (index > size && isThere) await client.delete(Secret, key).catch(ignoreNotFound);
  }
}

const resized: NonNullable<CorpusCase['story']> = async ({ client }) => {
  await client.create(app());
  await client.patch(App, appKey(), { type: 'merge', body: { spec: { size: 2 } } });
};

/** Bugs that need a cache that is behind, events in another order, or a conflict. */
export const staleViews: readonly CorpusCase[] = [
  {
    name: 'status from a stale cache',
    bug: 'the status counts objects that are read but not watched: a late event is never counted',
    faulty: () =>
      control(App)
        .reads(ConfigMap)
        .reconcile(async ({ client, status }) => {
          const { items } = await client.list(ConfigMap, { namespace, labelSelector: 'app=shop' });
          await status({ size: items.length });
        }),
    fixed: () =>
      control(App)
        .watches(ConfigMap, ({ metadata }) => (metadata.labels?.app === undefined ? [] : [appKey(metadata.labels.app)]))
        .reconcile(async ({ client, status }) => {
          const { items } = await client.list(ConfigMap, { namespace, labelSelector: 'app=shop' });
          await status({ size: items.length });
        }),
    story: async ({ client }) => {
      await client.create(labelled('one'));
      await client.create(app());
    },
  },
  {
    name: 'partial list',
    bug: 'objects whose App is not in the cache are deleted, though the App is merely not seen yet',
    faulty: () =>
      control(ConfigMap)
        .reads(App)
        .reconcile(async ({ object, client }) => {
          const { labels, name } = object.metadata;
          if (labels?.app === undefined || (await client.find(App, appKey(labels.app))) !== undefined) return;
          await client.delete(ConfigMap, appKey(name)).catch(ignoreNotFound);
        }),
    fixed: () =>
      control(ConfigMap).reconcile(async ({ object, client }) => {
        // Not declared, so it is read from the server.
        const { labels, name } = object.metadata;
        if (labels?.app === undefined || (await client.find(App, appKey(labels.app))) !== undefined) return;
        await client.delete(ConfigMap, appKey(name)).catch(ignoreNotFound);
      }),
    story: async ({ client }) => {
      await client.create(app());
      await client.create(labelled('one'));
    },
  },
  {
    name: 'scale-down on a stale size',
    bug: 'members beyond the size are deleted: a process that restarts on the state from before a scale-up deletes data',
    faulty: () =>
      control(App)
        .finalize(({ client }) => scale(client, 0))
        .reconcile(({ object, client }) => scale(client, object.spec.size)),
    fixed: () =>
      control(App)
        .finalize(({ client }) => scale(client, 0))
        .reconcile(async ({ object, client }) => {
          // Data is only deleted for what the server says now.
          const { spec } = await client.subresource('status').get<App>(App, appKey(object.metadata.name));
          await scale(client, spec.size);
        }),
    story: resized,
  },
  {
    name: 'lost update',
    bug: 'a list that others write too is read from the cache and written back without a resourceVersion',
    faulty: () =>
      control(App)
        .reads(ConfigMap)
        .reconcile(async ({ object, client }) => {
          const names = namesIn((await client.find(ConfigMap, registry))?.data?.names);
          const { name } = object.metadata;
          if (names.includes(name)) return;
          const body = { data: { names: [...names, name].join(',') } };
          await client.patch(ConfigMap, registry, { type: 'merge', body });
        }),
    fixed: () =>
      control(App)
        .reads(ConfigMap)
        .reconcile(async ({ object, client }) => {
          const stored = clone(await client.get(ConfigMap, registry));
          const names = namesIn(stored.data?.names);
          if (names.includes(object.metadata.name)) return;
          await client.update({ ...stored, data: { names: [...names, object.metadata.name].join(',') } });
        }),
    story: async ({ client }) => {
      await client.create(ConfigMap({ metadata: registry, data: { names: '' } }));
      await client.create(app('one'));
      await client.patch(ConfigMap, registry, { type: 'merge', body: { data: { names: 'one,by-hand' } } });
      await client.create(app('two'));
    },
  },
  {
    name: 'conflict swallowed',
    bug: "a conflict is taken for success: the controller's own change is never made",
    faulty: () =>
      control(App).reconcile(async ({ object, client }) => {
        if (object.metadata.labels?.managed !== undefined) return;
        const labels = { ...object.metadata.labels, managed: 'true' };
        await client
          .update({ ...clone(object), metadata: { ...clone(object.metadata), labels } })
          .catch((error: unknown) => {
            if (!isConflict(error)) throw error;
          });
      }),
    fixed: () =>
      control(App).reconcile(async ({ object, client }) => {
        if (object.metadata.labels?.managed !== undefined) return;
        const labels = { ...object.metadata.labels, managed: 'true' };
        await client.update({ ...clone(object), metadata: { ...clone(object.metadata), labels } });
      }),
    story: ({ client }) => client.create(app()),
  },
];
