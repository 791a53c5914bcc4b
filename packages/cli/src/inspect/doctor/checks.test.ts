import { ApiServer } from '@riata/apiserver';
import { type ConnectedClient, createClient, type RestConfig } from 'riata';
import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  Deployment,
  EndpointSlice,
  Lease,
  Namespace,
  Pod,
  Service,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { scriptedTransport } from 'riata/rest';
import { createAuthority, silentLogger, systemClock } from 'riata/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newestMinor } from '../../command/kubernetes-versions.js';
import { operator as describeOperator } from '../../config/operator.js';
import { type Operator, resolveOperator } from '../../config/resolve-operator.js';
import { operatorObjects } from '../../manifests/operator-objects.js';
import { Site, sites } from '../running-operator.fixture.js';
import { checkConnection } from './check-connection.js';
import { checkCrds } from './check-crds.js';
import { checkDeployment } from './check-deployment.js';
import { checkIdentity } from './check-identity.js';
import { checkLeases } from './check-leases.js';
import { checkRights } from './check-rights.js';
import { checkWebhooks } from './check-webhooks.js';
import type { Check, CheckedCluster } from './finding.js';
import { runChecks } from './run-checks.js';

const nowMs = Date.parse('2026-11-17T12:00:00Z');
const place = { namespace: 'site-operator', name: 'site-operator' };
let server: ApiServer;
let client: ConnectedClient;
let operator: Operator;

