import { describe, expect, test } from 'vitest';
import { ConfigMap, Deployment, Namespace } from '../../kinds/index.js';
import { metadataOnly } from '../../object/kind.js';
import type { KubeObject, ManagedFieldsEntry } from '../../object/meta.js';
import { isAlreadyOwned } from '../../object/owner-references.js';
import { clone } from '../../object/value/clone.js';
import { markLossy } from '../../object/value/lossy.js';
import { answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { createClient } from '../create-client.js';
import { dryRun, inNamespace, withFieldOwner } from '../wrappers.js';

const key = { namespace: 'shop', name: 'a' };
const meta = { ...key, uid: 'u1', resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z' };
const stored = (data: object = { a: '1' }, managedFields?: readonly ManagedFieldsEntry[]) =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...meta, ...(managedFields && { managedFields }) },
    data,
  }) as ConfigMap;
const intent = (data: Record<string, string> = { a: '1' }) => ConfigMap({ metadata: key, data });
const me = { fieldManager: 'me' };

function serve(answer: (nth: number) => object = () => stored()) {
  const headers = { 'content-type': 'application/json' };
  const transport = answeringTransport((_, nth) => ({ status: 200, headers, body: answer(nth) }));
  const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
  const sent = (nth = 0): unknown => JSON.parse(String(transport.requests[nth]?.body));
  return { client, sent, transport, asked: () => transport.requests.map((r) => `${r.method} ${r.path}`) };
}

describe('apply', () => {
  test('an apply patch of the whole intent', async () => {
    const { client, asked, sent, transport } = serve();
    expect(await client.apply(intent(), { ...me, force: true, fieldValidation: 'Strict' })).toEqual(stored());
    expect(asked()).toEqual([
      'PATCH /api/v1/namespaces/shop/configmaps/a?fieldManager=me&fieldValidation=Strict&force=true',
    ]);
    expect(transport.requests[0]?.headers['content-type']).toBe('application/apply-patch+yaml');
    expect(sent()).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: key, data: { a: '1' } });
  });

  test('applyFields: with the names of the kind', async () => {
    const { client, asked, sent } = serve();
    await client.applyFields(Deployment, { metadata: key, spec: { replicas: 2 } }, me);
    await client.status.applyFields(Deployment, { metadata: key, status: { replicas: 2 } }, me);
    expect(asked()).toEqual([
      'PATCH /apis/apps/v1/namespaces/shop/deployments/a?fieldManager=me',
      'PATCH /apis/apps/v1/namespaces/shop/deployments/a/status?fieldManager=me',
    ]);
    expect(sent()).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: key, spec: { replicas: 2 } });
  });

  test.each([
    ['an object that was read', stored() as never, 'it has a uid'],
    [
      'one with managedFields',
      { ...intent(), metadata: { ...key, managedFields: [] } } as never,
      'has a managedFields',
    ],
    [
      'one without a name',
      ConfigMap({ metadata: { namespace: 'shop', generateName: 'x' } }) as never,
      'metadata.name is',
    ],
  ])('refuses %s', async (_, object, message) => {
    const { client, asked } = serve();
    const promise = client.apply(object, me);
    await expect(promise).rejects.toThrow(message);
    await expect(client.applyFields(ConfigMap, object, me)).rejects.toThrow(message);
    expect(asked()).toEqual([]);
  });
});

