import { control } from 'riata/controller';
import { ConfigMap, PersistentVolumeClaim, Secret } from 'riata/kinds';
import { setControllerReference, setOwnerReference } from 'riata/object';
import { ignoreAlreadyExists, ignoreNotFound } from 'riata/rest';
import { App, app, appKey, type CorpusCase, namespace } from './corpus-case.js';

const claim = (metadata: { name: string } | { generateName: string }) =>
  PersistentVolumeClaim({
    metadata: { namespace, ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });

const finalizer = 'corpus.riata.dev/cloud';
const setFinalizers = (finalizers: readonly string[]) => ({
  type: 'merge' as const,
  body: { metadata: { finalizers } },
});

/** Bugs that need a crash between two writes, or an answer that is lost. */
export const crashes: readonly CorpusCase[] = [
  {
    name: 'orphaned claim',
    bug: 'the name of a created PersistentVolumeClaim is only in the status: a crash before that write orphans the claim',
    faulty: () =>
      control(App)
        .finalize(async ({ object, client }) => {
          const name = object.status?.child;
          if (name) await client.delete(PersistentVolumeClaim, appKey(name)).catch(ignoreNotFound);
        })
        .reconcile(async ({ object, client, status }) => {
          if (object.status?.child !== undefined) return;
          const made = await client.create(claim({ generateName: `${object.metadata.name}-` }));
          await status({ child: made.metadata.name });
        }),
    fixed: () =>
      control(App).reconcile(async ({ object, client, status }) => {
        const { name } = object.metadata;
        // With an owner: one that a process creates on the state from before a deletion has to go, too.
        if ((await client.find(PersistentVolumeClaim, appKey(name))) === undefined)
          await client.create(setOwnerReference(object, claim({ name })));
        await status({ child: name });
      }),
  },
  {
    name: 'finalizer removed too early',
    bug: 'the finalizer is removed before the external resource: a crash in between leaks the resource',
    faulty: (cloud) =>
      control(App).reconcile(async ({ object, client }) => {
        const { name, deletionTimestamp } = object.metadata;
        if (deletionTimestamp !== undefined) {
          await client.patch(App, appKey(name), setFinalizers([]));
          delete cloud[name];
          return;
        }
        await client.patch(App, appKey(name), setFinalizers([finalizer]));
        cloud[name] = 'made';
      }),
    fixed: (cloud) =>
      control(App)
        .finalize(({ object }) => {
          delete cloud[object.metadata.name];
        })
        .reconcile(({ object }) => {
          cloud[object.metadata.name] = 'made';
        }),
    story: async ({ client }) => {
      await client.create(app());
      await client.delete(App, appKey());
    },
  },
  {
    name: 'double create',
    bug: 'a child with a generated name is created unless the status names it: a crash in between creates another',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, status }) => {
          if (object.status?.child !== undefined) return;
          const child = ConfigMap({ metadata: { namespace, generateName: 'child-' } });
          const made = await client.create(setControllerReference(object, child));
          await status({ child: made.metadata.name });
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply, status }) => {
          await apply(ConfigMap({ metadata: { name: `child-${object.metadata.name}` } }));
          await status({ child: `child-${object.metadata.name}` });
        }),
  },
  {
    name: 'first child stands for all',
    bug: 'two children are created together if the first is missing: a crash in between never creates the second',
    faulty: () =>
      control(App)
        .owns(Secret)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { name } = object.metadata;
          if ((await client.find(Secret, appKey(name))) !== undefined) return;
          await apply(Secret({ metadata: { name } }));
          await apply(ConfigMap({ metadata: { name } }));
        }),
    fixed: () =>
      control(App)
        .owns(Secret)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          await apply(Secret({ metadata: { name: object.metadata.name } }));
          await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
        }),
  },
  {
    name: 'already exists is fatal',
    bug: 'a create whose answer was lost is tried again and fails for ever, as the object exists',
    faulty: () =>
      control(App).reconcile(async ({ object, client, status }) => {
        if (object.status?.phase !== undefined) return;
        await client.create(setControllerReference(object, ConfigMap({ metadata: { namespace, name: 'config' } })));
        await status({ phase: 'Ready' });
      }),
    fixed: () =>
      control(App).reconcile(async ({ object, client, status }) => {
        const config = setControllerReference(object, ConfigMap({ metadata: { namespace, name: 'config' } }));
        const isThere = (await client.find(ConfigMap, appKey('config'))) !== undefined;
        if (!isThere) await client.create(config).catch(ignoreAlreadyExists);
        await status({ phase: 'Ready' });
      }),
    story: ({ client }) => client.create(app()),
  },
  {
    name: 'not found is fatal',
    bug: 'the clean-up fails if the child is gone: after a crash the finalizer stays for ever',
    faulty: () =>
      control(App)
        .finalize(async ({ object, client }) => {
          await client.delete(Secret, appKey(object.metadata.name));
        })
        .reconcile(async ({ object, client }) => {
          const key = appKey(object.metadata.name);
          if ((await client.find(Secret, key)) === undefined) await client.apply(Secret({ metadata: key }));
        }),
    fixed: () =>
      control(App)
        .finalize(async ({ object, client }) => {
          await client.delete(Secret, appKey(object.metadata.name)).catch(ignoreNotFound);
        })
        .reconcile(async ({ object, client }) => {
          const key = appKey(object.metadata.name);
          if ((await client.find(Secret, key)) === undefined) await client.apply(Secret({ metadata: key }));
        }),
  },
  {
    name: 'status before work',
    bug: 'the status says that a generation is handled before the child is written: a crash in between skips it',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply, status }) => {
          const { size } = object.spec;
          if (object.status?.size === size) return;
          await status({ size });
          await apply(ConfigMap({ metadata: { name: object.metadata.name }, data: { size: String(size) } }));
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply, status }) => {
          const { size } = object.spec;
          await apply(ConfigMap({ metadata: { name: object.metadata.name }, data: { size: String(size) } }));
          await status({ size });
        }),
  },
  {
    name: 'charged twice',
    bug: 'an external call that is not idempotent is repeated if the write that records it is lost',
    faulty: (cloud) =>
      control(App).reconcile(async ({ object, status }) => {
        if (object.status?.phase === 'Charged') return;
        cloud.charges = `${Number(cloud.charges ?? 0) + 1}`;
        await status({ phase: 'Charged' });
      }),
    fixed: (cloud) =>
      control(App).reconcile(async ({ object, status }) => {
        // The cloud takes a charge with the same key once.
        cloud[`charge ${object.metadata.name}`] = '1';
        await status({ phase: 'Charged' });
      }),
    story: ({ client }) => client.create(app()),
  },
];
