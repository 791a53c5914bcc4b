import { describe, expect, test } from 'vitest';
import { Deployment, Namespace, Pod, ServiceAccount } from '../kinds/index.js';
import { makeKind, metadataOnly } from '../object/kind.js';
import { isLossyObjectError, markLossy } from '../object/value/lossy.js';
import { isTooManyRequests } from '../rest/errors/error-guards.js';
import { answeringTransport } from '../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../runtime/log/logger.js';
import { createClient } from './create-client.js';

const key = { namespace: 'shop', name: 'a' };
const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: key, spec: { replicas: 2 } };

function serve(body: object = scale, code = 200) {
  const headers = { 'content-type': 'application/json' };
  const transport = answeringTransport([{ status: code, headers, body }]);
  const client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
  const sent = (nth = 0): unknown => JSON.parse(String(transport.requests[nth]?.body));
  return { client, sent, transport, asked: () => transport.requests.map((r) => `${r.method} ${r.path}`) };
}

describe('a thing of its own', () => {
  test('scale: get, replace, patch', async () => {
    const { client, asked, sent } = serve();
    const scales = client.subresource('scale');
    expect(await scales.get(Deployment, key, { resourceVersion: '0' })).toEqual(scale);
    expect(await scales.replace(Deployment, key, scale, { fieldManager: 'me' })).toEqual(scale);
    await scales.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 3 } } }, { dryRun: true });
    const path = '/apis/apps/v1/namespaces/shop/deployments/a/scale';
    expect(asked()).toEqual([
      `GET ${path}?resourceVersion=0`,
      `PUT ${path}?fieldManager=me`,
      `PATCH ${path}?dryRun=All`,
    ]);
    expect(sent(1)).toEqual(scale);
    expect(sent(2)).toEqual({ spec: { replicas: 3 } });
  });

  test('eviction, token: create', async () => {
    const { client, asked, sent } = serve({ kind: 'Status', status: 'Success' });
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key };
    expect(await client.subresource('eviction').create(Pod, key, eviction)).toEqual({
      kind: 'Status',
      status: 'Success',
    });
    await client.subresource('token').create(ServiceAccount, key, { spec: {} }, { fieldManager: 'me' });
    expect(asked()).toEqual([
      'POST /api/v1/namespaces/shop/pods/a/eviction',
      'POST /api/v1/namespaces/shop/serviceaccounts/a/token?fieldManager=me',
    ]);
    expect(sent()).toEqual(eviction);
  });

  test('a disruption budget says no', async () => {
    const { client } = serve({ kind: 'Status', status: 'Failure', code: 429, reason: 'TooManyRequests' }, 429);
    await expect(client.subresource('eviction').create(Pod, key, {})).rejects.toSatisfy(isTooManyRequests);
  });

  test('a projection of the kind does not touch it', async () => {
    const { client, transport } = serve();
    expect(await client.subresource('scale').get(metadataOnly(Deployment), key)).toEqual(scale);
    expect(transport.requests[0]?.headers.accept).not.toContain('PartialObjectMetadata');
  });

  test('its name may have several parts, none of them empty or a way out', async () => {
    const { client, asked } = serve();
    await client.subresource('proxy/metrics').get(Pod, key);
    expect(asked()).toEqual(['GET /api/v1/namespaces/shop/pods/a/proxy/metrics']);
    for (const name of ['', '..', 'a/../b'])
      await expect(client.subresource(name).get(Pod, key)).rejects.toThrow(TypeError);
    expect(asked()).toHaveLength(1);
  });
});

describe('status', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...key, uid: 'u', resourceVersion: '1', creationTimestamp: '' },
  };

  test('update sends the whole object, by the kind that it has', async () => {
    const { client, asked, sent } = serve(pod);
    expect(await client.status.update(pod, { fieldManager: 'me' })).toEqual(pod);
    expect(asked()).toEqual(['PUT /api/v1/namespaces/shop/pods/a/status?fieldManager=me']);
    expect(sent()).toEqual(pod);
    const Zone = makeKind({ group: 'x.dev', version: 'v1', kind: 'Zone', plural: 'zones', scope: 'Cluster' });
    await client.status.update(Zone({ metadata: { name: 'z' } }));
    expect(asked()[1]).toBe('PUT /apis/x.dev/v1/zones/z/status');
  });

  test('update refuses what is not whole, and what has no name', async () => {
    const { client, asked } = serve(pod);
    await expect(client.status.update(markLossy({ ...pod }, 'transformed'))).rejects.toSatisfy(isLossyObjectError);
    await expect(client.status.update(Namespace({ metadata: {} }))).rejects.toThrow('the name is missing');
    expect(asked()).toEqual([]);
  });

  test.each([
    ['merge', 'application/merge-patch+json'],
    ['strategic', 'application/strategic-merge-patch+json'],
  ] as const)('patch: %s', async (type, contentType) => {
    const { client, asked, transport } = serve(pod);
    await client.status.patch(Pod, key, { type, body: { status: { phase: 'Running' } } });
    expect(asked()).toEqual(['PATCH /api/v1/namespaces/shop/pods/a/status']);
    expect(transport.requests[0]?.headers['content-type']).toBe(contentType);
  });

  test('is the subresource of that name', async () => {
    const { client, asked } = serve(pod);
    await client.subresource('status').update(pod);
    await client.status.update(pod);
    expect(asked()[0]).toBe(asked()[1]);
  });
});
