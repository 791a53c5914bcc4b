import { control } from 'riata/controller';
import { ClusterRole, ConfigMap, Secret } from 'riata/kinds';
import { controllerOf } from 'riata/object';
import { ignoreNotFound } from 'riata/rest';
import { App, app, appKey, type CorpusCase, namespace } from './corpus-case.js';

/** By hand, as what Riata offers refuses some owners. */
const ownedBy = ({ apiVersion, kind, metadata }: App) => ({
  ...{ apiVersion, kind, name: metadata.name, uid: metadata.uid },
  controller: true,
});

/** Bugs about whose an object is: who may change it, and who deletes it. */
export const ownership: readonly CorpusCase[] = [
  {
    name: 'selector too wide',
    bug: 'the clean-up deletes by a label that several objects share: the children of the others go, too',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .finalize(async ({ object, client }) => {
          const { items } = await client.list(ConfigMap, {
            namespace,
            labelSelector: `target=${object.spec.target}`,
          });
          for (const { metadata } of items) await client.delete(ConfigMap, metadata).catch(ignoreNotFound);
        })
        .reconcile(async ({ object, apply }) => {
          const { target = 'none' } = object.spec;
          await apply(ConfigMap({ metadata: { name: object.metadata.name, labels: { target } } }));
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .finalize(async ({ object, client }) => {
          const { items } = await client.list(ConfigMap, {
            namespace,
            labelSelector: `target=${object.spec.target}`,
          });
          for (const each of items.filter((item) => controllerOf(item)?.uid === object.metadata.uid)) {
            await client.delete(ConfigMap, each.metadata).catch(ignoreNotFound);
          }
        })
        .reconcile(async ({ object, apply }) => {
          const { target = 'none' } = object.spec;
          await apply(ConfigMap({ metadata: { name: object.metadata.name, labels: { target } } }));
        }),
    story: async ({ client }) => {
      await client.create(app('one', { target: 'web' }));
      await client.create(app('two', { target: 'web' }));
      await client.delete(App, appKey('one'));
    },
  },
  {
    name: 'adopted by accident',
    bug: 'an object of the same name that a user made is taken over: it is deleted with its new owner',
    faulty: () =>
      control(App).reconcile(async ({ object, client }) => {
        const ownerReferences = [ownedBy(object)];
        const known = await client.find(ConfigMap, appKey());
        if (known === undefined) await client.create(ConfigMap({ metadata: { ...appKey(), ownerReferences } }));
        else if (controllerOf(known) === undefined)
          await client.patch(ConfigMap, appKey(), { type: 'merge', body: { metadata: { ownerReferences } } });
      }),
    fixed: () =>
      control(App).reconcile(async ({ object, client, status }) => {
        const known = await client.find(ConfigMap, appKey());
        if (known !== undefined && controllerOf(known)?.uid !== object.metadata.uid) {
          await status({ phase: 'NameTaken' });
          return;
        }
        const ownerReferences = [ownedBy(object)];
        if (known === undefined) await client.create(ConfigMap({ metadata: { ...appKey(), ownerReferences } }));
        await status({ phase: 'Ready' });
      }),
    story: async ({ client }) => {
      await client.create(ConfigMap({ metadata: appKey(), data: { by: 'hand' } }));
      await client.create(app());
      await client.delete(App, appKey());
    },
  },
  {
    name: 'owner in a namespace',
    bug: 'a cluster-scoped child names a namespaced owner: the garbage collector never deletes it',
    faulty: () =>
      control(App).reconcile(async ({ object, client }) => {
        const ownerReferences = [ownedBy(object)];
        await client.apply(ClusterRole({ metadata: { name: object.metadata.name, ownerReferences } }));
      }),
    fixed: () =>
      control(App)
        .finalize(async ({ object, client }) => {
          await client.delete(ClusterRole, { name: object.metadata.name }).catch(ignoreNotFound);
        })
        .reconcile(async ({ object, client }) => {
          await client.apply(ClusterRole({ metadata: { name: object.metadata.name } }));
        }),
  },
  {
    name: 'two controllers, one field',
    bug: 'two controllers write the same field, each as it sees fit, and wake each other without end',
    faulty: () =>
      ['blue', 'green'].map((color) =>
        control(App, { name: color })
          .watches(ConfigMap, ({ metadata }) => [appKey(metadata.name)])
          .reconcile(async ({ object, client }) => {
            const key = appKey(object.metadata.name);
            const known = await client.find(ConfigMap, key);
            if (known?.data?.color === color) return;
            const ownerReferences = [ownedBy(object)];
            const wanted = ConfigMap({ metadata: { ...key, ownerReferences }, data: { color } });
            await client.apply(wanted, { force: true });
          }),
      ),
    fixed: () =>
      ['blue', 'green'].map((color) =>
        control(App, { name: color })
          .owns(ConfigMap)
          .reconcile(async ({ object, apply }) => {
            // Each has a field of its own.
            await apply(ConfigMap({ metadata: { name: object.metadata.name }, data: { [color]: 'on' } }));
          }),
      ),
    story: ({ client }) => client.create(app()),
  },
  {
    name: 'reference not watched',
    bug: 'a Secret that the spec names is read and not watched: what is made later, or rotated, is not noticed',
    faulty: () =>
      control(App).reconcile(async ({ object, client, status }) => {
        const secret = await client.find(Secret, appKey(object.spec.target ?? 'none'));
        await status({ phase: secret?.data?.token ?? 'Missing' });
      }),
    fixed: () =>
      control(App)
        .watches(Secret, ({ metadata }) => (metadata.name === 'login' ? [appKey()] : []))
        .reconcile(async ({ object, client, status }) => {
          const secret = await client.find(Secret, appKey(object.spec.target ?? 'none'));
          await status({ phase: secret?.data?.token ?? 'Missing' });
        }),
    story: async ({ client }) => {
      await client.create(app('shop', { target: 'login' }));
      await client.create(Secret({ metadata: appKey('login'), data: { token: 'b25l' } }));
      await client.patch(Secret, appKey('login'), { type: 'merge', body: { data: { token: 'dHdv' } } });
    },
  },
];
