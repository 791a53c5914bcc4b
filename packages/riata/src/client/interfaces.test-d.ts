import { describe, expectTypeOf, test } from 'vitest';
import { ConfigMap, Deployment, Namespace, Pod } from '../kinds/index.js';
import { makeKind, metadataOnly, type Scope } from '../object/kind.js';
import type { KubeObject, Status } from '../object/meta.js';
import { type ConnectedClient, createClient } from './create-client.js';
import { delegatingClient } from './delegating-client.js';
import type { Client, FieldOwned, Implied, InNamespace, Reader, StatusWriter, Writer } from './interfaces.js';
import type { KubeClient } from './kube-client.js';
import { dryRun, inNamespace, withFieldOwner } from './wrappers.js';

declare const client: Client;
declare const connected: ConnectedClient;
const here = inNamespace(connected, 'shop');
const key = { namespace: 'shop', name: 'a' };
const by = { fieldManager: 'me' };

describe('reads', () => {
  test('give the read type of the kind', () => {
    expectTypeOf(client.get(Pod, key)).resolves.toEqualTypeOf<Pod>();
    expectTypeOf(client.find(Pod, key)).resolves.toEqualTypeOf<Pod | undefined>();
    expectTypeOf(client.list(Pod)).resolves.toHaveProperty('items').toEqualTypeOf<readonly Pod[]>();
    expectTypeOf(client.each(Pod)).toEqualTypeOf<AsyncIterable<Pod>>();
    expectTypeOf(client.delete(Pod, key)).resolves.toEqualTypeOf<Pod | Status>();
    expectTypeOf(client.get(metadataOnly(Pod), key)).resolves.not.toHaveProperty('spec');
    expectTypeOf(client.get(metadataOnly(Pod), key)).resolves.toHaveProperty('metadata');
  });

  test('a namespaced kind requires a namespace, a cluster-scoped one forbids it', () => {
    void client.get(Namespace, { name: 'a' });
    // @ts-expect-error no namespace
    void client.get(Pod, { name: 'a' });
    // @ts-expect-error no namespace
    void client.find(Pod, { name: 'a' });
    // @ts-expect-error no namespace
    void client.delete(Pod, { name: 'a' });
    // @ts-expect-error no namespace
    void client.patch(Pod, { name: 'a' }, { type: 'merge', body: {} });
    // @ts-expect-error no namespace
    void client.status.patch(Pod, { name: 'a' }, { type: 'merge', body: {} });
    // @ts-expect-error no namespace
    void client.logs({ name: 'a' });
    // @ts-expect-error the kind has no namespace
    void client.get(Namespace, { namespace: 'shop', name: 'a' });
  });

  test('an object is a key', async () => {
    const pod = await client.get(Pod, key);
    void client.get(Pod, pod.metadata);
    void client.delete(Pod, pod.metadata);
    // @ts-expect-error a namespace has no namespace
    void client.get(Pod, (await client.get(Namespace, { name: 'a' })).metadata);
  });
});

