import { ConfigMap, Deployment, Namespace, Pod } from 'riata/kinds';
import { controllerOf, extractFields } from 'riata/object';
import { findApiError, isConflict, isFieldManagerConflict } from 'riata/rest';
import { expect, test } from 'vitest';
import { describeServers, rejection } from './servers.js';

const labels = { app: 'web' };

describeServers('server-side apply', (server) => {
  test('a field of another manager is a conflict that says whose; force takes it over', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const intent = (a: string) => ConfigMap({ metadata: { namespace, name: 'a' }, data: { a } });
    await client.apply(intent('1'), { fieldManager: 'one' });
    const error = await rejection(client.apply(intent('2'), { fieldManager: 'two' }));
    expect(error).toSatisfy(isConflict);
    expect(error).toSatisfy(isFieldManagerConflict);
    expect(error.message).toContain('Apply failed with 1 conflict: conflict with "one": .data.a');
    expect(findApiError(error)?.causes).toEqual([
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.a' },
    ]);
    const forced = await client.apply(intent('2'), { fieldManager: 'two', force: true });
    expect(forced.data).toEqual({ a: '2' });
    expect(extractFields(forced, { fieldManager: 'one' })?.data).toBeUndefined();
    expect(extractFields(forced, { fieldManager: 'two' })?.data).toEqual({ a: '2' });
  });

  test('the same value may have two owners; it goes when the last of them lets go', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const intent = (data: Record<string, string>) => ConfigMap({ metadata: { namespace, name: 'a' }, data });
    await client.apply(intent({ shared: '1', one: '1' }), { fieldManager: 'one' });
    await client.apply(intent({ shared: '1', two: '2' }), { fieldManager: 'two' });
    expect((await client.apply(intent({ one: '1' }), { fieldManager: 'one' })).data).toEqual({
      shared: '1',
      one: '1',
      two: '2',
    });
    expect((await client.apply(intent({}), { fieldManager: 'two' })).data).toEqual({ one: '1' });
  });

  test('fields that are no longer applied are removed, elements of keyed lists too', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await client.apply(deployment(namespace, ['web', 'side']), { fieldManager: 'me' });
    await client.applyFields(
      Deployment,
      { metadata: { namespace, name: 'web', annotations: { theirs: '1' } }, spec: { replicas: 3 } },
      { fieldManager: 'scaler' },
    );
    const less = await client.apply(deployment(namespace, ['side']), { fieldManager: 'me' });
    expect(less.spec?.template.spec?.containers.map((c) => c.name)).toEqual(['side']);
    expect(less.spec?.replicas).toBe(3);
    expect(less.metadata.annotations).toEqual({ theirs: '1' });
  });

  test('extractFields gives back what was applied, for this manager alone', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const intent = deployment(namespace, ['web', 'side']);
    const stored = await client.apply(intent, { fieldManager: 'me' });
    await client.applyFields(
      Deployment,
      {
        metadata: { namespace, name: 'web' },
        spec: { template: { spec: { containers: [{ name: 'web', env: [{ name: 'A', value: '1' }] }] } } },
      },
      { fieldManager: 'other' },
    );
    expect(extractFields(stored, { fieldManager: 'me' })).toEqual(intent);
    const read = await client.get(Deployment, stored.metadata);
    expect(extractFields(read, { fieldManager: 'me' })).toEqual(intent);
    expect(extractFields(read, { fieldManager: 'other' })?.spec).toEqual({
      template: { spec: { containers: [{ name: 'web', env: [{ name: 'A', value: '1' }] }] } },
    });
    expect(extractFields(read, { fieldManager: 'nobody' })).toBeUndefined();
    await expect(client.apply(read as never, { fieldManager: 'me' })).rejects.toThrow('this object was read');
  });

  test('no request when nothing would change; one when it would', async () => {
    await using connection = server().connect();
    const { client, requests } = connection;
    const namespace = await server().namespace();
    const intent = deployment(namespace, ['web']);
    const stored = await client.apply(intent, { fieldManager: 'me' });
    expect(requests.all).toHaveLength(1);
    const current = await client.get(Deployment, stored.metadata);
    requests.clear();
    expect(await client.apply(deployment(namespace, ['web']), { fieldManager: 'me', current })).toBe(current);
    expect(requests.all).toEqual([]);

    // Another client has no memory of it, but managedFields say it too.
    await using second = server().connect();
    expect(await second.client.apply(intent, { fieldManager: 'me', current })).toBe(current);
    expect(second.requests.all).toEqual([]);
    await second.client.apply(intent, { fieldManager: 'other', current });
    expect(second.requests.all).toHaveLength(1);

    await client.apply(deployment(namespace, ['web', 'side']), { fieldManager: 'me', current });
    expect(requests.lines()).toEqual([`patch Deployment ${namespace}/web`]);
    requests.clear();
    const drifted = await client.patch(Deployment, stored.metadata, {
      type: 'strategic',
      body: { spec: { template: { spec: { containers: [{ name: 'web', image: 'drifted' }] } } } },
    });
    requests.clear();
    const options = { fieldManager: 'me', current: drifted, force: true };
    const repaired = await client.apply(deployment(namespace, ['web', 'side']), options);
    expect(requests.all).toHaveLength(1);
    expect(repaired.spec?.template.spec?.containers[0]?.image).toBe('web:1');
  });

  test('what the server writes differently does not make it apply again and again', async () => {
    await using connection = server().connect();
    const { client, requests } = connection;
    const namespace = await server().namespace();
    const containers = [
      {
        name: 'web',
        image: 'web:1',
        resources: { limits: { cpu: '1000m', memory: '1024Mi' }, requests: { cpu: 0.5 } },
      },
    ];
    const intent = () =>
      Deployment({
        metadata: { namespace, name: 'web' },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } as never } },
      });
    const { metadata } = await client.apply(intent(), { fieldManager: 'me' });
    requests.clear();
    for (let round = 0; round < 3; round++) {
      const current = await client.get(Deployment, metadata);
      expect(current.spec?.template.spec?.containers[0]?.resources?.limits).toEqual({ cpu: '1', memory: '1Gi' });
      await client.apply(intent(), { fieldManager: 'me', current });
    }
    expect(requests.select({ verb: 'patch' })).toEqual([]);
    const { generation } = (await client.get(Deployment, metadata)).metadata;
    expect(generation).toBe(1);
  });

  test('a status is applied separately', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const spec = { containers: [{ name: 'web', image: 'web:1' }] };
    const { metadata } = await client.apply(Pod({ metadata: { namespace, name: 'a' }, spec }), { fieldManager: 'me' });
    const { name } = metadata;
    const applied = await client.status.applyFields(
      Pod,
      { metadata: { namespace, name }, status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } },
      { fieldManager: 'kubelet', force: true },
    );
    expect(applied.status).toMatchObject({ phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    expect(applied.metadata.managedFields?.map((e) => `${e.manager}/${e.subresource ?? ''}`)).toEqual(
      expect.arrayContaining(['me/', 'kubelet/status']),
    );
    expect(extractFields(applied, { fieldManager: 'kubelet', subresource: 'status' })?.status).toMatchObject({
      phase: 'Running',
    });
    expect(extractFields(applied, { fieldManager: 'kubelet' })).toBeUndefined();
  });

  test('ownedBy makes the owner the controller and gives the namespace', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const owner = await client.create(ConfigMap({ metadata: { namespace, name: 'owner' } }));
    const intent = ConfigMap({ metadata: { name: 'child' }, data: { a: '1' } });
    const child = await client.apply(intent, { fieldManager: 'me', ownedBy: owner });
    expect(controllerOf(child)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid: owner.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    });
    expect(child.metadata.namespace).toBe(namespace);
    const other = await client.create(ConfigMap({ metadata: { namespace, name: 'other' } }));
    const taken = client.apply(intent, { fieldManager: 'me2', ownedBy: other });
    await expect(taken).rejects.toThrow(/Only one reference can have Controller set to true/);
    const elsewhere = await server().namespace();
    const far = ConfigMap({ metadata: { namespace: elsewhere, name: 'far' } });
    await expect(client.apply(far, { fieldManager: 'me', ownedBy: owner })).rejects.toThrow(/namespace/);
    const wide = Namespace({ metadata: { name: `${namespace}-child` } });
    await expect(client.apply(wide, { fieldManager: 'me', ownedBy: owner })).rejects.toThrow(/namespace/);
  });
});

function deployment(namespace: string, names: readonly string[]) {
  const containers = names.map((name) => ({
    name,
    image: `${name}:1`,
    ports: [{ containerPort: 80, protocol: 'TCP' }],
  }));
  return Deployment({
    metadata: { namespace, name: 'web', labels },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
}
