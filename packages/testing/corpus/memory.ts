import { control } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { controllerOf, setControllerReference, setOwnerReference } from 'riata/object';
import { ignoreAlreadyExists, ignoreNotFound } from 'riata/rest';
import { App, app, appKey, type CorpusCase, namespace } from './corpus-case.js';

const renames: NonNullable<CorpusCase['story']> = async ({ client }) => {
  await client.create(app('shop', { target: 'one' }));
  await client.patch(App, appKey(), { type: 'merge', body: { spec: { target: 'two' } } });
};

/** Bugs that need a restart or a missed event, as something is known in memory only. */
export const memory: readonly CorpusCase[] = [
  {
    name: 'missed delete',
    bug: 'the clean-up runs when the deletion is seen, without a finalizer: a process that is down then never runs it',
    faulty: (cloud) =>
      control(App)
        .evenWhenGone()
        .reconcile(({ object, key }) => {
          if (object === undefined) delete cloud[key.name];
          else cloud[key.name] = 'made';
        }),
    fixed: (cloud) =>
      control(App)
        .finalize(({ object }) => {
          delete cloud[object.metadata.name];
        })
        .reconcile(({ object }) => {
          cloud[object.metadata.name] = 'made';
        }),
  },
  {
    name: 'rename leak',
    bug: 'the old name is remembered in memory: after a restart the child of that name is never deleted',
    faulty: () => {
      const last = new Map<string, string>();
      return control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { name, namespace: place } = object.metadata;
          const { target = 'none' } = object.spec;
          const old = last.get(name);
          await apply(ConfigMap({ metadata: { name: target } }));
          if (old !== undefined && old !== target) {
            await client.delete(ConfigMap, { namespace: place, name: old }).catch(ignoreNotFound);
          }
          last.set(name, target);
        });
    },
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { target = 'none' } = object.spec;
          await apply(ConfigMap({ metadata: { name: target } }));
          const { items } = await client.list(ConfigMap, { namespace });
          for (const { metadata } of items.filter((each) => controllerOf(each)?.uid === object.metadata.uid)) {
            if (metadata.name !== target) await client.delete(ConfigMap, appKey(metadata.name)).catch(ignoreNotFound);
          }
        }),
    story: renames,
  },
  {
    name: 'change seen in memory',
    bug: 'a restart of the application follows a change that is noticed by comparing with memory: a crash loses it',
    faulty: () => {
      const seen = new Map<string, number>();
      return control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          const { name } = object.metadata;
          const { size } = object.spec;
          const hasChanged = seen.has(name) && seen.get(name) !== size;
          seen.set(name, size);
          if (hasChanged) await apply(ConfigMap({ metadata: { name: `restart-${size}` } }));
        });
    },
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          // What the application runs with is on the object: a difference is a restart, whenever it is noticed.
          await apply(ConfigMap({ metadata: { name: 'restart' }, data: { size: String(object.spec.size) } }));
        }),
    story: async ({ client }) => {
      await client.create(app());
      await client.patch(App, appKey(), { type: 'merge', body: { spec: { size: 2 } } });
    },
  },
  {
    name: 'steps in memory',
    bug: 'the steps of a set-up are counted in memory: after a restart they begin again and fail',
    faulty: () => {
      const steps = new Map<string, number>();
      return control(App).reconcile(async ({ object, client }) => {
        const { name } = object.metadata;
        const step = steps.get(name) ?? 0;
        const child = ConfigMap({ metadata: { namespace, name: `step-${step}` } });
        if (step < 2) await client.create(setControllerReference(object, child));
        steps.set(name, step + 1);
        return step < 2 ? { requeueAfter: '100ms' } : undefined;
      });
    },
    fixed: () =>
      control(App).reconcile(async ({ object, client }) => {
        for (const step of [0, 1]) {
          const child = ConfigMap({ metadata: { namespace, name: `step-${step}` } });
          if ((await client.find(ConfigMap, appKey(`step-${step}`))) !== undefined) continue;
          await client.create(setControllerReference(object, child)).catch(ignoreAlreadyExists);
        }
      }),
    story: ({ client }) => client.create(app()),
  },
  {
    name: 'owner without controller flag',
    bug: 'children have an owner that is not their controller: nobody notices when one is deleted, until a restart',
    faulty: () =>
      control(App)
        .owns(Secret)
        .reconcile(async ({ object, client }) => {
          const { name } = object.metadata;
          if ((await client.find(Secret, appKey(name))) !== undefined) return;
          await client.create(setOwnerReference(object, Secret({ metadata: appKey(name) })));
        }),
    fixed: () =>
      control(App)
        .owns(Secret)
        .reconcile(async ({ object, apply }) => {
          await apply(Secret({ metadata: { name: object.metadata.name } }));
        }),
    story: async ({ client }) => {
      await client.create(app());
      await client.delete(Secret, appKey()).catch(ignoreNotFound);
    },
  },
];