describe('writes', () => {
  test('give the read type for what a kind has built, and for what was read', async () => {
    const made = ConfigMap({ metadata: key, data: { a: 'b' } });
    expectTypeOf(client.create(made)).resolves.toEqualTypeOf<ConfigMap>();
    expectTypeOf(client.update(made)).resolves.toEqualTypeOf<ConfigMap>();
    expectTypeOf(client.apply(made, by)).resolves.toEqualTypeOf<ConfigMap>();
    expectTypeOf(client.status.update(made)).resolves.toEqualTypeOf<ConfigMap>();
    const read = await client.get(ConfigMap, key);
    expectTypeOf(client.update(read)).resolves.toEqualTypeOf<ConfigMap>();
    expectTypeOf(client.applyFields(ConfigMap, { metadata: key }, by)).resolves.toEqualTypeOf<ConfigMap>();
  });

  test('a missing namespace does not compile', () => {
    const lost = ConfigMap({ metadata: { name: 'a' } });
    // @ts-expect-error no namespace
    void client.create(lost);
    // @ts-expect-error no namespace
    void client.update(lost);
    // @ts-expect-error no namespace
    void client.apply(lost, { fieldManager: 'me' });
    // @ts-expect-error no namespace
    void client.status.update(lost);
    void client.create(Namespace({ metadata: { name: 'a' } }));
  });

  test('an owner in a namespace gives it to what is applied', async () => {
    const owner = await client.get(ConfigMap, key);
    const lost = ConfigMap({ metadata: { name: 'a' } });
    expectTypeOf(client.apply(lost, { ...by, ownedBy: owner })).resolves.toEqualTypeOf<ConfigMap>();
    // @ts-expect-error a cluster-scoped owner has none to give
    void client.apply(lost, { ...by, ownedBy: await client.get(Namespace, { name: 'a' }) });
  });

  test('apply takes an intent, not an object that was read', async () => {
    const read = await client.get(ConfigMap, key);
    // @ts-expect-error it has a uid
    void client.apply(read, by);
    // @ts-expect-error so has a copy
    void client.apply({ ...read, data: {} }, by);
    void client.apply(ConfigMap({ metadata: key }), { ...by, current: read });
    // @ts-expect-error another kind
    void client.apply(ConfigMap({ metadata: key }), { ...by, current: await client.get(Pod, key) });
  });

  test('patches know the fields', () => {
    void client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: null } } });
    // @ts-expect-error no such field
    void client.patch(Deployment, key, { type: 'merge', body: { spec: { replica: 1 } } });
    // @ts-expect-error no such patch
    void client.patch(Deployment, key, { type: 'magic', body: {} });
  });
});

describe('a field manager', () => {
  test('is required, unless the client has one', async () => {
    const made = ConfigMap({ metadata: key });
    // @ts-expect-error who applies?
    void client.apply(made);
    // @ts-expect-error who applies?
    void client.apply(made, { force: true });
    // @ts-expect-error who applies?
    void client.applyFields(ConfigMap, { metadata: key });
    // @ts-expect-error who applies?
    void client.status.applyFields(ConfigMap, { metadata: key });
    const owned = withFieldOwner(connected, 'me');
    void owned.apply(made);
    void owned.apply(made, { force: true });
    void owned.applyFields(ConfigMap, { metadata: key });
    void owned.status.applyFields(ConfigMap, { metadata: key });
    void inNamespace(owned, 'shop').apply(ConfigMap({ metadata: { name: 'a' } }));
    const plain: Client = owned;
    void plain.apply(made, by);
    // @ts-expect-error one without a field manager cannot stand in
    const other: Client<FieldOwned> = connected;
    void other;
  });
});

describe('applyFields', () => {
  test('takes any part of an object', () => {
    void client.applyFields(Deployment, { metadata: key, spec: { replicas: 2 } }, by);
    void client.applyFields(Deployment, { metadata: key, spec: { template: { spec: { nodeName: 'a' } } } }, by);
    void client.status.applyFields(Deployment, { metadata: key, status: { replicas: 1 } }, by);
    // @ts-expect-error the name is wanted
    void client.applyFields(Deployment, { metadata: {} }, by);
    // @ts-expect-error the metadata is wanted
    void client.applyFields(Deployment, { spec: {} }, by);
    // @ts-expect-error no such field
    void client.applyFields(Deployment, { metadata: key, spec: { replica: 2 } }, by);
  });

  test('elements of keyed lists need their keys', () => {
    const containers = [{ name: 'web', image: 'web:2' }];
    void client.applyFields(Deployment, { metadata: key, spec: { template: { spec: { containers } } } }, by);
    void client.applyFields(
      Deployment,
      {
        metadata: key,
        // @ts-expect-error a container without its name
        spec: { template: { spec: { containers: [{ image: 'web:2' }] } } },
      },
      by,
    );
    void client.applyFields(
      Pod,
      {
        metadata: key,
        // @ts-expect-error ports are told apart by containerPort and protocol
        spec: { containers: [{ name: 'web', ports: [{ containerPort: 80 }] }] },
      },
      by,
    );
  });
});

