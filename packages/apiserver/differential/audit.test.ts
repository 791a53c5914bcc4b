import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ApiServer, AuditStream, readAuditPolicy } from '@riata/apiserver';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { admissionOfPlane, uniqueName } from './pair.js';
import { type Ask, Wire } from './wire.js';

// The audit policy of the tests' control plane knows these namespaces.
const [whole, sent, silent] = ['audited-whole', 'audited-request', 'audited-none'];
const run = uniqueName('run-');
const real = controlPlaneFromEnv();
const stream = new AuditStream();
const wires: Wire[] = [];
let server: ApiServer | undefined;

const maps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const map = (name: string, more: object = {}) => ({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, ...more });
const merge = 'application/merge-patch+json';
const plain = { authorization: `Bearer ${real.plainToken}` };
const service = { spec: { ports: [{ port: 80 }], clusterIP: 'None' } };

/** The same requests at each level: what is recorded of them differs. */
const at = (namespace: string): readonly Ask[] => [
  { method: 'POST', path: maps(namespace), body: map(run, { data: { a: '1' } }) },
  { method: 'POST', path: maps(namespace), body: map(run) },
  { method: 'POST', path: `${maps(namespace)}?dryRun=All`, body: { metadata: { name: 'dry' } } },
  { method: 'POST', path: maps(namespace), body: '{' },
  { method: 'POST', path: `/api/v1/namespaces/${namespace}/services`, body: { metadata: { name: run }, ...service } },
  { method: 'GET', path: `${maps(namespace)}/${run}` },
  { method: 'GET', path: `${maps(namespace)}/nothing` },
  { method: 'GET', path: `${maps(namespace)}?fieldSelector=metadata.name%3D${run}` },
  { method: 'GET', path: `${maps(namespace)}/${run}`, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  { method: 'GET', path: `${maps(namespace)}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3D${run}` },
  { method: 'PUT', path: `${maps(namespace)}/${run}`, body: map(run, { data: { a: '2' } }) },
  { method: 'PATCH', path: `${maps(namespace)}/${run}`, body: { data: { a: '3' } }, type: merge },
  { method: 'PATCH', path: `${maps(namespace)}/${run}`, body: { data: 1 }, type: merge },
  { method: 'GET', path: `${maps(namespace)}/${run}`, headers: plain },
  { method: 'GET', path: `${maps(namespace)}/${run}`, headers: { authorization: 'Bearer wrong' } },
  { method: 'GET', path: `${maps(namespace)}/${run}`, headers: { authorization: 'Basic YTpi' } },
  { method: 'GET', path: `${maps(namespace)}/${run}`, headers: { 'impersonate-user': 'jane' } },
  {
    method: 'GET',
    path: `${maps(namespace)}/${run}`,
    headers: { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters', 'impersonate-extra-why': 'test' },
  },
  { method: 'GET', path: `${maps(namespace)}/${run}`, headers: { ...plain, 'impersonate-user': 'jane' } },
  { method: 'GET', path: `${maps(namespace)}/${run}`, headers: { 'x-forwarded-for': '10.0.0.1, nope, 10.0.0.2' } },
  { method: 'GET', path: `${maps(namespace)}/${run}`, headers: { 'user-agent': 'x'.repeat(2000) } },
  { method: 'DELETE', path: `${maps(namespace)}/${run}`, body: { propagationPolicy: 'Background' } },
  {
    method: 'DELETE',
    path: `/api/v1/namespaces/${namespace}/services/${run}`,
    body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0 },
  },
  { method: 'GET', path: `/api/v1/namespaces/${namespace}/nothings` },
];

const asks: readonly Ask[] = [
  ...[whole, sent, silent, 'default'].flatMap((namespace) => at(namespace as string)),
  { method: 'GET', path: '/version' },
  { method: 'GET', path: '/livez?verbose' },
  { method: 'GET', path: '/nothing?a=<b>&c' },
  { method: 'GET', path: '/apis/apps/v1' },
  { method: 'GET', path: '/version', headers: { authorization: '' } },
  { method: 'GET', path: '/metrics', headers: plain },
  { method: 'GET', path: '/api/v1/nodes', headers: plain },
  { method: 'GET', path: '/api/v1/componentstatuses/nothing' },
];

beforeAll(async () => {
  const policy = await readAuditPolicy(join(dirname(real.auditLogPath), 'audit-policy.yaml'));
  const tokens = {
    [real.token]: { user: 'admin', uid: 'admin', groups: ['system:masters'] },
    [real.plainToken]: { user: 'plain', uid: 'plain' },
  };
  const admission = admissionOfPlane();
  server = await ApiServer.start({ controllers: false, audit: { policy, sink: stream }, tokens, admission });
  const { url, ca } = await server.listen();
  wires.push(new Wire({ url: real.url, ca: real.ca, token: real.token }), new Wire({ url, ca, token: real.token }));
  for (const wire of wires) {
    for (const name of [whole, sent, silent]) {
      const body = { kind: 'Namespace', apiVersion: 'v1', metadata: { name } };
      await wire.send({ method: 'POST', path: '/api/v1/namespaces', body });
    }
  }
});

afterAll(async () => {
  for (const wire of wires) wire.close();
  await server?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: events are looked into freely
type Event = any;

const changing = new Set(['uid', 'resourceVersion', 'creationTimestamp', 'time', 'requestReceivedTimestamp']);

/** An event without what no two servers share. */
function normal(event: Event): Event {
  return JSON.parse(JSON.stringify(event), (key, value) => {
    if (key === 'stageTimestamp' || (changing.has(key) && typeof value === 'string' && value !== 'admin')) return 'X';
    // Columns of Tables have no descriptions here, and ages differ by the speed of the machine.
    if (key === 'description' || (typeof value === 'string' && /^\d+s$/.test(value))) return 'X';
    if (key === 'message') return value.replaceAll(/[-0-9a-f]{36}|\d{4}-\d\d-\d\dT[\d:]+Z|(?<=Version\W+)\d+/g, 'X');
    // How an impersonation is allowed depends on how the same user was allowed to before, by other files on this plane.
    if (key === 'authenticationMetadata') return undefined;
    // Written for slow requests only.
    return key.startsWith('apiserver.latency.k8s.io/') ? undefined : value;
  });
}

const byId = (events: readonly Event[], id: string) => events.filter(({ auditID }) => auditID === id).map(normal);

test('the same requests leave the same events', async () => {
  const idOf = (index: number) => `${run}-${index}`;
  for (const wire of wires) {
    for (const [index, ask] of asks.entries()) {
      await wire.send({ ...ask, headers: { ...ask.headers, 'audit-id': idOf(index) } });
    }
    await wire.send({ method: 'GET', path: '/version', headers: { 'audit-id': `${run}-end` } });
  }
  const written = await vi.waitFor(
    async () => {
      const lines = (await readFile(real.auditLogPath, 'utf8')).split('\n').filter((line) => line.includes(run));
      expect(lines.some((line) => line.includes(`${run}-end`))).toBe(true);
      return lines.map((line) => JSON.parse(line) as Event);
    },
    { timeout: 20_000, interval: 200 },
  );
  const embedded = stream.take();
  let compared = 0;
  for (const [index, { method, path, headers }] of asks.entries()) {
    const expected = byId(written, idOf(index));
    compared += expected.length;
    expect.soft(byId(embedded, idOf(index)), `${method} ${path} ${JSON.stringify(headers ?? {})}`).toEqual(expected);
  }
  expect(compared).toBeGreaterThan(60);
});
