import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';
import type { AuditEvent } from './audit-event.js';
import { auditFile } from './audit-file.js';
import { auditFromFiles } from './audit-from-files.js';
import type { AuditPolicy } from './audit-policy.js';
import { AuditStream } from './audit-stream.js';

const secrets = '/api/v1/namespaces/default/secrets';
const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' }, stringData: { password: 'hunter2' } };

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly body?: object;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function audited(policy: AuditPolicy, ...asks: readonly Sent[]) {
  const stream = new AuditStream();
  await using server = await ApiServer.start({ audit: { policy, sink: stream } });
  const { url } = await server.listen({ tls: false });
  for (const { method = 'GET', path, body, token = server.token, headers } of asks) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const all = { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }), ...headers };
    const response = await fetch(`${url}${path}`, { method, headers: all, body: body && JSON.stringify(body) });
    await response.text();
  }
  await server.stop();
  return { events: stream.take(), token: server.token };
}

const everything: AuditPolicy = { rules: [{ level: 'RequestResponse' }] };
const stagesOf = (events: readonly AuditEvent[]) => events.map(({ stage }) => stage);

test('a request is recorded when it comes and when it is answered', async () => {
  const { events } = await audited(everything, { path: `${secrets}/a?x=1`, headers: { 'audit-id': 'mine' } });
  const [received, complete] = events;
  expect(received).toEqual({
    ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', level: 'RequestResponse', auditID: 'mine' },
    ...{ stage: 'RequestReceived', requestURI: `${secrets}/a?x=1`, verb: 'get' },
    user: { username: 'riata-admin', groups: ['system:masters', 'system:authenticated'] },
    ...{ sourceIPs: ['127.0.0.1'], userAgent: 'node' },
    objectRef: { resource: 'secrets', namespace: 'default', name: 'a', apiVersion: 'v1' },
    requestReceivedTimestamp: received?.requestReceivedTimestamp,
    stageTimestamp: received?.requestReceivedTimestamp,
  });
  expect(complete).toMatchObject({ stage: 'ResponseComplete', auditID: 'mine', responseStatus: { code: 404 } });
  expect(complete?.annotations).toEqual({
    'authorization.k8s.io/decision': 'allow',
    'authorization.k8s.io/reason': '',
  });
});

test('objects are recorded from level Request on, answers at RequestResponse alone', async () => {
  const at = async (level: 'Metadata' | 'Request' | 'RequestResponse') => {
    const policy: AuditPolicy = { rules: [{ level }], omitStages: ['RequestReceived'], omitManagedFields: true };
    const { events, token } = await audited(policy, { method: 'POST', path: secrets, body: secret });
    expect(JSON.stringify(events)).not.toContain(token);
    return events[0];
  };
  const metadata = await at('Metadata');
  expect(metadata?.objectRef).toMatchObject({ name: 'a' });
  expect(JSON.stringify(metadata)).not.toMatch(/hunter2|aHVudGVyMg/);
  const request = await at('Request');
  expect(request?.requestObject).toMatchObject({ type: 'Opaque', data: { password: 'aHVudGVyMg==' } });
  expect(request).not.toHaveProperty('responseObject');
  const response = await at('RequestResponse');
  expect(response?.responseObject).toMatchObject({ metadata: { name: 'a' }, data: { password: 'aHVudGVyMg==' } });
  expect(JSON.stringify(response)).not.toContain('managedFields');
});

test('refused credentials leave one event, without the credentials', async () => {
  const { events } = await audited(everything, { path: secrets, token: 'guessed-token' });
  expect(stagesOf(events)).toEqual(['ResponseStarted']);
  expect(events[0]).toMatchObject({ user: {}, responseStatus: { code: 401, message: 'Unauthorized' } });
  expect(JSON.stringify(events)).not.toContain('guessed-token');
});

test('annotations of admission plugins are recorded', async () => {
  const spec = { containers: [{ name: 'a', image: 'a' }] };
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec };
  const policy: AuditPolicy = { rules: [{ level: 'Metadata' }], omitStages: ['RequestReceived'] };
  const path = '/api/v1/namespaces/default';
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  const { events } = await audited(
    policy,
    { method: 'PATCH', path, body: { metadata: { labels } } },
    { method: 'POST', path: `${path}/pods`, body: pod },
  );
  const annotations = { 'pod-security.kubernetes.io/enforce-policy': 'baseline:latest' };
  expect(events.at(-1)?.annotations).toMatchObject(annotations);
});