describe('a client for one namespace', () => {
  test('may leave it out', () => {
    expectTypeOf(here).toEqualTypeOf<KubeClient<InNamespace>>();
    expectTypeOf<Implied>().toExtend<InNamespace>();
    expectTypeOf<InNamespace>().toExtend<Implied>();
    void here.get(Pod, { name: 'a' });
    void here.create(ConfigMap({ metadata: { name: 'a' } }));
    void here.update(ConfigMap({ metadata: { name: 'a' } }));
    void here.apply(ConfigMap({ metadata: { name: 'a' } }), by);
    void here.delete(Pod, { name: 'a' });
    void here.patch(Pod, { name: 'a' }, { type: 'merge', body: {} });
    void here.status.update(ConfigMap({ metadata: { name: 'a' } }));
    void here.logs({ name: 'a' });
    void here.get(Namespace, { name: 'a' });
    // @ts-expect-error the kind has no namespace
    void here.get(Namespace, { namespace: 'shop', name: 'a' });
  });

  test('kinds of unknown scope take either', () => {
    const Any = makeKind({ group: 'x.dev', version: 'v1', kind: 'X', plural: 'xs', scope: 'Cluster' as Scope });
    const maybe: { readonly namespace?: string; readonly name: string } = { name: 'a' };
    void client.get(Any, maybe);
    void here.delete(Any, maybe);
    void client.create(Any({ metadata: maybe }));
  });

  test('stays one through other wrappers', () => {
    expectTypeOf(withFieldOwner(here, 'me')).toEqualTypeOf<KubeClient<FieldOwned<InNamespace>>>();
    expectTypeOf(dryRun(connected)).toEqualTypeOf<KubeClient>();
    const explicit: Client = here;
    const reader: Reader = here;
    void explicit.get(Pod, key).then(() => reader.get(Pod, key));
    // @ts-expect-error one without a namespace of its own cannot stand in
    const implied: Client<Implied> = connected;
    void implied;
  });

  test('wrappers do not own the connection', () => {
    expectTypeOf(connected).toExtend<AsyncDisposable>();
    expectTypeOf(here).not.toHaveProperty('close');
  });
});

describe('parts of a client', () => {
  test('a reconciler can ask for what it needs', () => {
    const reads = (reader: Reader) => reader.get(Pod, key);
    const writes = (writer: Writer) => writer.delete(Pod, key);
    const status = (writer: StatusWriter) => writer.patch(Pod, key, { type: 'merge', body: {} });
    void reads(client);
    void writes(client);
    void status(client.status);
    void status(client.subresource('status'));
    // @ts-expect-error a reader cannot write
    void ((reader: Reader) => reader.delete(Pod, key));
  });

  test('a delegating client is a client', () => {
    expectTypeOf(delegatingClient({ cacheReader: client, client })).toEqualTypeOf<Client>();
    expectTypeOf(createClient).returns.toExtend<Client>();
  });

  test('subresources say what they hold', () => {
    const scale = client.subresource('scale');
    expectTypeOf(scale.get(Deployment, key)).resolves.toBeUnknown();
    expectTypeOf(scale.get<{ spec: { replicas: number } }>(Deployment, key)).resolves.toHaveProperty('spec');
  });
});

test('selectors are texts, plain maps or selector objects', () => {
  const selector: { readonly app: string } = { app: 'web' };
  void client.list(Pod, { labelSelector: selector });
  // @ts-expect-error the values of labels are strings
  void client.list(Pod, { labelSelector: { app: 1 } });
  void client.list(Pod, { labelSelector: { matchLabels: selector }, fieldSelector: { 'spec.nodeName': 'a' } });
});

test('generic code can write back what it has read', () => {
  async function touch<R extends KubeObject>(client: Client, object: R): Promise<R> {
    return client.update(object);
  }
  expectTypeOf(touch).returns.resolves.toExtend<KubeObject>();
});