describe('ownedBy', () => {
  const reference = (owner: KubeObject) => ({
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  });

  test('is the controller, and gives the namespace', async () => {
    const { client, asked, sent } = serve();
    await client.apply(ConfigMap({ metadata: { name: 'a' } }), { ...me, ownedBy: stored() });
    expect(asked()[0]).toContain('/namespaces/shop/configmaps/a');
    expect(sent()).toMatchObject({ metadata: { ...key, ownerReferences: [reference(stored())] } });
  });

  test('in another namespace is refused', async () => {
    const { client } = serve();
    const elsewhere = ConfigMap({ metadata: { namespace: 'other', name: 'a' } });
    await expect(client.apply(elsewhere, { ...me, ownedBy: stored() })).rejects.toThrow('same namespace');
  });

  test('of what another one controls, as far as is known: refused before anything is asked', async () => {
    const { client, asked } = serve();
    const by = (name: string, uid: string): ConfigMap => {
      const ownerReferences = [{ ...reference(stored()), name, uid }];
      return { ...stored(), metadata: { ...meta, ownerReferences } };
    };
    const apply = (current: ConfigMap) => client.apply(intent(), { ...me, force: true, ownedBy: stored(), current });
    const refused = apply(by('b', 'u2'));
    await expect(refused).rejects.toSatisfy(isAlreadyOwned);
    await expect(refused).rejects.toThrow('ConfigMap "shop/a" is already controlled by ConfigMap "b" (uid u2)');
    expect(asked()).toEqual([]);
    // Without an owner; its own; that of a deleted one of the same name.
    for (const current of [stored(), by('a', 'u1'), by('a', 'u0')]) await apply(current);
    expect(asked()).not.toEqual([]);
  });

  test('cluster-scoped: may own anything, and gives no namespace; a namespaced one cannot own what has none', async () => {
    const { client, sent } = serve();
    const { namespace: _, ...clusterMeta } = meta;
    const owner = { apiVersion: 'v1', kind: 'Namespace', metadata: clusterMeta } as Namespace;
    await client.apply(intent(), { ...me, ownedBy: owner });
    expect(sent()).toMatchObject({ metadata: { ...key, ownerReferences: [reference(owner)] } });
    const promise = client.apply(Namespace({ metadata: { name: 'x' } }), { ...me, ownedBy: stored() });
    await expect(promise).rejects.toThrow('cannot own');
  });
});

/** As it is after another write. */
const changed = (object: ConfigMap): ConfigMap => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: '99' },
});

describe('nothing would change', () => {
  test('applied by this client before: no request, and the current object itself', async () => {
    const { client, asked } = serve(() => stored({ a: '1', defaulted: 'x' }));
    const current = stored({ a: '1', more: 'y' });
    await client.apply(intent(), { ...me, current });
    expect(asked()).toHaveLength(1);
    expect(await client.apply(intent(), { ...me, current })).toBe(current);
    expect(await client.applyFields(ConfigMap, { metadata: key, data: { a: '1' } }, { ...me, current })).toBe(current);
    expect(asked()).toHaveLength(1);
  });

  test('compared with the answer, not the intent: the server writes 1000m as 1', async () => {
    const { client, asked } = serve(() => stored({ cpu: '1' }));
    await client.apply(intent({ cpu: '1000m' }), me);
    await client.apply(intent({ cpu: '1000m' }), { ...me, current: stored({ cpu: '1' }) });
    expect(asked()).toHaveLength(1);
  });

  test('without the current object a request is made every time', async () => {
    const { client, asked } = serve();
    await client.apply(intent(), me);
    await client.apply(intent(), me);
    expect(asked()).toHaveLength(2);
  });

  test.each([
    ['changed by others', intent(), me, changed(stored({ a: '2' }))],
    ['made again', intent(), me, { ...stored(), metadata: { ...meta, uid: 'u2' } } as ConfigMap],
    ['another intent', intent({ b: '1' }), me, changed(stored({ a: '1', b: '1' }))],
    ['another manager', intent(), { fieldManager: 'you' }, stored()],
  ])('%s: applied', async (_, object, options, current) => {
    const { client, asked } = serve();
    await client.apply(intent(), me);
    await client.apply(object, { ...options, current });
    expect(asked()).toHaveLength(2);
  });

  test('a dry run is neither skipped nor remembered, however it is requested', async () => {
    const { client, asked } = serve();
    const current = stored();
    await client.apply(intent(), { ...me, dryRun: true, current });
    await dryRun(client).apply(intent(), { ...me, current });
    await client.apply(intent(), { ...me, current });
    expect(asked()).toHaveLength(3);
    await dryRun(client).apply(intent(), { ...me, current });
    expect(asked()).toHaveLength(4);
  });

  test('a failed apply is not remembered', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = { kind: 'Status', status: 'Failure', code: 409, reason: 'Conflict' };
    const transport = answeringTransport([{ status: 409, headers, body }]);
    const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
    await expect(client.apply(intent(), me)).rejects.toThrow('409 Conflict');
    await expect(client.apply(intent(), { ...me, current: stored() })).rejects.toThrow('409 Conflict');
  });

  test('wrappers share what is remembered, and count as what they send', async () => {
    const { client, asked } = serve();
    const current = stored();
    await client.apply(intent(), me);
    const here = withFieldOwner(inNamespace(client, 'shop'), 'me');
    expect(await here.apply(ConfigMap({ metadata: { name: 'a' }, data: { a: '1' } }), { current })).toBe(current);
    expect(await here.apply(intent(), { current })).toBe(current);
    await withFieldOwner(client, 'you').apply(intent(), { current });
    expect(asked().map((path) => path.replace(/.*\?/, ''))).toEqual(['fieldManager=me', 'fieldManager=you']);
  });

  test('status and object are remembered apart', async () => {
    const { client, asked } = serve();
    const fields = { metadata: key, data: { a: '1' } };
    await client.applyFields(ConfigMap, fields, me);
    await client.status.applyFields(ConfigMap, fields, { ...me, current: stored() });
    expect(asked()).toHaveLength(2);
  });
});

