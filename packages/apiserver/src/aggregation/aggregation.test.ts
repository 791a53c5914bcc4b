import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { createClient } from 'riata';
import { APIService, ConfigMap } from 'riata/kinds';
import type { JsonObject } from 'riata/object';
import { createAuthority, memoryLogger, systemClock, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

const group = 'metrics.example.com';
const at = `/apis/${group}/v1`;

const metrics = (spec: object = {}) =>
  APIService({
    metadata: { name: `v1.${group}` },
    spec: {
      ...{ group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 },
      service: { namespace: 'default', name: 'metrics', port: 443 },
      ...spec,
    },
  });

const resource = {
  ...{ resource: 'readings', scope: 'Cluster', singularResource: 'reading', verbs: ['list'] },
  responseKind: { group, version: 'v1', kind: 'Reading' },
};

/** An aggregated API server in this process. */
function answer(request: Request): Response {
  const { pathname, search } = new URL(request.url);
  if (pathname === '/apis') {
    const items = [{ metadata: { name: group }, versions: [{ version: 'v1', resources: [resource] }] }];
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    return new Response(JSON.stringify({ items }), { headers: { 'content-type': type } });
  }
  if (pathname === '/openapi/v2') {
    return Response.json({ swagger: '2.0', paths: { [`${at}/readings`]: { get: {} }, '/apis': {} } });
  }
  if (pathname === '/openapi/v3') {
    return Response.json({ paths: { [at.slice(1)]: { serverRelativeURL: `/openapi/v3${at}?hash=1` } } });
  }
  return Response.json({ asked: `${request.method} ${pathname}${search}`, user: request.headers.get('x-remote-user') });
}

async function get(server: ApiServer, path: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    let [status, text] = [0, ''];
    server.transport.dispatch(
      { method: 'GET', path, headers: { authorization: `Bearer ${server.token}`, ...headers } },
      {
        onHeaders: (code) => {
          status = code;
        },
        onData: (piece) => {
          text += Buffer.from(piece).toString();
        },
        onEnd: () => resolve({ status, text }),
        onError: reject,
      },
    );
  });
}

const read = async (server: ApiServer, path: string, headers?: Record<string, string>) =>
  JSON.parse((await get(server, path, headers)).text);

test('a handler in this process serves a group, with its discovery and OpenAPI', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock, log: memoryLogger() });
  await using client = createClient(server.config, { runtime: { clock } });
  using handler = server.handle('https://metrics.default.svc', answer);
  await client.create(metrics());
  await server.idle();
  const condition = async () => (await client.get(APIService, { name: `v1.${group}` })).status?.conditions?.[0];
  expect(await condition()).toMatchObject({ status: 'True', reason: 'Passed', message: 'all checks passed' });
  expect(await read(server, `${at}/readings?limit=1`)).toEqual({
    asked: `GET ${at}/readings?limit=1`,
    user: 'riata-admin',
  });
  const { groups } = await read(server, '/apis');
  expect(groups.at(-1)).toEqual({
    name: group,
    versions: [{ groupVersion: `${group}/v1`, version: 'v1' }],
    preferredVersion: { groupVersion: `${group}/v1`, version: 'v1' },
  });
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  expect((await read(server, '/apis', { accept })).items.at(-1)).toEqual({
    metadata: { name: group },
    versions: [{ version: 'v1', resources: [resource], freshness: 'Current' }],
  });
  const { paths } = await read(server, '/openapi/v3');
  expect(paths[at.slice(1)]).toEqual({ serverRelativeURL: `/openapi/v3${at}?hash=1` });
  expect((await read(server, `/openapi/v3${at}?hash=1`)).asked).toBe(`GET /openapi/v3${at}?hash=1`);

  handler[Symbol.dispose]();
  await clock.advance(30_000);
  await server.idle();
  expect(await condition()).toMatchObject({
    ...{ status: 'False', reason: 'ServiceNotFound' },
    message: 'service/metrics in "default" is not present',
  });
  expect(await get(server, `${at}/readings`)).toEqual({ status: 503, text: 'service unavailable\n' });
  expect((await read(server, '/apis', { accept })).items.at(-1).versions[0].freshness).toBe('Stale');

  await client.delete(APIService, { name: `v1.${group}` });
  expect((await get(server, `${at}/readings`)).status).toBe(404);
  expect(((await read(server, '/apis')).groups as JsonObject[]).some(({ name }) => name === group)).toBe(false);
});

