import { inNamespace } from 'riata/client';
import { ConfigMap, Deployment, Namespace, Pod } from 'riata/kinds';
import { edit } from 'riata/object';
import { isAlreadyExists, isConflict, isNotFound } from 'riata/rest';
import { expect, test } from 'vitest';
import { describeServers } from './servers.js';

describeServers('verbs', (server) => {
  test('a ConfigMap: create, get, find, list, update, delete', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { z: '1', b: '2' } }));
    expect(made.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { z: '1', b: '2' } });
    expect(await client.get(ConfigMap, { namespace, name: 'a' })).toEqual(made);
    expect(await client.find(ConfigMap, { namespace, name: 'b' })).toBeUndefined();
    await expect(client.get(ConfigMap, { namespace, name: 'b' })).rejects.toSatisfy(isNotFound);
    await expect(client.create(ConfigMap({ metadata: { namespace, name: 'a' } }))).rejects.toSatisfy(isAlreadyExists);

    const list = await client.list(ConfigMap, { namespace });
    expect(list.items.find((c) => c.metadata.name === 'a')).toEqual(made);
    expect(list.items.every((c) => c.kind === 'ConfigMap' && c.apiVersion === 'v1')).toBe(true);

    const changed = await client.update(
      edit(made, (d) => {
        d.data = { z: '3' };
      }),
    );
    expect(changed.data).toEqual({ z: '3' });
    await expect(
      client.update(
        edit(made, (d) => {
          d.data = { z: '4' };
        }),
      ),
    ).rejects.toSatisfy(isConflict);
    await client.delete(ConfigMap, changed.metadata);
    expect(await client.find(ConfigMap, { namespace, name: 'a' })).toBeUndefined();
  });

  test('delete: preconditions and finalizers', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const metadata = { namespace, name: 'a', finalizers: ['x.dev/f'] };
    const made = await client.create(ConfigMap({ metadata }));
    const preconditions = { uid: '00000000-0000-0000-0000-000000000000' };
    await expect(client.delete(ConfigMap, made.metadata, { preconditions })).rejects.toSatisfy(isConflict);
    const going = await client.delete(ConfigMap, made.metadata, { preconditions: { uid: made.metadata.uid } });
    expect(going).toMatchObject({ kind: 'ConfigMap', metadata: { deletionTimestamp: expect.any(String) } });
    await client.patch(ConfigMap, made.metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
    expect(await client.find(ConfigMap, made.metadata)).toBeUndefined();
  });

  test('every patch type', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const labels = { app: 'web' };
    const made = await client.create(
      Deployment({
        metadata: { namespace, name: 'web' },
        spec: {
          replicas: 1,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
        },
      }),
    );
    const key = made.metadata;
    const json = await client.patch(Deployment, key, {
      type: 'json',
      body: [
        { op: 'test', path: '/spec/replicas', value: 1 },
        { op: 'replace', path: '/spec/replicas', value: 2 },
      ],
    });
    expect(json.spec?.replicas).toBe(2);
    const merged = await client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 3 } } });
    expect(merged.spec?.replicas).toBe(3);
    const strategic = await client.patch(Deployment, key, {
      type: 'strategic',
      body: { spec: { template: { spec: { containers: [{ name: 'side', image: 'side:1' }] } } } },
    });
    expect(strategic.spec?.template.spec?.containers.map((c) => c.name).sort()).toEqual(['side', 'web']);
    const applied = await client.applyFields(
      Deployment,
      {
        metadata: { namespace, name: 'web' },
        spec: { template: { spec: { containers: [{ name: 'web', image: 'web:2' }] } } },
      },
      { fieldManager: 'me', force: true },
    );
    expect(applied.spec?.template.spec?.containers.find((c) => c.name === 'web')?.image).toBe('web:2');
  });

  test('a missing namespace is refused before anything is sent; a namespaced client fills it in', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await expect(client.get(Pod, { name: 'a' } as never)).rejects.toThrow('get Pod "a": the namespace is missing');
    const here = inNamespace(client, namespace);
    const made = await here.create(ConfigMap({ metadata: { name: 'a' } }));
    expect(made.metadata.namespace).toBe(namespace);
    expect((await here.list(ConfigMap)).items.every((c) => c.metadata.namespace === namespace)).toBe(true);
    await expect(here.get(ConfigMap, { namespace: 'default', name: 'a' })).rejects.toThrow('is for namespace');
    expect((await here.get(Namespace, { name: namespace })).metadata.name).toBe(namespace);
  });
});
