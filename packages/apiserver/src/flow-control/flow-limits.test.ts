import { Buffer } from 'node:buffer';
import { silentLogger, VirtualClock } from 'riata/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';
import { AuditStream } from '../audit/audit-stream.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1';

interface Heard {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** A server whose users in the group `slow` share one seat, and whose creates wait for `release`. */
let at: Awaited<ReturnType<typeof start>>;

beforeEach(async () => {
  at = await start();
});

afterEach(() => at.server.stop());

async function start() {
  const clock = new VirtualClock();
  const audit = new AuditStream();
  const policy = { omitStages: ['RequestReceived' as const], rules: [{ level: 'Metadata' as const }] };
  const server = await ApiServer.start({
    ...{ clock, log: silentLogger, audit: { policy, sink: audit } },
    ...{ maxRequestsInflight: 1, maxMutatingRequestsInflight: 0 },
  });
  const held: (() => void)[] = [];
  const send = (token: string, method: string, path: string, body?: object) =>
    new Promise<Heard>((resolve, reject) => {
      const parts: Uint8Array[] = [];
      let head = { status: 0, headers: {} };
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      server.transport.dispatch(
        { method, path, headers, ...(body && { body: JSON.stringify(body) }) },
        {
          onHeaders: (status, headers) => {
            head = { status, headers };
          },
          onData: (part) => parts.push(part),
          onEnd: () => resolve({ ...head, text: Buffer.concat(parts).toString() }),
          onError: reject,
        },
      );
    });
  const admin = async (method: string, path: string, body?: object) => {
    const answer = await send(server.token, method, path, body);
    if (answer.status >= 300) throw new Error(answer.text);
    return JSON.parse(answer.text) as { metadata: { uid: string } };
  };
  server.handle('https://hooks.example.com/', async (request) => {
    const {
      apiVersion,
      kind,
      request: review,
    } = (await request.json()) as Record<string, never> & {
      request: { uid: string };
    };
    await new Promise<void>((resolve) => held.push(resolve));
    return Response.json({ apiVersion, kind, response: { uid: review.uid, allowed: true } });
  });
  const level = await admin('POST', `${flowControl}/prioritylevelconfigurations`, {
    metadata: { name: 'slow' },
    spec: {
      type: 'Limited',
      limited: {
        ...{ nominalConcurrencyShares: 1, borrowingLimitPercent: 0 },
        limitResponse: { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } },
      },
    },
  });
  const schema = await admin('POST', `${flowControl}/flowschemas`, {
    metadata: { name: 'slow' },
    spec: {
      ...{ priorityLevelConfiguration: { name: 'slow' }, matchingPrecedence: 50 },
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'Group', group: { name: 'slow' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
        },
      ],
    },
  });
  await admin('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'slow' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    subjects: [{ kind: 'Group', name: 'slow', apiGroup: 'rbac.authorization.k8s.io' }],
  });
  await admin('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'slow' },
    webhooks: [
      {
        ...{ name: 'slow.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 30 },
        clientConfig: { url: 'https://hooks.example.com/' },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      },
    ],
  });
  const { token } = server.as({ user: 'sloth', groups: ['slow'] });
  const create = (name: string, as = token) => send(as, 'POST', configMaps, { metadata: { name } });
  /** Resolves when so many creates wait for the webhook. */
  const holds = async (count: number) => {
    while (held.length < count) await clock.yield();
  };
  const release = () => held.shift()?.();
  return {
    clock,
    server,
    audit,
    send,
    token,
    create,
    holds,
    release,
    uids: [schema, level].map((o) => o.metadata.uid),
  };
}

test('a request beyond the seats waits, and beyond the queue gets 429', async () => {
  const { create, holds, release, uids, server, send, audit } = at;
  const first = create('a');
  await holds(1);
  const second = create('b');
  const third = await create('c');
  expect(third).toMatchObject({
    status: 429,
    text: 'Too many requests, please try again later.\n',
    headers: {
      'retry-after': '1',
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'x-kubernetes-pf-flowschema-uid': uids[0],
      'x-kubernetes-pf-prioritylevel-uid': uids[1],
    },
  });
  // The administrator is never limited.
  expect((await send(server.token, 'GET', configMaps)).status).toBe(200);
  release();
  expect((await first).status).toBe(201);
  await holds(1);
  release();
  expect((await second).status).toBe(201);
  const { text } = await send(server.token, 'GET', '/metrics');
  const labels = 'component="apiserver",dry_run="",group="",resource="configmaps",scope="resource"';
  expect(text).toContain(
    'apiserver_flowcontrol_rejected_requests_total{flow_schema="slow",priority_level="slow",reason="queue-full"} 1\n',
  );
  expect(text).toContain(
    'apiserver_flowcontrol_dispatched_requests_total{flow_schema="slow",priority_level="slow"} 2\n',
  );
  expect(text).toContain(`apiserver_request_total{code="429",${labels},subresource="",verb="POST",version="v1"} 1\n`);
  expect(text).toContain(
    'apiserver_request_terminations_total{code="429",component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} 1\n',
  );
  const dropped = audit.take().filter(({ responseStatus }) => responseStatus?.code === 429);
  expect(dropped.map(({ user, verb, stage }) => [user.username, verb, stage])).toEqual([
    ['sloth', 'create', 'ResponseComplete'],
  ]);
});

test('a request that waits for a fourth of its time gets 429', async () => {
  const { clock, create, holds, release, send, token } = at;
  const first = create('a');
  await holds(1);
  const second = send(token, 'POST', `${configMaps}?timeout=8s`, { metadata: { name: 'b' } });
  await clock.advance(1_999);
  expect(await Promise.race([second, Promise.resolve('waits')])).toBe('waits');
  await clock.advance(1);
  expect((await second).status).toBe(429);
  release();
  expect((await first).status).toBe(201);
});

test('watches give their seat back when they have begun', async () => {
  const { server, token, send } = at;
  const open = Array.from({ length: 5 }, () => {
    const gone = new AbortController();
    const begun = new Promise<number>((resolve, reject) => {
      server.transport.dispatch(
        {
          ...{ method: 'GET', path: `${configMaps}?watch=1`, signal: gone.signal },
          headers: { authorization: `Bearer ${token}` },
        },
        { onHeaders: resolve, onData: () => {}, onEnd: () => {}, onError: reject },
      );
    });
    return { gone, begun };
  });
  expect(await Promise.all(open.map(({ begun }) => begun))).toEqual([200, 200, 200, 200, 200]);
  expect((await send(token, 'GET', configMaps)).status).toBe(200);
  for (const { gone } of open) gone.abort();
});

test.each([
  [{ maxRequestsInflight: -1 }, 'maxRequestsInflight must be an integer ≥ 0, got -1'],
  [{ maxMutatingRequestsInflight: 1.5 }, 'maxMutatingRequestsInflight must be an integer ≥ 0, got 1.5'],
  [
    { maxRequestsInflight: 0, maxMutatingRequestsInflight: 0 },
    'maxRequestsInflight and maxMutatingRequestsInflight must not both be 0',
  ],
])('refuses %j', async (options, message) => {
  await expect(ApiServer.start(options)).rejects.toThrow(`ApiServer.start: ${message}`);
});
