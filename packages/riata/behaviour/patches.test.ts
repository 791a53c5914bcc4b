import { type Client, strategicMergeFrom } from 'riata/client';
import { ConfigMap, Deployment } from 'riata/kinds';
import { edit } from 'riata/object';
import { isBadRequest, isConflict, isInvalid, isNotFound } from 'riata/rest';
import { expect, test } from 'vitest';
import { describeServers, rejection } from './servers.js';

const labels = { app: 'web' };

describeServers('patches', (server) => {
  test('JSON patch: all operations; a failed test changes nothing', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const data = { a: '1', e: '3' };
    const annotations = { 'x.dev/a': '2' };
    const { metadata } = await client.create(ConfigMap({ metadata: { namespace, name: 'a', annotations }, data }));
    const patched = await client.patch(ConfigMap, metadata, {
      type: 'json',
      body: [
        { op: 'test', path: '/data/a', value: '1' },
        { op: 'add', path: '/data/new', value: 'x' },
        { op: 'replace', path: '/data/a', value: 'y' },
        { op: 'copy', from: '/data/a', path: '/data/copied' },
        { op: 'move', from: '/data/e', path: '/data/moved' },
        { op: 'remove', path: '/metadata/annotations/x.dev~1a' },
      ],
    });
    expect(patched.data).toEqual({ a: 'y', new: 'x', copied: 'y', moved: '3' });
    expect(patched.metadata.annotations).toBeUndefined();
    const failing = client.patch(ConfigMap, metadata, {
      type: 'json',
      body: [
        { op: 'replace', path: '/data/a', value: 'z' },
        { op: 'test', path: '/data/new', value: 'not it' },
      ],
    });
    await expect(failing).rejects.toSatisfy(isInvalid);
    expect((await client.get(ConfigMap, metadata)).data).toEqual(patched.data);
    const broken = client.patch(ConfigMap, metadata, { type: 'json', body: { op: 'x' } as never });
    await expect(broken).rejects.toSatisfy(isBadRequest);
  });

  test('merge patch: null removes, lists are replaced, unknown objects are NotFound', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const metadata = { namespace, name: 'a', labels: { a: '1', b: '2' }, finalizers: ['x.dev/a', 'x.dev/b'] };
    const made = await client.create(ConfigMap({ metadata, data: { a: '1', b: '2' } }));
    const patched = await client.patch(ConfigMap, made.metadata, {
      type: 'merge',
      body: { metadata: { labels: { a: null }, finalizers: ['x.dev/c'] }, data: { b: null, c: '3' } },
    });
    expect(patched).toMatchObject({
      metadata: { labels: { b: '2' }, finalizers: ['x.dev/c'] },
      data: { a: '1', c: '3' },
    });
    expect(patched.metadata.labels).toEqual({ b: '2' });
    expect(patched.data).toEqual({ a: '1', c: '3' });
    const cleared = await client.patch(ConfigMap, made.metadata, {
      type: 'merge',
      body: { metadata: { finalizers: null }, data: null },
    });
    expect(cleared.data).toBeUndefined();
    expect(cleared.metadata.finalizers).toBeUndefined();
    const missing = client.patch(ConfigMap, { namespace, name: 'b' }, { type: 'merge', body: { data: { a: '1' } } });
    await expect(missing).rejects.toSatisfy(isNotFound);
  });

  test('strategic: lists merge by key, $patch: delete and replace, $setElementOrder, $retainKeys', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await deployment(client, namespace);
    const patch = (spec: object) =>
      client.patch(Deployment, { namespace, name: 'web' }, { type: 'strategic', body: { spec } });
    const containers = (list: readonly object[], more: object = {}) => ({
      template: { spec: { ...more, containers: list } },
    });
    const names = (d: Awaited<ReturnType<typeof patch>>) => d.spec?.template.spec?.containers.map((c) => c.name);

    const merged = await patch(containers([{ name: 'web', image: 'web:2' }]));
    expect(merged.spec?.template.spec?.containers).toMatchObject([
      { name: 'web', image: 'web:2', env: [{ name: 'A' }, { name: 'B' }] },
      { name: 'side', image: 'side:1' },
    ]);
    const added = await patch(
      containers([{ name: 'third', image: 'third:1' }], {
        '$setElementOrder/containers': [{ name: 'third' }, { name: 'side' }, { name: 'web' }],
      }),
    );
    expect(names(added)).toEqual(['third', 'side', 'web']);
    const removed = await patch(containers([{ name: 'side', $patch: 'delete' }]));
    expect(names(removed)).toEqual(['third', 'web']);
    const replacedEnv = [{ $patch: 'replace' }, { name: 'C', value: '3' }];
    const env = await patch(containers([{ name: 'web', env: replacedEnv }]));
    expect(env.spec?.template.spec?.containers.find((c) => c.name === 'web')?.env).toEqual([{ name: 'C', value: '3' }]);
    const replaced = await patch(containers([{ $patch: 'replace' }, { name: 'only', image: 'only:1' }]));
    expect(names(replaced)).toEqual(['only']);
    const strategy = await patch({ strategy: { $retainKeys: ['type'], type: 'Recreate' } });
    expect(strategy.spec?.strategy).toEqual({ type: 'Recreate' });
    const primitive = await client.patch(
      Deployment,
      { namespace, name: 'web' },
      {
        type: 'strategic',
        body: { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.dev/a'], finalizers: ['x.dev/c'] } },
      },
    );
    expect([...(primitive.metadata.finalizers ?? [])].sort()).toEqual(['x.dev/b', 'x.dev/c']);
  });

  test('strategicMergeFrom changes one element of a list; with the lock an old state is a conflict', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const before = await deployment(client, namespace);
    const after = edit(before, (draft) => {
      draft.spec!.template.spec!.containers[1]!.image = 'side:2';
    });
    await client.patch(Deployment, before.metadata, {
      type: 'strategic',
      body: { spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } } },
    });
    const locked = strategicMergeFrom(before, after, { optimisticLock: true });
    await expect(client.patch(Deployment, before.metadata, locked)).rejects.toSatisfy(isConflict);
    const patched = await client.patch(Deployment, before.metadata, strategicMergeFrom(before, after));
    expect(patched.spec?.template.spec?.containers.map((c) => c.image)).toEqual(['web:2', 'side:2']);
  });

  test('apply patch sent as such: made if missing, with a manager or not at all', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { a: '1' } };
    const key = { namespace, name: 'a' };
    await expect(client.patch(ConfigMap, key, { type: 'apply', body })).rejects.toThrow('the field manager is missing');
    const made = await client.patch(ConfigMap, key, { type: 'apply', body }, { fieldManager: 'me' });
    expect(made.data).toEqual({ a: '1' });
    expect(made.metadata.managedFields).toMatchObject([{ manager: 'me', operation: 'Apply' }]);
  });

  test('a patch that makes no sense to the kind is refused with the field', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { metadata } = await deployment(client, namespace);
    const error = await rejection(
      client.patch(Deployment, metadata, { type: 'merge', body: { spec: { replicas: 'many' as never } } }),
    );
    expect(error.message).toMatch(/replicas/);
    const immutable = client.patch(Deployment, metadata, {
      type: 'merge',
      body: { spec: { selector: { matchLabels: { app: 'other' } } } },
    });
    await expect(immutable).rejects.toSatisfy(isInvalid);
  });
});

function deployment(client: Client, namespace: string) {
  const web = {
    name: 'web',
    image: 'web:1',
    env: [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ],
  };
  const template = { metadata: { labels }, spec: { containers: [web, { name: 'side', image: 'side:1' }] } };
  return client.create(
    Deployment({
      metadata: { namespace, name: 'web', finalizers: ['x.dev/a', 'x.dev/b'] },
      spec: { selector: { matchLabels: labels }, template },
    }),
  );
}
