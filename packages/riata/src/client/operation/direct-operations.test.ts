import { expect, test } from 'vitest';
import { ConfigMap, Deployment, Namespace } from '../../kinds/index.js';
import { metadataOnly } from '../../object/kind.js';
import { staticCredentials } from '../../rest/auth/static-credentials.js';
import { patchTypes } from '../../rest/rest-client.js';
import { answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { createClient } from '../create-client.js';
import type { Operation } from './operation.js';

const at = { namespace: 'shop', name: 'a.b-c' };
const metadata = { ...at, labels: { a: 'ü' } };
const operations: Record<string, Operation> = {
  get: { verb: 'get', kind: ConfigMap, ...at, params: { resourceVersion: '0' } },
  'get of a name to be escaped': { verb: 'get', kind: ConfigMap, namespace: 'shop', name: 'a:b', params: {} },
  'get of metadata': { verb: 'get', kind: metadataOnly(Deployment), ...at, params: {} },
  'get beside namespaces': { verb: 'get', kind: Namespace, name: 'shop', params: {} },
  create: { verb: 'create', kind: ConfigMap, namespace: 'shop', params: {}, body: { metadata } },
  'create of a subresource': { verb: 'create', kind: ConfigMap, ...at, subresource: 'x', params: {}, body: {} },
  'deep subresource': { verb: 'get', kind: ConfigMap, ...at, subresource: 'proxy/a', params: {} },
  update: {
    verb: 'update',
    kind: Deployment,
    ...at,
    params: { dryRun: 'All', fieldManager: 'me' },
    body: { metadata },
  },
  'query to be escaped': { verb: 'update', kind: Deployment, ...at, params: { fieldManager: 'me & you' }, body: {} },
  'query in another order': {
    verb: 'update',
    kind: Deployment,
    ...at,
    params: { force: 'true', dryRun: 'All' },
    body: {},
  },
  apply: {
    ...{ verb: 'patch', kind: Deployment, ...at, params: { fieldManager: 'me', force: 'true' }, body: { metadata } },
    ...{ contentType: patchTypes.apply, preconditions: { uid: 'u' } },
  },
  delete: { verb: 'delete', kind: ConfigMap, ...at, params: {} },
  'delete with options': { verb: 'delete', kind: ConfigMap, ...at, params: {}, body: { kind: 'DeleteOptions' } },
  'with headers': { verb: 'get', kind: ConfigMap, ...at, params: {}, headers: { accept: 'x', 'user-agent': 'mine' } },
};

test.each(Object.entries(operations))(
  '%s: the same request as one that is built step by step',
  async (_, operation) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, managedFields: [] } };
    const transport = answeringTransport([{ status: 200, headers: { 'content-type': 'application/json' }, body }]);
    const config = { credentials: staticCredentials({ token: 't' }), impersonate: { user: 'u', groups: ['g', 'h'] } };
    for (const runtime of [{ log: silentLogger }, { log: silentLogger, metrics: memoryMetrics() }]) {
      const client = createClient({ server: 'https://a/base', ...config, transport }, { runtime });
      const direct = await client.run(operation);
      // Whoever says how often to try builds.
      const built = await client.run({ ...operation, maxRetries: 10 });
      expect(direct).toEqual(built);
      const [one, other] = transport.requests.slice(-2);
      expect(one).toEqual(other);
      expect(Object.entries(one?.headers ?? {}).sort()).toEqual(Object.entries(other?.headers ?? {}).sort());
    }
  },
);
