import type { Client, WriteObject } from 'riata/client';
import { ConfigMap, Deployment, Pod } from 'riata/kinds';
import type { KindRef, KubeObject } from 'riata/object';
import { edit } from 'riata/object';
import { isAlreadyExists, isConflict, isNotFound } from 'riata/rest';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers } from './servers.js';

const labels = { app: 'web' };
const podSpec = { containers: [{ name: 'web', image: 'web:1' }] };

describeServers('all verbs on', (server) => {
  test('Pods', async () => {
    const namespace = await server().namespace();
    const made = Pod({ metadata: { namespace, name: 'a', labels }, spec: podSpec });
    const stored = await allVerbs(server().client, Pod, made);
    expect(stored.spec?.containers).toMatchObject([{ name: 'web', image: 'web:1', imagePullPolicy: 'IfNotPresent' }]);
    expect(stored.status?.phase).toBe('Pending');
  });

  test('Deployments', async () => {
    const namespace = await server().namespace();
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } };
    const made = Deployment({ metadata: { namespace, name: 'a', labels }, spec });
    const stored = await allVerbs(server().client, Deployment, made);
    expect(stored.spec).toMatchObject({ replicas: 1, strategy: { type: 'RollingUpdate' } });
    expect(stored.metadata.generation).toBe(1);
  });

  test('ConfigMaps', async () => {
    const namespace = await server().namespace();
    const data = { b: '1', a: '2', __proto__x: '3' };
    const made = ConfigMap({ metadata: { namespace, name: 'a', labels }, data, binaryData: { bytes: 'AAEC' } });
    const stored = await allVerbs(server().client, ConfigMap, made);
    expect(stored.data).toEqual(data);
    expect(stored.binaryData).toEqual({ bytes: 'AAEC' });
  });

  test('a custom kind', async () => {
    const { client } = server();
    const Widget = await installKind(server());
    const namespace = await server().namespace();
    const made = Widget({ metadata: { namespace, name: 'a', labels }, spec: { size: 3, deep: { list: [1, null] } } });
    const stored = await allVerbs(client, Widget, made);
    expect(stored.spec).toEqual({ size: 3, deep: { list: [1, null] } });
  });
});

/** Takes one object through its whole life, and gives what the server made of it at its creation. */
async function allVerbs<R extends KubeObject>(client: Client, kind: KindRef<R>, object: WriteObject): Promise<R> {
  const { namespace = '', name = '' } = object.metadata;
  const key = { namespace, name };
  expect(await client.find(kind, key)).toBeUndefined();
  await expect(client.get(kind, key)).rejects.toSatisfy(isNotFound);
  const empty = await client.list(kind, { namespace });
  expect(empty).toMatchObject({ apiVersion: kind.apiVersion, kind: `${kind.kind}List`, items: [] });
  await using watch = await client.watch(kind, { namespace, resourceVersion: empty.metadata.resourceVersion });

  const made = (await client.create(object)) as unknown as R;
  const type = { apiVersion: kind.apiVersion, kind: kind.kind };
  expect(made).toMatchObject({ ...type, metadata: { ...key, uid: expect.any(String) } });
  await expect(client.create(object)).rejects.toSatisfy(isAlreadyExists);
  expect(await client.get(kind, key)).toEqual(made);
  expect(await client.find(kind, key)).toEqual(made);
  expect((await client.list(kind, { namespace })).items).toEqual([made]);
  expect((await client.list(kind, { namespace, labelSelector: 'app=other' })).items).toEqual([]);

  const relabelled = edit<KubeObject>(made, (draft) => {
    draft.metadata.labels = { app: 'web', step: 'updated' };
  });
  const changed = await client.update(relabelled);
  expect(changed.metadata.labels).toEqual({ app: 'web', step: 'updated' });
  await expect(client.update(relabelled)).rejects.toSatisfy(isConflict);
  const body = { metadata: { labels: { step: 'patched' } } } as never;
  const patched = await client.patch(kind, key, { type: 'merge', body });
  expect(patched.metadata.labels).toEqual({ app: 'web', step: 'patched' });
  await client.applyFields(kind, { metadata: { ...key, labels: { who: 'applier' } } } as never, {
    fieldManager: 'applier',
  });
  await client.delete(kind, key, { gracePeriodSeconds: 0 });
  expect(await client.find(kind, key)).toBeUndefined();

  const seen: string[] = [];
  for await (const event of watch) {
    if (event.type === 'ERROR') throw event.error;
    if (event.type === 'BOOKMARK') continue;
    // A Pod is first marked, even when it is to go at once.
    if (event.type === 'MODIFIED' && event.object.metadata.deletionTimestamp) continue;
    expect(event.object).toMatchObject(type);
    seen.push(`${event.type} ${Object.values(event.object.metadata.labels ?? {}).join(' ')}`);
    if (event.type === 'DELETED') break;
  }
  expect(seen).toEqual([
    'ADDED web',
    'MODIFIED web updated',
    'MODIFIED web patched',
    'MODIFIED web patched applier',
    'DELETED web patched applier',
  ]);

  await client.create(object);
  await client.create({ ...object, metadata: { ...object.metadata, name: 'b' } });
  await client.deleteCollection(kind, { namespace, labelSelector: 'app=other', gracePeriodSeconds: 0 });
  expect((await client.list(kind, { namespace })).items).toHaveLength(2);
  await client.deleteCollection(kind, { namespace, labelSelector: 'app=web', gracePeriodSeconds: 0 });
  expect((await client.list(kind, { namespace })).items).toEqual([]);
  return made;
}
