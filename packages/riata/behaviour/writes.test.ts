import { createClient, dryRun, jsonPatchFrom, mergeFrom, withFieldValidation } from 'riata/client';
import { ConfigMap, Deployment, Namespace, Pod, ReplicaSet } from 'riata/kinds';
import { edit } from 'riata/object';
import { collectedWarnings, isAlreadyExists, isBadRequest, isConflict, isInvalid } from 'riata/rest';
import { expect, test } from 'vitest';
import { controlPlane, describeServers, realOnly, rejection, testOn, until } from './servers.js';

describeServers('writes', (server) => {
  test('an update from an old state is a conflict that names the object; without a resourceVersion it overwrites', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '1' } }));
    await client.update({ ...made, data: { a: '2' } });
    const error = await rejection(client.update({ ...made, data: { a: '3' } }));
    expect(error).toSatisfy(isConflict);
    expect(error.message).toMatch(/PUT \/api\/v1\/namespaces\/.*"a".*the object has been modified/);
    const blind = await client.update(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '4' } }));
    expect(blind.data).toEqual({ a: '4' });
  });

  test('mergeFrom and jsonPatchFrom: with the lock an old state is a conflict, without it both changes stay', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const before = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '1' } }));
    const after = edit(before, (draft) => {
      draft.data = { a: '1', mine: 'x' };
    });
    await client.patch(ConfigMap, before.metadata, { type: 'merge', body: { data: { theirs: 'y' } } });
    const locked = mergeFrom(before, after, { optimisticLock: true });
    await expect(client.patch(ConfigMap, before.metadata, locked)).rejects.toSatisfy(isConflict);
    const json = jsonPatchFrom(before, after, { optimisticLock: true });
    await expect(client.patch(ConfigMap, before.metadata, json)).rejects.toSatisfy(isConflict);
    const merged = await client.patch(ConfigMap, before.metadata, mergeFrom(before, after));
    expect(merged.data).toEqual({ a: '1', mine: 'x', theirs: 'y' });
    const fresh = jsonPatchFrom(merged, { ...merged, data: { only: 'z' } }, { optimisticLock: true });
    expect((await client.patch(ConfigMap, before.metadata, fresh)).data).toEqual({ only: 'z' });
  });

  test('generateName gives each a name; a name that is taken is AlreadyExists', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const object = ConfigMap({ metadata: { namespace, generateName: 'cart-' } });
    const [a, b] = await Promise.all([client.create(object), client.create(object)]);
    expect(a.metadata.name).toMatch(/^cart-[a-z0-9]{5}$/);
    expect(b.metadata.name).not.toBe(a.metadata.name);
    const again = ConfigMap({ metadata: { namespace, name: a.metadata.name } });
    const error = await rejection(client.create(again));
    expect(error).toSatisfy(isAlreadyExists);
    expect(error.message).toContain(`configmaps "${a.metadata.name}" already exists`);
  });

  test('delete: the resourceVersion as precondition', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    const changed = await client.update({ ...made, data: { a: '1' } });
    const { resourceVersion } = made.metadata;
    await expect(client.delete(ConfigMap, made.metadata, { preconditions: { resourceVersion } })).rejects.toSatisfy(
      isConflict,
    );
    const preconditions = { uid: made.metadata.uid, resourceVersion: changed.metadata.resourceVersion };
    const status = await client.delete(ConfigMap, made.metadata, { preconditions });
    expect(status).toMatchObject({ kind: 'Status', status: 'Success', details: { uid: made.metadata.uid } });
  });

  test('delete: foreground and orphan leave their finalizers, which the object waits for', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const labels = { app: 'web' };
    const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } } };
    for (const [propagationPolicy, finalizer] of [
      ['Foreground', 'foregroundDeletion'],
      ['Orphan', 'orphan'],
    ] as const) {
      const containers = [{ name: 'web', image: 'web:1' }];
      const template = { ...spec.template, spec: { containers } };
      const name = finalizer.toLowerCase();
      const { metadata } = await client.create(
        ReplicaSet({ metadata: { namespace, name }, spec: { ...spec, replicas: 0, template } }),
      );
      const going = await client.delete(ReplicaSet, metadata, { propagationPolicy });
      expect(going).toMatchObject({ kind: 'ReplicaSet', metadata: { finalizers: [finalizer] } });
      await client.patch(ReplicaSet, metadata, { type: 'merge', body: { metadata: { finalizers: null } } });
      expect(await client.find(ReplicaSet, metadata)).toBeUndefined();
    }
  });

  test('deleteCollection: by labels and fields, in one namespace', async () => {
    const { client } = server();
    const [namespace, other] = await Promise.all([server().namespace(), server().namespace()]);
    for (const [place, name, tier] of [
      [namespace, 'a', 'x'],
      [namespace, 'b', 'x'],
      [namespace, 'c', 'y'],
      [other, 'a', 'x'],
    ] as const) {
      await client.create(ConfigMap({ metadata: { namespace: place, name, labels: { tier } } }));
    }
    const names = async () => (await client.list(ConfigMap, { namespace })).items.map((c) => c.metadata.name);
    await client.deleteCollection(ConfigMap, { namespace, labelSelector: 'tier=x', dryRun: true });
    expect(await names()).toEqual(['a', 'b', 'c']);
    const fieldSelector = { 'metadata.name': 'a' };
    await client.deleteCollection(ConfigMap, {
      namespace,
      labelSelector: { matchLabels: { tier: 'x' } },
      fieldSelector,
    });
    expect(await names()).toEqual(['b', 'c']);
    await client.deleteCollection(ConfigMap, { namespace, labelSelector: 'tier in (x, y)' });
    expect(await names()).toEqual([]);
    expect(await client.find(ConfigMap, { namespace: other, name: 'a' })).toBeDefined();
    await expect(client.deleteCollection(ConfigMap)).rejects.toThrow(/namespace/);
  });

  test('dry run, by option and by wrapper: answered as if, nothing stored', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const object = ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '1' } });
    const tried = await client.create(object, { dryRun: true });
    expect(tried.metadata.uid).toBeDefined();
    expect(await client.find(ConfigMap, { namespace, name: 'a' })).toBeUndefined();

    const stored = await client.create(object);
    const key = stored.metadata;
    const trying = dryRun(client);
    await trying.create(ConfigMap({ metadata: { namespace, name: 'b' } }));
    expect((await trying.update({ ...stored, data: { a: '2' } })).data).toEqual({ a: '2' });
    const patched = await trying.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '3' } } });
    expect(patched.data).toEqual({ a: '3' });
    const applied = ConfigMap({ metadata: { namespace, name: 'a' }, data: { b: '4' } });
    expect((await trying.apply(applied, { fieldManager: 'me' })).data).toEqual({ a: '1', b: '4' });
    await trying.delete(ConfigMap, key);
    await trying.delete(ConfigMap, key, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
    await trying.deleteCollection(ConfigMap, { namespace });
    await client.delete(ConfigMap, key, { dryRun: true });
    expect((await trying.list(ConfigMap, { namespace })).items).toEqual([stored]);
  });

  test('field validation: Strict refuses, Warn warns the handler, Ignore is silent', async () => {
    const namespace = await server().namespace();
    const warningHandler = collectedWarnings();
    await using client = createClient(server().config, { warningHandler });
    const odd = (name: string) => {
      const containers = [{ name: 'a', image: 'a:1', imagePullPolciy: 'Always' } as { name: string; image: string }];
      return Pod({ metadata: { namespace, name }, spec: { containers } });
    };
    const error = await rejection(client.create(odd('strict'), { fieldValidation: 'Strict' }));
    expect(error).toSatisfy(isBadRequest);
    expect(error.message).toContain('unknown field "spec.containers[0].imagePullPolciy"');
    expect(warningHandler.warnings).toEqual([]);
    await client.create(odd('warn'), { fieldValidation: 'Warn' });
    const text = 'unknown field "spec.containers[0].imagePullPolciy"';
    expect(warningHandler.warnings).toEqual([{ code: 299, agent: '-', text }]);
    await client.create(odd('default'));
    expect(warningHandler.warnings).toHaveLength(2);
    await client.create(odd('ignore'), { fieldValidation: 'Ignore' });
    expect(warningHandler.warnings).toHaveLength(2);
    const strict = withFieldValidation(client, 'Strict');
    await expect(strict.create(odd('wrapped'))).rejects.toSatisfy(isBadRequest);
    expect((await strict.create(odd('call'), { fieldValidation: 'Ignore' })).metadata.name).toBe('call');
    expect(warningHandler.warnings).toHaveLength(2);
  });

  test('what is invalid says every field and why', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const spec = { containers: [{ name: 'Bad_Name', image: '' }], restartPolicy: 'Sometimes' };
    const error = await rejection(client.create(Pod({ metadata: { namespace, name: 'a' }, spec: spec as never })));
    expect(error).toSatisfy(isInvalid);
    const fields = (error as unknown as { causes: { field?: string }[] }).causes.map((cause) => cause.field);
    expect(fields).toEqual(expect.arrayContaining(['spec.containers[0].name', 'spec.restartPolicy']));
  });

  testOn(
    realOnly,
    'with controllers running: a namespace goes with all that is in it, dependants follow their owner',
    async () => {
      const { client } = server();
      await controlPlane().startControllerManager();
      try {
        const namespace = await server().namespace();
        const labels = { app: 'web' };
        const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
        const spec = { replicas: 1, selector: { matchLabels: labels }, template };
        const { metadata } = await client.create(Deployment({ metadata: { namespace, name: 'web' }, spec }));
        const pods = async () => (await client.list(Pod, { namespace })).items;
        await until('the Deployment has a Pod', async () => (await pods()).length === 1);
        await client.delete(Deployment, metadata, { propagationPolicy: 'Foreground' });
        await until('all are gone', async () => {
          const gone = (await client.find(Deployment, metadata)) === undefined && (await pods()).length === 0;
          return gone && (await client.list(ReplicaSet, { namespace })).items.length === 0;
        });
        await client.delete(Namespace, { name: namespace });
        await until('the namespace is gone', async () => !(await client.find(Namespace, { name: namespace })));
        expect(await client.find(Namespace, { name: namespace })).toBeUndefined();
      } finally {
        await controlPlane().stopControllerManager();
      }
    },
  );
});
