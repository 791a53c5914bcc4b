import { control } from 'riata/controller';
import { ConfigMap, Deployment, Secret, Service } from 'riata/kinds';
import { equal, isControlledBy } from 'riata/object';
import { ignoreNotFound } from 'riata/rest';
import { App, app, appKey, type CorpusCase } from './corpus-case.js';

const finalizer = 'corpus.riata.dev/bucket';
const resize = (size: number) => ({ type: 'merge' as const, body: { spec: { size } } });

/** Bugs in how an operation continues that a crash, a restart or an outage interrupted. */
export const recovery: readonly CorpusCase[] = [
  {
    name: 'password of the process',
    bug: 'a password is drawn when the process starts, and written by every reconcile: each restart replaces it',
    faulty: () => {
      let password: string | undefined;
      return control(App)
        .owns(Secret)
        .reconcile(async ({ object, apply, clock }) => {
          password ??= `drawn-${clock.monotonic()}`;
          await apply(Secret({ metadata: { name: object.metadata.name }, stringData: { password } }));
        });
    },
    fixed: () =>
      control(App)
        .owns(Secret)
        .reconcile(async ({ object, client, apply }) => {
          const { name, uid } = object.metadata;
          const known = await client.find(Secret, appKey(name));
          if (known !== undefined && isControlledBy(known, object)) return;
          await apply(Secret({ metadata: { name }, stringData: { password: uid } }));
        }),
  },
  {
    name: 'upgrade stuck',
    bug: 'a phase in the status says that an upgrade runs, and everyone waits for it: a crash leaves nobody who runs it',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply, status }) => {
          const { name } = object.metadata;
          const { size } = object.spec;
          if (object.status?.phase === 'Upgrading') return;
          if ((await client.find(ConfigMap, appKey(name)))?.data?.size === String(size)) return;
          await status({ phase: 'Upgrading' });
          await apply(ConfigMap({ metadata: { name }, data: { size: String(size) } }));
          await status({ phase: 'Ready' });
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply, status }) => {
          const { name } = object.metadata;
          const { size } = object.spec;
          const isDone = (await client.find(ConfigMap, appKey(name)))?.data?.size === String(size);
          if (!isDone) {
            await status({ phase: 'Upgrading' });
            await apply(ConfigMap({ metadata: { name }, data: { size: String(size) } }));
          }
          await status({ phase: 'Ready' });
        }),
  },
  {
    name: 'finalizer added too late',
    bug: 'an external resource is made before the finalizer: an object that goes while the process is down leaks it',
    faulty: (cloud) =>
      control(App)
        .evenWhenGone()
        .reconcile(async ({ object, client }) => {
          if (object === undefined) return;
          const { name, deletionTimestamp, finalizers = [] } = object.metadata;
          if (deletionTimestamp !== undefined) {
            delete cloud[name];
            await client.patch(App, appKey(name), { type: 'merge', body: { metadata: { finalizers: [] } } });
            return;
          }
          cloud[name] = 'made';
          if (finalizers.includes(finalizer)) return;
          await client.patch(App, appKey(name), { type: 'merge', body: { metadata: { finalizers: [finalizer] } } });
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
    name: 'deleted in the wrong order',
    bug: 'the clean-up deletes the credentials first and then needs them: after a crash in between it fails for ever',
    faulty: (cloud) =>
      control(App)
        .finalize(async ({ object, client }) => {
          const { name } = object.metadata;
          const login = await client.get(Secret, appKey(name));
          await client.delete(Secret, login.metadata);
          await client.delete(ConfigMap, appKey(name)).catch(ignoreNotFound);
          delete cloud[name];
        })
        .reconcile(async ({ object, client }) => {
          const { name } = object.metadata;
          await client.apply(Secret({ metadata: appKey(name) }));
          await client.apply(ConfigMap({ metadata: appKey(name) }));
          cloud[name] = 'made';
        }),
    fixed: (cloud) =>
      control(App)
        .finalize(async ({ object, client }) => {
          const { name } = object.metadata;
          const login = await client.find(Secret, appKey(name));
          if (login !== undefined) delete cloud[name];
          await client.delete(ConfigMap, appKey(name)).catch(ignoreNotFound);
          // Last, as everything before needs it.
          await client.delete(Secret, appKey(name)).catch(ignoreNotFound);
        })
        .reconcile(async ({ object, client }) => {
          const { name } = object.metadata;
          await client.apply(Secret({ metadata: appKey(name) }));
          await client.apply(ConfigMap({ metadata: appKey(name) }));
          cloud[name] = 'made';
        }),
    story: async ({ client }) => {
      await client.create(app());
      await client.delete(App, appKey());
    },
  },
  {
    name: 'never updated',
    bug: 'a child gets its content when it is created: what the spec says later is ignored',
    faulty: () =>
      control(App)
        .owns(Deployment)
        .reconcile(async ({ object, client, apply }) => {
          const { name } = object.metadata;
          if ((await client.find(Deployment, appKey(name))) !== undefined) return;
          await apply(deployment(name, object.spec.size));
        }),
    fixed: () =>
      control(App)
        .owns(Deployment)
        .reconcile(async ({ object, apply }) => {
          await apply(deployment(object.metadata.name, object.spec.size));
        }),
    story: async ({ client }) => {
      await client.create(app());
      await client.patch(App, appKey(), resize(2));
    },
  },
  {
    name: 'status of another generation',
    bug: 'the status claims the newest generation, though the work was done for a cached one: the newest is skipped',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply, status }) => {
          const { name, generation } = object.metadata;
          if (object.status?.size === generation) return;
          await apply(ConfigMap({ metadata: { name }, data: { size: String(object.spec.size) } }));
          const { metadata } = await client.subresource('status').get<App>(App, appKey(name));
          await status({ size: metadata.generation as number });
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply, status }) => {
          const { name, generation } = object.metadata;
          await apply(ConfigMap({ metadata: { name }, data: { size: String(object.spec.size) } }));
          await status({ size: generation as number });
        }),
    story: async ({ client }) => {
      await client.create(app());
      await client.patch(App, appKey(), resize(2));
    },
  },
  {
    name: 'new object, old knowledge',
    bug: 'what was set up is remembered by name: an object that was deleted and created again is never set up',
    faulty: () => {
      const done = new Set<string>();
      return control(App)
        .evenWhenGone()
        .reconcile(async ({ object, key, client }) => {
          if (object === undefined) done.delete(key.name);
          else if (!done.has(key.name)) {
            await client.patch(App, appKey(key.name), {
              type: 'merge',
              body: { metadata: { labels: { ready: 'yes' } } },
            });
            done.add(key.name);
          }
        });
    },
    fixed: () =>
      control(App).reconcile(async ({ object, client }) => {
        if (object.metadata.labels?.ready === undefined)
          await client.patch(App, object.metadata, {
            type: 'merge',
            body: { metadata: { labels: { ready: 'yes' } } },
          });
      }),
    story: async ({ client }) => {
      await client.create(app());
      await client.delete(App, appKey());
      await client.create(app());
    },
  },
  {
    name: 'time counted by the process',
    bug: 'an object lives for an hour after the process saw it first: each restart begins another hour',
    faulty: () => {
      const seen = new Map<string, number>();
      return control(App).reconcile(async ({ object, status, clock }) => {
        const { name } = object.metadata;
        const since = seen.get(name) ?? clock.monotonic();
        seen.set(name, since);
        const leftMs = since + 3_600_000 - clock.monotonic();
        await status({ phase: leftMs > 0 ? 'Fresh' : 'Expired', size: object.spec.size });
        return leftMs > 0 ? { requeueAfter: `${leftMs}ms` as const } : undefined;
      });
    },
    fixed: () =>
      control(App).reconcile(async ({ object, status, clock }) => {
        const leftMs = Date.parse(object.metadata.creationTimestamp ?? '') + 3_600_000 - clock.now();
        await status({ phase: leftMs > 0 ? 'Fresh' : 'Expired', size: object.spec.size });
        return leftMs > 0 ? { requeueAfter: `${leftMs}ms` as const } : undefined;
      }),
    story: async ({ client, advance }) => {
      await client.create(app());
      await advance('50m');
      await client.patch(App, appKey(), resize(2));
      await advance('15m');
    },
  },
  {
    name: 'compared with defaults',
    bug: 'a Service is replaced unless its spec is the desired one: with the defaults of the server it never is',
    faulty: () =>
      control(App)
        .owns(Service)
        .reconcile(async ({ object, client, apply }) => {
          const { name } = object.metadata;
          const desired = Service({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
          const known = await client.find(Service, appKey(name));
          if (known !== undefined && !equal(known.spec, desired.spec))
            await client.delete(Service, appKey(name)).catch(ignoreNotFound);
          await apply(desired);
        }),
    fixed: () =>
      control(App)
        .owns(Service)
        .reconcile(async ({ object, apply }) => {
          await apply(Service({ metadata: { name: object.metadata.name }, spec: { ports: [{ port: 80 }] } }));
        }),
    story: ({ client }) => client.create(app()),
  },
];

function deployment(name: string, replicas: number) {
  const labels = { app: name };
  const spec = { containers: [{ name: 'web', image: 'web:1' }] };
  return Deployment({
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}