test('a watch is recorded when it starts and when it ends', async () => {
  const { events } = await audited(everything, { path: `${secrets}?watch=1&timeoutSeconds=1` });
  expect(stagesOf(events)).toEqual(['RequestReceived', 'ResponseStarted', 'ResponseComplete']);
});

test('long lists are recorded as a whole, in whatever form they are sent', async () => {
  const stream = new AuditStream();
  await using server = await ApiServer.start({ audit: { policy: everything, sink: stream } });
  const { url } = await server.listen({ tls: false });
  const headers = { authorization: `Bearer ${server.token}`, accept: 'application/vnd.kubernetes.protobuf' };
  const response = await fetch(`${url}/apis/rbac.authorization.k8s.io/v1/clusterroles`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.subarray(0, 3).toString()).toBe('k8s');
  await expect.poll(() => stagesOf(stream.take())).toEqual(['RequestReceived', 'ResponseComplete']);
  await fetch(`${url}/apis/rbac.authorization.k8s.io/v1/clusterroles`, { headers }).then((r) => r.arrayBuffer());
  await server.stop();
  const list = stream.take().at(-1)?.responseObject as { readonly kind: string; readonly items: readonly unknown[] };
  expect(list.kind).toBe('ClusterRoleList');
  expect(list.items.length).toBeGreaterThan(50);
});

test('a sink that fails is logged, and the request continues', async () => {
  const log = memoryLogger();
  const sink = {
    write() {
      throw new Error('disk full');
    },
  };
  await using server = await ApiServer.start({ log, audit: { policy: everything, sink } });
  const { url } = await server.listen({ tls: false });
  const { status } = await fetch(`${url}/version`, { headers: { authorization: `Bearer ${server.token}` } });
  expect(status).toBe(200);
  expect(log.records.map(({ message }) => message)).toContain('cannot write audit event');
});

test('the stream hands out events as they come, and ends', async () => {
  const stream = new AuditStream();
  const event = { auditID: '1' } as AuditEvent;
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { auditID } of stream) seen.push(auditID);
  })();
  stream.write(event);
  stream.write({ ...event, auditID: '2' });
  stream.end();
  stream.write({ ...event, auditID: '3' });
  await reading;
  expect(seen).toEqual(['1', '2']);
});

test('files: the policy is read, and events are lines that only their owner may read', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'riata-audit-'));
  const [policyFile, logPath] = [join(dir, 'policy.yaml'), join(dir, 'audit.log')];
  await writeFile(policyFile, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
  const options = await auditFromFiles(policyFile, logPath);
  expect(options?.policy.rules).toEqual([{ level: 'Metadata' }]);
  options?.sink.write({ requestURI: '/a?b&c<d>' } as AuditEvent);
  options?.sink.write({ requestURI: '/' } as AuditEvent);
  expect(await readFile(logPath, 'utf8')).toBe('{"requestURI":"/a?b\\u0026c\\u003cd\\u003e"}\n{"requestURI":"/"}\n');
  expect((await stat(logPath)).mode & 0o777).toBe(0o600);
  await writeFile(policyFile, 'kind: Policy\nrules: []\n');
  await expect(auditFromFiles(policyFile, logPath)).rejects.toThrow(
    'unknown group version field , Kind=Policy in policy',
  );
  await expect(auditFromFiles('', logPath)).rejects.toThrow('--audit-log-path requires --audit-policy-file');
  await expect(auditFromFiles(join(dir, 'none'), logPath)).rejects.toThrow('failed to read file path');
  expect(() => auditFile(join(dir, 'none', 'log'))).toThrow('ENOENT');
});

test('a bad policy, and options that do not exist, are refused at the start', async () => {
  const sink = new AuditStream();
  await expect(ApiServer.start({ audit: { policy: { rules: [] }, sink } })).rejects.toThrow('policy with 0 rules');
  const unknown = { policy: everything, sink, level: 'None' } as never;
  await expect(ApiServer.start({ audit: unknown })).rejects.toThrow('level');
});
