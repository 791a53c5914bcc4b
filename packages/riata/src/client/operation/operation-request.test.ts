import { expect, test } from 'vitest';
import { ConfigMap, Deployment, Namespace } from '../../kinds/index.js';
import { metadataOnly } from '../../object/kind.js';
import { staticCredentials } from '../../rest/auth/static-credentials.js';
import { patchTypes } from '../../rest/rest-client.js';
import { answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { memoryMetrics, noMetrics } from '../../runtime/metrics.js';
import { createClient } from '../create-client.js';
import type { Operation } from './operation.js';

const at = { namespace: 'shop', name: 'a.b-c' };
const metadata = { ...at, labels: { a: 'ü' } };
const cm = '/api/v1/namespaces/shop/configmaps';
const deployment = '/apis/apps/v1/namespaces/shop/deployments/a.b-c';
const json = 'application/json';

const operations: Record<string, [operation: Operation, line: string, sent?: object, body?: string]> = {
  get: [{ verb: 'get', kind: ConfigMap, ...at, params: { resourceVersion: '0' } }, `GET ${cm}/a.b-c?resourceVersion=0`],
  'get of a name to be escaped': [
    { verb: 'get', kind: ConfigMap, namespace: 'shop', name: 'a b:c', params: {} },
    `GET ${cm}/a%20b:c`,
  ],
  'get of metadata': [
    { verb: 'get', kind: metadataOnly(Deployment), ...at, params: {} },
    `GET ${deployment}`,
    { accept: `${json};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,${json}` },
  ],
  'get of a cluster-scoped object': [
    { verb: 'get', kind: Namespace, name: 'shop', params: {} },
    'GET /api/v1/namespaces/shop',
  ],
  create: [
    { verb: 'create', kind: ConfigMap, namespace: 'shop', params: {}, body: { metadata } },
    `POST ${cm}`,
    { 'content-type': json },
    JSON.stringify({ metadata }),
  ],
  'create of a subresource': [
    { verb: 'create', kind: ConfigMap, ...at, subresource: 'x', params: {}, body: {} },
    `POST ${cm}/a.b-c/x`,
    { 'content-type': json },
    '{}',
  ],
  'deep subresource': [
    { verb: 'get', kind: ConfigMap, ...at, subresource: 'proxy/a b', params: {} },
    `GET ${cm}/a.b-c/proxy/a%20b`,
  ],
  'update, query in another order': [
    { verb: 'update', kind: Deployment, ...at, params: { fieldManager: 'me & you', dryRun: 'All' }, body: {} },
    `PUT ${deployment}?dryRun=All&fieldManager=me+%26+you`,
    { 'content-type': json },
    '{}',
  ],
  apply: [
    {
      ...{ verb: 'patch', kind: Deployment, ...at, params: { fieldManager: 'me', force: 'true' }, body: { metadata } },
      ...{ contentType: patchTypes.apply, preconditions: { uid: 'u' } },
    },
    `PATCH ${deployment}?fieldManager=me&force=true`,
    { 'content-type': patchTypes.apply },
    JSON.stringify({ metadata: { ...metadata, uid: 'u' } }),
  ],
  delete: [{ verb: 'delete', kind: ConfigMap, ...at, params: {} }, `DELETE ${cm}/a.b-c`],
  'delete with options': [
    { verb: 'delete', kind: ConfigMap, ...at, params: {}, body: { kind: 'DeleteOptions' } },
    `DELETE ${cm}/a.b-c`,
    { 'content-type': json },
    '{"kind":"DeleteOptions"}',
  ],
  'deletion of many': [
    { verb: 'deletecollection', kind: ConfigMap, namespace: 'shop', params: { labelSelector: 'a=b' } },
    `DELETE ${cm}?labelSelector=a%3Db`,
  ],
  'with headers': [
    { verb: 'get', kind: ConfigMap, ...at, params: {}, headers: { Accept: 'x', 'user-agent': 'mine' } },
    `GET ${cm}/a.b-c`,
    { accept: 'x', 'user-agent': 'mine' },
  ],
};

test.each(Object.entries(operations))('%s', async (_, [operation, line, sent, body]) => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
  const transport = answeringTransport([{ status: 200, headers: { 'content-type': json }, body: object }]);
  const config = { credentials: staticCredentials({ token: 't' }), impersonate: { user: 'u', groups: ['g', 'h'] } };
  const added = {
    ...{ accept: 'application/json, */*', authorization: 'Bearer t', 'user-agent': 'bench' },
    ...{ 'impersonate-user': 'u', 'impersonate-group': ['g', 'h'] },
  };
  for (const metrics of [noMetrics, memoryMetrics()]) {
    const runtime = { log: silentLogger, metrics };
    const server = { server: 'https://a/base', userAgent: 'bench', ...config, transport };
    await createClient(server, { runtime }).run(operation);
    const request = transport.requests.at(-1);
    expect(`${request?.method} ${request?.path}`).toBe(line);
    expect(request?.headers).toEqual({ ...added, ...sent });
    expect(request?.body).toEqual(body);
  }
});

test.each(['a/b', 'a%2fb', '..'])('a name such as %s is refused, and nothing is sent', async (name) => {
  const transport = answeringTransport([{ status: 200 }]);
  const client = createClient({ server: 'https://a', transport }, { runtime: { log: silentLogger } });
  await expect(client.get(ConfigMap, { namespace: 'shop', name })).rejects.toThrow(`invalid name "${name}"`);
  await expect(client.get(ConfigMap, { namespace: name, name: 'a' })).rejects.toThrow(`invalid namespace "${name}"`);
  expect(transport.requests).toEqual([]);
});
