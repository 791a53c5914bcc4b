import { type ApiError, isApiError } from 'riata';
import { ConfigMap, CustomResourceDefinition, Namespace, Pod, Secret, ServiceAccount } from 'riata/kinds';
import { type KubeObject, makeKind, type NamespacedMeta } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { type ControlledServer, uniqueName } from './controlled-server.js';

const finalizer = 'riata.dev/kept';
const template = { kind: 'Widget', plural: 'widgets' };

/** What becomes of namespaces and what is in them: the same on every server. */
export function namespacePlay(server: () => ControlledServer): void {
  const statusOf = async (promise: Promise<unknown>) => {
    const error = await promise.then(
      () => undefined,
      (e: unknown) => e,
    );
    expect(error).toSatisfy(isApiError);
    return (error as ApiError).status;
  };
  const find = (name: string) => server().client.find(Namespace, { name });
  const gone = (name: string) => server().until(`${name} is gone`, async () => (await find(name)) === undefined);
  const make = (namespace: string, name: string, finalizers: string[] = []) =>
    server().client.create(ConfigMap({ metadata: { namespace, name, finalizers } }));
  const release = (namespace: string, name: string) =>
    server().client.patch(ConfigMap, { namespace, name }, { type: 'merge', body: { metadata: { finalizers: null } } });

  describe('Pods of a namespace that is deleted', () => {
    const pod = (namespace: string, name: string, nodeName?: string) => {
      const spec = { nodeName, terminationGracePeriodSeconds: 1, containers: [{ name: 'c', image: 'i' }] };
      return server().client.create(Pod({ metadata: { namespace, name }, spec }));
    };

    test('go at once if no node has them', async () => {
      const name = await server().newNamespace();
      await pod(name, 'a');
      await server().client.delete(Namespace, { name });
      await gone(name);
    });

    test('go first, in their own time; the rest waits for them', async () => {
      const { client, until, calm } = server();
      const name = await server().newNamespace();
      const metadata = { namespace: name, name: 'a' };
      await pod(name, 'a', 'no-such-node');
      await make(name, 'b');
      await client.delete(Namespace, { name });
      const going = await until('the Pod is told to go', async () => {
        const found = await client.get(Pod, metadata);
        return found.metadata.deletionTimestamp !== undefined && found;
      });
      expect(going.metadata.deletionGracePeriodSeconds).toBe(1);
      await calm();
      expect((await client.get(ConfigMap, { namespace: name, name: 'b' })).metadata.deletionTimestamp).toBeUndefined();
      const reported = await until('it is told', async () => {
        const conditions = (await find(name))?.status?.conditions ?? [];
        return conditions.length > 0 && conditions;
      });
      expect(reported.map(({ type, status }) => `${type} ${status}`)).toContain('NamespaceContentRemaining False');
      // What a kubelet does when the Pod has ended.
      await client.delete(Pod, metadata, { gracePeriodSeconds: 0 });
      await gone(name);
    });
  });

  describe('a new namespace', () => {
    test('is active, has its name as a label, and is kept by its finalizer', async () => {
      const name = await server().newNamespace();
      const namespace = await find(name);
      expect(namespace?.status).toEqual({ phase: 'Active' });
      expect(namespace?.spec).toEqual({ finalizers: ['kubernetes'] });
      expect(namespace?.metadata.labels).toEqual({ 'kubernetes.io/metadata.name': name });
    });

    test('gets a ServiceAccount and the root certificate', async () => {
      const { client, until } = server();
      const namespace = await server().newNamespace();
      const account = await until('the account is there', () =>
        client.find(ServiceAccount, { namespace, name: 'default' }),
      );
      expect(account.secrets).toBeUndefined();
      const root = { namespace, name: 'kube-root-ca.crt' };
      const { data, metadata } = await until('the certificate is there', () => client.find(ConfigMap, root));
      expect(Object.keys(data ?? {})).toEqual(['ca.crt']);
      expect(data?.['ca.crt']).toMatch(/^-----BEGIN CERTIFICATE-----\n/);
      expect(metadata.annotations).toEqual({
        'kubernetes.io/description': expect.stringContaining('CA bundle'),
      });
    });

    test('gets them again when they are deleted', async () => {
      const { client, until } = server();
      const namespace = await server().newNamespace();
      const root = { namespace, name: 'kube-root-ca.crt' };
      const account = { namespace, name: 'default' };
      const first = await until('it is there', () => client.find(ConfigMap, root));
      await until('the account is there', () => client.find(ServiceAccount, account));
      await client.delete(ConfigMap, root);
      await client.delete(ServiceAccount, account);
      const again = await until('it is back', () => client.find(ConfigMap, root));
      expect(again.metadata.uid).not.toBe(first.metadata.uid);
      await until('the account is back', () => client.find(ServiceAccount, account));
    });

    test('has its certificate restored when a client changes it', async () => {
      const { client, until } = server();
      const namespace = await server().newNamespace();
      const root = { namespace, name: 'kube-root-ca.crt' };
      const { data } = await until('it is there', () => client.find(ConfigMap, root));
      await client.patch(ConfigMap, root, { type: 'merge', body: { data: { 'ca.crt': 'mine', more: '1' } } });
      const isRight = async () => (await client.get(ConfigMap, root)).data?.['ca.crt'] !== 'mine';
      await until('it is right again', isRight);
      expect((await client.get(ConfigMap, root)).data).toEqual(data);
    });
  });

  test('nothing can be made in a namespace that is not there', async () => {
    const status = await statusOf(make('nowhere', 'a'));
    expect(status).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'namespaces "nowhere" not found',
      details: { name: 'nowhere', kind: 'namespaces' },
    });
  });

  describe('a namespace that is deleted', () => {
    test('goes, with all that is in it', async () => {
      const { client, calm } = server();
      const name = await server().newNamespace();
      await make(name, 'a');
      await client.create(Secret({ metadata: { namespace: name, name: 'b' } }));
      await calm();
      await client.delete(Namespace, { name });
      await gone(name);
      expect((await client.list(ConfigMap, { namespace: name })).items).toEqual([]);
      expect((await client.list(Secret, { namespace: name })).items).toEqual([]);
      expect((await client.list(ServiceAccount, { namespace: name })).items).toEqual([]);
    });

    test('is Terminating until its content is gone, says why, and takes nothing new', async () => {
      const { client, until } = server();
      const name = await server().newNamespace();
      // What comes with a namespace must not come in between.
      await until('the account is there', () => client.find(ServiceAccount, { namespace: name, name: 'default' }));
      const root = { namespace: name, name: 'kube-root-ca.crt' };
      await until('the certificate is there', () => client.find(ConfigMap, root));
      await make(name, 'kept', [finalizer]);
      const answer = await client.delete(Namespace, { name });
      expect(answer).toMatchObject({ kind: 'Namespace', status: { phase: 'Terminating' } });
      const namespace = await until('it says why', async () => {
        const found = await find(name);
        return found?.status?.conditions?.some((c) => c.status === 'True') && found;
      });
      const conditions = namespace.status?.conditions?.map(({ type, status, reason, message }) => ({
        ...{ type, status, reason, message },
      }));
      expect(conditions).toEqual([
        {
          type: 'NamespaceDeletionDiscoveryFailure',
          status: 'False',
          reason: 'ResourcesDiscovered',
          message: 'All resources successfully discovered',
        },
        {
          type: 'NamespaceDeletionGroupVersionParsingFailure',
          status: 'False',
          reason: 'ParsedGroupVersions',
          message: 'All legacy kube types successfully parsed',
        },
        {
          type: 'NamespaceDeletionContentFailure',
          status: 'False',
          reason: 'ContentDeleted',
          message: 'All content successfully deleted, may be waiting on finalization',
        },
        {
          type: 'NamespaceContentRemaining',
          status: 'True',
          reason: 'SomeResourcesRemain',
          message: 'Some resources are remaining: configmaps. has 1 resource instances',
        },
        {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${finalizer} in 1 resource instances`,
        },
      ]);
      const message =
        `configmaps "new" is forbidden: unable to create new content in namespace ${name} because it is being ` +
        'terminated';
      expect(await statusOf(make(name, 'new'))).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message,
        details: {
          name: 'new',
          kind: 'configmaps',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${name} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      });
      const dry = client.create(ConfigMap({ metadata: { namespace: name, name: 'new' } }), { dryRun: true });
      expect(await statusOf(dry)).toMatchObject({ code: 403 });
      // What is there can be changed still.
      await client.patch(ConfigMap, { namespace: name, name: 'kept' }, { type: 'merge', body: { data: { a: '1' } } });
      await release(name, 'kept');
      await gone(name);
    });

    test('takes custom objects along', async () => {
      const { client, until } = server();
      const group = `${uniqueName('g')}.riata.dev`;
      const Widget = makeKind<KubeObject & { readonly metadata: NamespacedMeta }>({
        ...{ group, version: 'v1', scope: 'Namespaced' },
        ...template,
      });
      const schema = { openAPIV3Schema: { type: 'object' } };
      const definition = `widgets.${group}`;
      const versions = [{ name: 'v1', served: true, storage: true, schema }];
      await client.create(
        CustomResourceDefinition({
          metadata: { name: definition },
          spec: { group, scope: 'Namespaced', names: template, versions },
        }),
      );
      await until('the kind is served', () => client.list(Widget).catch(() => undefined));
      // What is in a namespace is looked for by what is discovered.
      await until('the kind is discovered', async () => {
        const { groups } = await client.discovery.resources();
        return JSON.stringify(groups.find((one) => one.name === group) ?? {}).includes('widgets');
      });
      const name = await server().newNamespace();
      const other = await server().newNamespace();
      await client.create(Widget({ metadata: { namespace: name, name: 'w' } }));
      await client.create(Widget({ metadata: { namespace: other, name: 'w' } }));
      await client.delete(Namespace, { name });
      await gone(name);
      expect((await client.list(Widget)).items.map((item) => item.metadata.namespace)).toEqual([other]);
      await client.delete(CustomResourceDefinition, { name: definition });
    });

    test('is kept by finalizers of its own, too', async () => {
      const { client, until, calm } = server();
      const name = uniqueName('t-');
      await client.create(Namespace({ metadata: { name, finalizers: [finalizer] } }));
      await client.delete(Namespace, { name });
      await until('it is empty', async () => (await find(name))?.spec?.finalizers === undefined);
      await calm();
      expect((await find(name))?.metadata.finalizers).toEqual([finalizer]);
      await client.patch(Namespace, { name }, { type: 'merge', body: { metadata: { finalizers: null } } });
      await gone(name);
    });

    test('watchers see first that it terminates, then that it is deleted', async () => {
      const { client } = server();
      const name = await server().newNamespace();
      await server().calm();
      const { resourceVersion } = (await client.list(Namespace)).metadata;
      const fieldSelector = `metadata.name=${name}`;
      const watch = await client.watch(Namespace, { resourceVersion, fieldSelector, timeoutSeconds: 60 });
      await client.delete(Namespace, { name });
      const seen: string[] = [];
      for await (const event of watch) {
        if (event.type === 'BOOKMARK' || event.type === 'ERROR') continue;
        const { status, spec } = event.object;
        const finalizers = spec?.finalizers ?? 'none';
        seen.push(`${event.type} ${status?.phase} ${finalizers} ${status?.conditions?.length ?? 0}`);
        if (event.type === 'DELETED') break;
      }
      expect(seen[0]).toBe('MODIFIED Terminating kubernetes 0');
      expect(seen).toContain('MODIFIED Terminating kubernetes 5');
      expect(seen.at(-1)).toBe('DELETED Terminating kubernetes 5');
    });
  });

  test('`finalize` takes finalizers of the spec away, nothing else does', async () => {
    const { client, until, calm } = server();
    const name = uniqueName('t-');
    await client.create(Namespace({ metadata: { name }, spec: { finalizers: [finalizer] } }));
    expect((await find(name))?.spec?.finalizers).toEqual([finalizer, 'kubernetes']);
    await client.patch(Namespace, { name }, { type: 'merge', body: { spec: { finalizers: null } } });
    expect((await find(name))?.spec?.finalizers).toEqual([finalizer, 'kubernetes']);
    await client.delete(Namespace, { name });
    await until('the controller has done its part', async () => (await find(name))?.spec?.finalizers?.length === 1);
    await calm();
    const left = await client.get(Namespace, { name });
    expect(left.spec?.finalizers).toEqual([finalizer]);
    const { finalizers: _, ...spec } = left.spec ?? {};
    await client.subresource('finalize').update(Namespace({ ...left, spec } as never));
    await gone(name);
  });

  test('a namespace can be made again under the name of one that has gone', async () => {
    const { client } = server();
    const name = uniqueName('t-');
    const first = await client.create(Namespace({ metadata: { name } }));
    await client.delete(Namespace, { name });
    await gone(name);
    const second = await client.create(Namespace({ metadata: { name } }));
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    await make(name, 'a');
    await client.delete(Namespace, { name });
    await gone(name);
  });

  test.each(['default', 'kube-system', 'kube-public'])('%s cannot be deleted', async (name) => {
    const status = await statusOf(server().client.delete(Namespace, { name }));
    expect(status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    });
  });
}