test('the OpenAPI 2 document has the paths of aggregated servers', async () => {
  await using server = await ApiServer.start({ clock: new VirtualClock(), log: memoryLogger() });
  await using client = createClient(server.config);
  using _ = server.handle('https://metrics.default.svc', answer);
  const paths = async () => Object.keys((await read(server, '/openapi/v2')).paths);
  const before = await paths();
  await client.create(metrics());
  await server.idle();
  expect(await paths()).toEqual([...before, `${at}/readings`]);
});

test('a server starts without waiting for aggregated servers', async () => {
  const clock = new VirtualClock();
  await using first = await ApiServer.start({ clock, log: memoryLogger() });
  await using client = createClient(first.config, { runtime: { clock } });
  using _ = first.handle('https://metrics.default.svc', answer);
  await client.create(metrics());
  await first.idle();
  // Connections to this one are accepted, and nothing else.
  const silent = createTcpServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const resolveService = () => ({ host: '127.0.0.1', port });
  await using server = await ApiServer.start({ clock, log: memoryLogger(), from: first.snapshot(), resolveService });
  await using other = createClient(server.config, { runtime: { clock } });
  const { status } = await other.get(APIService, { name: `v1.${group}` });
  // It had become unavailable if the check had been waited for.
  expect(status?.conditions?.[0]).toMatchObject({ status: 'True', reason: 'Passed' });
  silent.close();
});

test('a check that fails is repeated, later each time, until the server answers', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock, log: memoryLogger() });
  await using client = createClient(server.config, { runtime: { clock } });
  let [asked, works] = [0, false];
  using _ = server.handle('https://metrics.default.svc', (request) => {
    asked += 1;
    return works ? answer(request) : new Response('', { status: 500 });
  });
  await client.create(metrics());
  await server.idle();
  const reason = async () => (await client.get(APIService, { name: `v1.${group}` })).status?.conditions?.[0];
  expect(await reason()).toMatchObject({
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from https://metrics.default.svc:443${at}: bad status from https://metrics.default.svc:443${at}: 500`,
  });
  for (let round = 0; round < 4; round++) {
    await clock.advance(40);
    await server.idle();
  }
  expect(asked).toBeGreaterThan(3);
  expect(asked).toBeLessThan(8);
  works = true;
  await clock.advance(30_000);
  await server.idle();
  expect(await reason()).toMatchObject({ reason: 'Passed' });
});

test('an aggregated API server knows this one by its certificate', async () => {
  const now = systemClock.now();
  const validity = { notBefore: new Date(now - 60_000), notAfter: new Date(now + 3_600_000) };
  const authority = createAuthority('metrics', validity);
  let port = 0;
  await using server = await ApiServer.start({
    log: memoryLogger(),
    resolveService: ({ name }) => (name === 'metrics' ? { host: '127.0.0.1', port } : undefined),
  });
  await using client = createClient(server.config);
  const known = await client.get(ConfigMap, { namespace: 'kube-system', name: 'extension-apiserver-authentication' });
  const { cert, key } = authority.issue('metrics', ['metrics.default.svc']);
  const ca = known.data?.['requestheader-client-ca-file'];
  const other = createServer({ cert, key, ca, requestCert: true, rejectUnauthorized: true }, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    response.end(JSON.stringify({ by: subject.CN, groups: request.headersDistinct['x-remote-group'] }));
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  port = (other.address() as AddressInfo).port;
  try {
    await client.create(metrics({ caBundle: Buffer.from(authority.cert).toString('base64') }));
    await server.idle();
    const [allowed] = JSON.parse(known.data?.['requestheader-allowed-names'] ?? '[]');
    expect(await read(server, `${at}/readings`)).toEqual({
      by: allowed,
      groups: ['system:masters', 'system:authenticated'],
    });
  } finally {
    other.close();
    other.closeAllConnections();
  }
});