describe('the first apply compares with managedFields', () => {
  const entry = (more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
    manager: 'me',
    operation: 'Apply',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { 'f:a': {} } },
    ...more,
  });

  test('just this was applied: no request', async () => {
    const { client, asked } = serve();
    const current = stored({ a: '1', others: 'x' }, [entry(), entry({ manager: 'you' })]);
    expect(await client.apply(intent(), { ...me, current })).toBe(current);
    const here = withFieldOwner(inNamespace(client, 'shop'), 'me');
    expect(await here.apply(ConfigMap({ metadata: { name: 'a' }, data: { a: '1' } }), { current })).toBe(current);
    expect(asked()).toEqual([]);
  });

  test.each([
    ['the value is another one', stored({ a: '2' }, [entry()])],
    [
      'more was applied, which is to go',
      stored({ a: '1', b: '2' }, [entry({ fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} } } })]),
    ],
    ['somebody else applied it', stored({ a: '1' }, [entry({ manager: 'you' })])],
    ['it was an update', stored({ a: '1' }, [entry({ operation: 'Update' })])],
    ['it was the status', stored({ a: '1' }, [entry({ subresource: 'status' })])],
    ['it was in another version', stored({ a: '1' }, [entry({ apiVersion: 'v2' })])],
    ['it was in another version, too', stored({ a: '1' }, [entry(), entry({ apiVersion: 'v2' })])],
    ['they were cut', stored({ a: '1' })],
    ['the object is not whole', markLossy(clone(stored({ a: '1' }, [entry()])) as ConfigMap, 'transformed')],
  ])('%s: applied', async (_, current) => {
    const { client, asked } = serve();
    await client.apply(intent(), { ...me, current });
    expect(asked()).toHaveLength(1);
  });
});

test('metadata alone can be applied and skipped, too', async () => {
  const { client, asked } = serve(() => ({ ...stored(), metadata: { ...meta, labels: { x: 'y' } } }));
  const kind = metadataOnly(ConfigMap);
  const fields = { metadata: { ...key, labels: { x: 'y' } } };
  const current = await client.applyFields(kind, fields, me);
  expect(current).not.toHaveProperty('data');
  expect(await client.applyFields(kind, fields, { ...me, current })).toBe(current);
  expect(asked()).toHaveLength(1);
});
