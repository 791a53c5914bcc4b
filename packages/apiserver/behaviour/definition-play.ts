import { type ApiError, isApiError, isNotFound } from 'riata';
import { CustomResourceDefinition } from 'riata/kinds';
import { type KubeObject, makeKind, type NamespacedMeta } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { type ControlledServer, uniqueName } from './controlled-server.js';

const finalizer = 'riata.dev/kept';
const names = { kind: 'Widget', plural: 'widgets' };

interface Widget extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec?: { readonly [field: string]: unknown };
}

type Version = Parameters<typeof CustomResourceDefinition>[0]['spec']['versions'][number];

/** A version whose spec has one field. */
const version = (name: string, type: string, fields: Partial<Version> = {}): Version => ({
  ...{ name, served: true, storage: name === 'v1' },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type } } } },
    },
  },
  ...fields,
});

/** What becomes of definitions and their objects: the same on every server, though the embedded one is quicker. */
export function definitionPlay(server: () => ControlledServer): void {
  async function scene(versions: Version[] = [version('v1', 'integer')]) {
    const { client, until } = server();
    const group = `${uniqueName('g')}.riata.dev`;
    const name = `widgets.${group}`;
    const kind = (of: string) => makeKind<Widget>({ ...{ group, version: of, scope: 'Namespaced' }, ...names });
    const define = async (of: Version[]) => {
      const spec = { group, scope: 'Namespaced' as const, names, versions: of };
      return client.create(CustomResourceDefinition({ metadata: { name }, spec }));
    };
    const served = (of: string) => until(`${of} is served`, () => client.list(kind(of)).catch(() => undefined));
    await define(versions);
    await served(versions[0]!.name);
    return {
      ...{ client, until, name, kind, define, served },
      namespace: await server().newNamespace(),
      change: (of: Version[]) =>
        client.patch(CustomResourceDefinition, { name }, { type: 'merge', body: { spec: { versions: of } } }),
      notServed: (of: string) =>
        until(`${of} is not served`, () => client.list(kind(of)).then(() => false, isNotFound)),
      gone: () =>
        until('the definition is gone', () =>
          client.get(CustomResourceDefinition, { name }).then(() => false, isNotFound),
        ),
    };
  }
  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 200,
      (error: unknown) => (isApiError(error) ? (error as ApiError).status.code : String(error)),
    );

  test('a definition is served, and says so by its conditions', async () => {
    const { client, name, kind, namespace } = await scene();
    const { status } = await client.get(CustomResourceDefinition, { name });
    expect(status?.conditions?.map(({ type, status: is, reason }) => [type, is, reason])).toEqual([
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ]);
    expect(status?.storedVersions).toEqual(['v1']);
    const made = await client.create(kind('v1')({ metadata: { namespace, name: 'a' }, spec: { size: 1 } }));
    expect(made.spec).toEqual({ size: 1 });
  });

  test('a version is added, and serves the objects there are', async () => {
    const { client, kind, namespace, change, served, name } = await scene();
    await client.create(kind('v1')({ metadata: { namespace, name: 'a' }, spec: { size: 1 } }));
    await change([version('v1', 'integer'), version('v2', 'integer')]);
    await served('v2');
    const read = await client.get(kind('v2'), { namespace, name: 'a' });
    expect([read.apiVersion.split('/')[1], read.spec]).toEqual(['v2', { size: 1 }]);
    expect((await client.get(CustomResourceDefinition, { name })).status?.storedVersions).toEqual(['v1']);
  });

  test('a version that is not served any more is gone, and its objects are there under the others', async () => {
    const { client, kind, namespace, change, served, notServed } = await scene([
      version('v1', 'integer'),
      version('v2', 'integer'),
    ]);
    await served('v2');
    await client.create(kind('v2')({ metadata: { namespace, name: 'a' }, spec: { size: 1 } }));
    await change([version('v1', 'integer'), version('v2', 'integer', { served: false })]);
    await notServed('v2');
    expect((await client.get(kind('v1'), { namespace, name: 'a' })).spec).toEqual({ size: 1 });
  });

  test('a schema that changes holds for what is written from then on', async () => {
    const { client, kind, namespace, change, until } = await scene();
    const Widget = kind('v1');
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { size: 1 } }));
    await change([version('v1', 'string')]);
    const written = () => codeOf(client.create(Widget({ metadata: { namespace, name: 'b' }, spec: { size: 'x' } })));
    await until('the new schema is in force', async () => (await written()) !== 422);
    expect(await codeOf(client.create(Widget({ metadata: { namespace, name: 'c' }, spec: { size: 2 } })))).toBe(422);
    // What is there is read as it is.
    expect((await client.get(Widget, { namespace, name: 'a' })).spec).toEqual({ size: 1 });
  });

  describe('a definition that is deleted', () => {
    test('takes its objects along, in all namespaces', async () => {
      const { client, kind, namespace, name, gone, notServed } = await scene();
      const other = await server().newNamespace();
      for (const where of [namespace, other]) {
        await client.create(kind('v1')({ metadata: { namespace: where, name: 'a' } }));
      }
      await client.delete(CustomResourceDefinition, { name });
      await gone();
      await notServed('v1');
    });

    test('waits for the finalizers of its objects; meanwhile they can be changed, and none be made', async () => {
      const { client, kind, namespace, name, gone, until } = await scene();
      const Widget = kind('v1');
      await client.create(Widget({ metadata: { namespace, name: 'kept', finalizers: [finalizer] } }));
      await client.create(Widget({ metadata: { namespace, name: 'free' } }));
      const answer = await client.delete(CustomResourceDefinition, { name });
      expect(answer).toMatchObject({
        metadata: { finalizers: ['customresourcecleanup.apiextensions.k8s.io'] },
      });
      await until('one is gone', async () => (await client.list(Widget, { namespace })).items.length === 1);
      const going = await until('it is to go', async () => {
        const kept = await client.get(Widget, { namespace, name: 'kept' });
        return kept.metadata.deletionTimestamp !== undefined && kept;
      });
      expect(going.metadata.finalizers).toEqual([finalizer]);
      const definition = await client.get(CustomResourceDefinition, { name });
      const terminating = definition.status?.conditions?.find(({ type }) => type === 'Terminating');
      expect(terminating).toMatchObject({ status: 'True' });
      const create = (dryRun: boolean) => client.create(Widget({ metadata: { namespace, name: 'late' } }), { dryRun });
      await until('none can be made', async () => (await codeOf(create(true))) === 403);
      const late = create(false);
      expect(await late.catch((error: ApiError) => error.status)).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: `${name} "late" is forbidden: create not allowed while custom resource definition is terminating`,
      });
      const body = { metadata: { finalizers: null } };
      await client.patch(Widget, { namespace, name: 'kept' }, { type: 'merge', body });
      await gone();
    });

    test('may come back with another schema, and without the objects of before', async () => {
      const { client, kind, namespace, name, gone, notServed, define, served } = await scene();
      const Widget = kind('v1');
      await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { size: 1 } }));
      await client.delete(CustomResourceDefinition, { name });
      await gone();
      await notServed('v1');
      await define([version('v1', 'string')]);
      await served('v1');
      expect((await client.list(Widget)).items).toEqual([]);
      const written = await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { size: 'x' } }));
      expect(written.spec).toEqual({ size: 'x' });
    });

    test('ends watches of its objects, after their last events', async () => {
      const { client, kind, namespace, name, gone } = await scene();
      const Widget = kind('v1');
      const made = await client.create(Widget({ metadata: { namespace, name: 'a' } }));
      const { resourceVersion } = made.metadata;
      const watch = await client.watch(Widget, { namespace, resourceVersion, timeoutSeconds: 90 });
      await client.delete(CustomResourceDefinition, { name });
      const seen: string[] = [];
      for await (const event of watch) if (event.type !== 'BOOKMARK') seen.push(event.type);
      expect(seen).toEqual(['DELETED']);
      await gone();
    });

    test('is kept by finalizers of others', async () => {
      const { client, name, gone, until } = await scene();
      const body = (finalizers: string[] | null) => ({ type: 'merge' as const, body: { metadata: { finalizers } } });
      await client.patch(CustomResourceDefinition, { name }, body([finalizer]));
      await client.delete(CustomResourceDefinition, { name });
      await until('the objects are gone', async () => {
        const { finalizers } = (await client.get(CustomResourceDefinition, { name })).metadata;
        return finalizers?.length === 1 && finalizers[0] === finalizer;
      });
      await client.patch(CustomResourceDefinition, { name }, body(null));
      await gone();
    });
  });
}