beforeAll(async () => {
  server = await ApiServer.start();
  const options = { leaderElection: place };
  const config = describeOperator({
    ...{ name: 'site-operator', image: 'registry.example.com/site-operator', version: '1.2.0' },
    run: async () => ({ definitions: [sites], options }),
  });
  operator = await resolveOperator(config);
  client = createClient(server.config, { runtime: { log: silentLogger } });
  await client.create(Namespace({ metadata: { name: place.namespace } }));
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

const cluster = (more: Partial<CheckedCluster> = {}): CheckedCluster => ({
  ...{ client, config: server.config, operator, signal: new AbortController().signal },
  clock: clockAt(nowMs),
  ...more,
});
const merge = (body: object) => ({ type: 'merge', body }) as never;
const found = async (check: Check, more: Partial<CheckedCluster> = {}) =>
  (await check(cluster(more))).map(({ level, text }) => `${level}: ${text}`);

describe('the connection', () => {
  const answering = (body: object): RestConfig => ({
    server: 'https://cluster.example.com',
    transport: scriptedTransport(() => ({ body })),
  });
  const versioned = async (minor: string) => {
    const config = answering({ major: '1', minor, gitVersion: `v1.${minor}.0` });
    await using other = createClient(config, { runtime: { log: silentLogger } });
    return found(checkConnection, { client: other, config });
  };

  test('a server that answers, in-process', async () => {
    const [answer] = await found(checkConnection);
    expect(answer).toMatch(new RegExp(`^ok: .* answers: Kubernetes v1\\.${newestMinor}\\.`));
  });

  test('the version of the server', async () => {
    expect(await versioned('36+')).toHaveLength(1);
    expect(await versioned('37')).toContain(
      'warning: Kubernetes v1.37.0 is newer than 1.36, the newest that this riata knows',
    );
    expect((await versioned('20'))[1]).toMatch(/^warning: Kubernetes v1\.20\.0 is older/);
  });

  test('its certificate, and none at all', async () => {
    const https = await server.listen({ port: 0 });
    const config: RestConfig = { server: https.url, insecureSkipTlsVerify: true };
    await using other = createClient(config, { runtime: { log: silentLogger } });
    const late = clockAt(Date.parse('2999-01-01T00:00:00Z'));
    const findings = await found(checkConnection, { client: other, config, clock: late });
    expect(findings).toContain('warning: the certificate of the server is not verified');
    expect(findings).toContainEqual(expect.stringMatching(/^problem: the certificate of the server expired on \d{4}-/));
  });

  test('a server that cannot be reached ends the checks', async () => {
    const config: RestConfig = { server: 'http://127.0.0.1:1' };
    await using other = createClient(config, { runtime: { log: silentLogger } });
    const results = [];
    for await (const result of runChecks(cluster({ client: other, config }))) results.push(result);
    expect(results).toMatchObject([
      { check: 'connection', findings: [{ level: 'problem', remedy: expect.any(String) }] },
    ]);
  });
});

test('the identity', async () => {
  expect(await found(checkIdentity)).toEqual([expect.stringMatching(/^ok: you are \S+ in .*system:masters/)]);
  const anonymous = scriptedTransport(() => ({ body: { status: { userInfo: { username: 'system:anonymous' } } } }));
  await using other = createClient({ server: 'http://x', transport: anonymous });
  expect(await found(checkIdentity, { client: other })).toEqual([
    'problem: you are anonymous: the request carried no credentials',
  ]);
});

describe('definitions', () => {
  const name = 'sites.sites.example.com';

  test('missing, then as the code defines them', async () => {
    expect(await found(checkCrds)).toEqual([`problem: ${name} is missing`]);
    expect(await found(checkCrds, { operator: undefined })).toEqual(['ok: 0 CustomResourceDefinitions are served']);
    await installCrds(client, [Site]);
    expect(await found(checkCrds)).toEqual([`ok: ${name} is as the code defines it`]);
  });

  test('drift, a stored version that is gone, and lost fields', async () => {
    const crd = await client.get(CustomResourceDefinition, { name });
    const [v1] = crd.spec.versions;
    await client.patch(
      CustomResourceDefinition,
      { name },
      {
        type: 'json',
        body: [
          { op: 'add', path: '/spec/names/shortNames', value: ['st'] },
          { op: 'add', path: '/spec/versions/-', value: { ...v1, name: 'v0', storage: false } },
        ],
      },
    );
    expect(await found(checkCrds)).toEqual([
      expect.stringMatching(`^warning: ${name} differs from the code in \\d+ field`),
    ]);
    await client.status.patch(CustomResourceDefinition, { name }, merge({ status: { storedVersions: ['v0', 'v1'] } }));
    expect(await found(checkCrds)).toEqual([
      `problem: ${name}: objects are stored as v0, which the code no longer defines`,
    ]);
    await client.delete(CustomResourceDefinition, { name });
  });
});

test('the deployed operator', async () => {
  expect(await found(checkDeployment)).toEqual([
    'warning: Deployment site-operator/site-operator not found: the operator is not deployed',
  ]);
  const labels = { app: 'sites' };
  const containers = [{ name: 'operator', image: 'registry.example.com/site-operator:1.1.0' }];
  const template = { metadata: { labels }, spec: { containers } };
  await client.create(Deployment({ metadata: place, spec: { selector: { matchLabels: labels }, template } }));
  await client.create(Pod({ metadata: { ...place, name: 'one', labels }, spec: { containers } }));
  const waiting = { reason: 'ImagePullBackOff', message: 'not found' };
  const status = { name: 'operator', ready: false, restartCount: 0, image: '', imageID: '', state: { waiting } };
  await client.status.patch(Pod, { ...place, name: 'one' }, merge({ status: { containerStatuses: [status] } }));
  expect(await found(checkDeployment)).toEqual([
    'warning: Deployment site-operator/site-operator runs version 1.1.0, the project is 1.2.0',
    'problem: Deployment site-operator/site-operator has 0 of 1 replicas ready: ImagePullBackOff (not found)',
  ]);
});

describe('rights', () => {
  beforeEach(async () => {
    await client.apply(ServiceAccount({ metadata: place }), { fieldManager: 'test' });
  });

  test('none, all, and one too few', async () => {
    const lacking = await found(checkRights);
    expect(lacking).toContain(
      'problem: ServiceAccount site-operator/site-operator may not create, get, patch, update leases.coordination.k8s.io in site-operator',
    );
    const roles = (await operatorObjects(operator)).filter(({ kind }) => /Role(?:Binding)?$/.test(kind));
    for (const role of roles) await client.apply(role as never, { fieldManager: 'test' });
    expect(await found(checkRights)).toEqual([
      expect.stringMatching(/^ok: ServiceAccount site-operator\/site-operator has all \d+ rights that it needs$/),
    ]);
    const { rules = [] } = await client.get(ClusterRole, { name: 'site-operator' });
    const fewer = rules?.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'watch') })) ?? [];
    await client.patch(ClusterRole, { name: 'site-operator' }, merge({ rules: fewer }));
    expect((await found(checkRights)).join('\n')).toMatch(
      /may not watch configmaps\n.*may not watch sites\.sites\.example/,
    );
  });

  test('asked by impersonation where reviews are forbidden; as the account of the deployed operator', async () => {
    const { config } = server.as({ user: 'helper' });
    await using helper = createClient(config, { runtime: { log: silentLogger } });
    const metadata = { name: 'impersonator' };
    const rules = [
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate', 'get'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] },
    ];
    await client.create(ClusterRole({ metadata, rules }));
    await client.create(
      ClusterRoleBinding({
        metadata,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'impersonator' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'helper' }],
      }),
    );
    const asked = () => found(checkRights, { client: helper, config });
    expect((await asked()).join('\n')).toMatch(/ServiceAccount site-operator\/site-operator may not watch configmaps/);
    for (const role of await operatorObjects(operator)) {
      if (/Role$/.test(role.kind)) await client.apply(role as never, { fieldManager: 'test', force: true });
    }
    expect(await asked()).toEqual([expect.stringMatching(/^ok: ServiceAccount site-operator\/site-operator has all/)]);
    const spec = { template: { spec: { serviceAccountName: 'other' } } };
    await client.patch(Deployment, place, merge({ spec }));
    expect(await asked()).toEqual([
      'warning: ServiceAccount site-operator/other not found: its rights cannot be checked',
    ]);
    await client.create(ServiceAccount({ metadata: { ...place, name: 'other' } }));
    expect((await asked())[0]).toMatch(/^problem: ServiceAccount site-operator\/other may not /);
    await client.patch(Deployment, place, merge({ spec: { template: { spec: { serviceAccountName: null } } } }));
  });

  test('a user who may not ask', async () => {
    await using visitor = createClient(server.as({ user: 'visitor' }).config, { runtime: { log: silentLogger } });
    const results = [];
    const { config } = server.as({ user: 'visitor' });
    for await (const { check, findings } of runChecks(cluster({ client: visitor, config }))) {
      results.push(...findings.map(({ level }) => `${check}: ${level}`));
    }
    expect(results).toContain('rights: warning');
    expect(results).toContain('webhooks: warning');
    expect(results.filter((line) => line.endsWith('problem'))).toEqual([]);
  });
});

