import type { StoryContext } from '@riata/testing';
import type { Client, FieldOwned } from 'riata/client';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { ignoreNotFound } from 'riata/rest';
import { App, app, appKey, type Cloud, type CorpusCase, namespace } from './corpus-case.js';

const created =
  (spec: Parameters<typeof app>[1]) =>
  ({ client }: StoryContext<Cloud>) =>
    client.create(app('shop', spec));

async function deleteOthers(client: Client<FieldOwned>, app: string, isKept: (name: string) => boolean): Promise<void> {
  const { items } = await client.list(ConfigMap, { namespace, labelSelector: `app=${app}` });
  for (const { metadata } of items) {
    if (!isKept(metadata.name)) await client.delete(ConfigMap, appKey(metadata.name)).catch(ignoreNotFound);
  }
}

/** Bugs that no fault shows, only a change of the spec that the story does not make. */
export const specChanges: readonly CorpusCase[] = [
  {
    name: 'field never unset',
    bug: 'an optional field is copied to a child when it is set, and never removed from it when it is unset',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { name } = object.metadata;
          const { target } = object.spec;
          const known = await client.find(ConfigMap, appKey(name));
          const data = { ...known?.data, ...(target !== undefined && { target }) };
          await apply(ConfigMap({ metadata: { name }, data }));
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          const { target } = object.spec;
          const data = { ...(target !== undefined && { target }) };
          await apply(ConfigMap({ metadata: { name: object.metadata.name }, data }));
        }),
    story: created({ size: 2 }),
    isChanged: true,
  },
  {
    name: 'order of a list',
    bug: 'a list is sorted when it is stored, and not when it is compared: in another order, the child is replaced without end',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { name } = object.metadata;
          const { hosts = [] } = object.spec;
          const known = await client.find(ConfigMap, appKey(name));
          const isOther = known !== undefined && known.data?.hosts !== hosts.join(' ');
          if (isOther) await client.delete(ConfigMap, appKey(name)).catch(ignoreNotFound);
          await apply(ConfigMap({ metadata: { name }, data: { hosts: [...hosts].sort().join(' ') } }));
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          const { hosts = [] } = object.spec;
          await apply(
            ConfigMap({ metadata: { name: object.metadata.name }, data: { hosts: [...hosts].sort().join(' ') } }),
          );
        }),
    story: created({ hosts: ['a.example.com', 'b.example.com'] }),
    isChanged: true,
  },
  {
    name: 'renamed child left',
    bug: 'the name of a child comes from the spec: when that changes, the child with the old name is left',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          await apply(ConfigMap({ metadata: { name: object.spec.target ?? 'none' } }));
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { name: app } = object.metadata;
          // As the server has it now: a stale spec would delete the child of the newest one.
          const { spec } = await client.subresource('status').get<App>(App, appKey(app));
          const kept = spec.target ?? 'none';
          await apply(ConfigMap({ metadata: { name: kept, labels: { app } } }));
          await deleteOthers(client, app, (name) => name === kept);
        }),
    story: created({ target: 'web' }),
    isChanged: true,
  },
  {
    name: 'scale-down ignored',
    bug: 'children are created up to the size, and those beyond it are not deleted when the size shrinks',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          const { name } = object.metadata;
          for (let at = 0; at < object.spec.size; at += 1)
            await apply(ConfigMap({ metadata: { name: `${name}-${at}` } }));
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, client, apply }) => {
          const { name: app } = object.metadata;
          const { spec } = await client.subresource('status').get<App>(App, appKey(app));
          const names = Array.from({ length: spec.size }, (_, at) => `${app}-${at}`);
          for (const name of names) await apply(ConfigMap({ metadata: { name, labels: { app } } }));
          await deleteOthers(client, app, (name) => names.includes(name));
        }),
    story: created({ size: 2 }),
    isChanged: true,
  },
  {
    name: 'zero not expected',
    bug: 'a value at the boundary of its range, which the schema allows, makes every reconcile fail',
    faulty: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          const { size } = object.spec;
          const members = Array.from({ length: size }, (_, at) => `member-${at}`);
          const data = { leader: (members[0] as string).toUpperCase() };
          await apply(ConfigMap({ metadata: { name: object.metadata.name }, data }));
        }),
    fixed: () =>
      control(App)
        .owns(ConfigMap)
        .reconcile(async ({ object, apply }) => {
          const data = { leader: object.spec.size === 0 ? 'none' : 'MEMBER-0' };
          await apply(ConfigMap({ metadata: { name: object.metadata.name }, data }));
        }),
    story: created({ size: 2 }),
    isChanged: true,
  },
];