describe('webhooks', () => {
  const validity = (days: number) => ({ notBefore: new Date(0), notAfter: new Date(nowMs + days * 86_400_000) });
  const bundle = (days: number) => Buffer.from(createAuthority('test', validity(days)).cert).toString('base64');
  const configure = (failurePolicy: 'Fail' | 'Ignore', clientConfig: object) =>
    client.apply(
      ValidatingWebhookConfiguration({
        metadata: { name: 'rules' },
        webhooks: [
          {
            ...{ name: 'rules.sites.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'], failurePolicy },
            rules: [
              { apiGroups: ['nowhere.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] },
            ],
            clientConfig: clientConfig as never,
          },
        ],
      }),
      { fieldManager: 'test' },
    );
  const webhook = 'webhook rules.sites.example.com of ValidatingWebhookConfiguration rules';

  test('a Service that is missing, without Pods, and complete', async () => {
    expect(await found(checkWebhooks)).toEqual(['ok: the API server calls no webhooks']);
    const service = { ...place, name: 'hooks' };
    await configure('Fail', { service, caBundle: bundle(400) });
    expect(await found(checkWebhooks)).toEqual([
      `problem: ${webhook}: Service site-operator/hooks not found: requests fail`,
    ]);
    await client.create(Service({ metadata: service, spec: { ports: [{ port: 443 }] } }));
    await configure('Ignore', { service, caBundle: bundle(3) });
    expect(await found(checkWebhooks)).toEqual([
      `warning: ${webhook}: Service site-operator/hooks has no ready Pod: requests pass unchecked`,
      `warning: ${webhook}: its caBundle expires on 2026-11-20`,
    ]);
    const labels = { 'kubernetes.io/service-name': 'hooks' };
    const endpoints = [{ addresses: ['10.0.0.1'], conditions: { ready: true } }];
    await client.create(EndpointSlice({ metadata: { ...service, labels }, addressType: 'IPv4', endpoints }));
    await configure('Fail', { service, caBundle: bundle(-1) });
    expect(await found(checkWebhooks)).toEqual([`problem: ${webhook}: its caBundle expired on 2026-11-16`]);
    await configure('Fail', { service, caBundle: bundle(400) });
    expect(await found(checkWebhooks)).toEqual(['ok: all 1 webhooks have a ready backend and a valid certificate']);
  });

  test('a URL behind which nothing listens', async () => {
    await client.delete(ValidatingWebhookConfiguration, { name: 'rules' });
    await configure('Fail', { url: 'https://127.0.0.1:1/rules' });
    expect(await found(checkWebhooks)).toEqual([
      `problem: ${webhook}: https://127.0.0.1:1 cannot be reached from here: requests fail`,
    ]);
  });
});

test('Leases', async () => {
  expect(await found(checkLeases, { operator: undefined })).toEqual([]);
  const lease = 'Lease site-operator/site-operator';
  expect(await found(checkLeases)).toEqual([`warning: ${lease} not found: the operator has never run here`]);
  const hold = (spec: object) => client.apply(Lease({ metadata: place, spec }), { fieldManager: 'test', force: true });
  await hold({ holderIdentity: '' });
  expect(await found(checkLeases)).toEqual([`warning: ${lease} is held by no replica`]);
  const renewed = (ms: number) => new Date(nowMs - ms).toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'laptop_1', leaseDurationSeconds: 15 };
  await hold({ ...spec, renewTime: renewed(120_000) });
  expect(await found(checkLeases)).toEqual([`warning: ${lease} expired: laptop_1 renewed it 120 s ago`]);
  await hold({ ...spec, renewTime: renewed(1_000) });
  expect(await found(checkLeases)).toEqual([`warning: ${lease} is held by laptop_1, which is no Pod of site-operator`]);
  await hold({ ...spec, holderIdentity: 'one_1', renewTime: renewed(1_000) });
  expect(await found(checkLeases)).toEqual([`ok: ${lease} is held by one`]);
});

/** Real timers at another time. */
function clockAt(nowMs: number): CheckedCluster['clock'] {
  return { now: () => nowMs, after: (ms, call) => systemClock.after(ms, call) };
}
