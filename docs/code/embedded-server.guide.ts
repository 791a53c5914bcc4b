import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiServer,
  type AuditPolicy,
  AuditStream,
  adminKubeconfig,
  admissionWebhook,
  type ServerSnapshot,
} from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { createClient, defineKind, isForbidden, type RestConfig, VirtualClock } from 'riata';
import {
  APIService,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  FlowSchema,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Namespace,
  Pod,
  PriorityLevelConfiguration,
  ResourceQuota,
  Role,
  RoleBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from 'riata/kinds';
import { computeStatus } from 'riata/patterns';
import { seededRandom } from 'riata/runtime';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

test('what my program does', async () => {
  await using server = await ApiServer.start();
  await myProgram(server.config);

  await using client = createClient(server.config);
  const settings = await client.get(ConfigMap, { namespace: 'default', name: 'settings' });
  expect(settings.data).toEqual({ colour: 'green' });
});

async function myProgram(config: RestConfig): Promise<void> {
  await using client = createClient(config);
  const settings = ConfigMap({ metadata: { namespace: 'default', name: 'settings' }, data: { colour: 'green' } });
  await client.apply(settings, { fieldManager: 'my-program' });
}

test('over HTTPS', async () => {
  await using server = await ApiServer.start();
  const { url, ca } = await server.listen({ port: 0 }); // HTTPS on 127.0.0.1
  const kubeconfig = adminKubeconfig({ url, ca, token: server.token }); // a kubeconfig file for kubectl
  expect(kubeconfig).toContain(url);
});

test('quotas', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  await client.create(Namespace({ metadata: { name: 'shop' } }));
  await server.idle();
  const hard = { 'count/configmaps': '3' };
  await client.create(ResourceQuota({ metadata: { namespace: 'shop', name: 'small' }, spec: { hard } }));
  const settings = (name: string) => ConfigMap({ metadata: { namespace: 'shop', name } });
  await client.create(settings('a')); // one more than kube-root-ca.crt
  await client.create(settings('b'));
  await expect(client.create(settings('c'))).rejects.toThrow('exceeded quota: small');
});

test('Pod security', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
  await client.create(Namespace({ metadata: { name: 'safe', labels } }));
  const securityContext = { privileged: true };
  const spec = { containers: [{ name: 'c', image: 'i', securityContext }] };
  await expect(client.create(Pod({ metadata: { namespace: 'safe', name: 'p' }, spec }))).rejects.toThrow(
    'violates PodSecurity "baseline:latest": privileged',
  );
});

test('ServiceAccounts of Pods', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  const containers = [{ name: 'web', image: 'nginx' }];
  const { spec } = await client.create(Pod({ metadata: { namespace: 'default', name: 'web' }, spec: { containers } }));
  expect(spec.serviceAccountName).toBe('default');
  expect(spec.volumes?.map(({ projected }) => projected?.sources?.length)).toEqual([3]);

  const other = { serviceAccountName: 'robot', containers };
  await expect(client.create(Pod({ metadata: { namespace: 'default', name: 'other' }, spec: other }))).rejects.toThrow(
    'error looking up service account default/robot: serviceaccount "robot" not found',
  );
});

test('users and permissions', async () => {
  await using server = await ApiServer.start();
  const robot = server.as({ serviceAccount: 'robot', namespace: 'default' });
  await using client = createClient(robot.config);
  await expect(client.list(ConfigMap, { namespace: 'default' })).rejects.toSatisfy(isForbidden);

  await using admin = createClient(server.config);
  const metadata = { namespace: 'default', name: 'reader' };
  await admin.create(Role({ metadata, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }] }));
  await admin.create(
    RoleBinding({
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'robot' }],
    }),
  );
  await client.list(ConfigMap, { namespace: 'default' }); // allowed now
});

test('admission webhooks', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  server.handle(
    'https://hooks.shop.svc/validate',
    admissionWebhook<ConfigMap>(({ object }) => ({
      allowed: object?.data?.colour !== 'red',
      status: { message: 'no red, please', code: 403 },
    })),
  );
  await client.create(
    ValidatingWebhookConfiguration({
      metadata: { name: 'colours' },
      webhooks: [
        {
          name: 'colours.example.com',
          clientConfig: { service: { namespace: 'shop', name: 'hooks', path: '/validate' } },
          rules: [
            { operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
          ],
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    }),
  );

  const metadata = { namespace: 'default', name: 'settings' };
  const red = client.create(ConfigMap({ metadata, data: { colour: 'red' } }));
  await expect(red).rejects.toThrow('admission webhook "colours.example.com" denied the request: no red, please');
});

test('admission policies', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  await client.create(
    ValidatingAdmissionPolicy({
      metadata: { name: 'at-most-three-keys' },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
          ],
        },
        validations: [{ expression: '!has(object.data) || object.data.size() <= 3', message: 'too many keys' }],
      },
    }),
  );
  const spec = { policyName: 'at-most-three-keys', validationActions: ['Deny'] };
  await client.create(ValidatingAdmissionPolicyBinding({ metadata: { name: 'everywhere' }, spec }));

  const data = { a: '1', b: '2', c: '3', d: '4' };
  await expect(client.create(ConfigMap({ metadata: { namespace: 'default', name: 'large' }, data }))).rejects.toThrow(
    "ValidatingAdmissionPolicy 'at-most-three-keys' with binding 'everywhere' denied request: too many keys",
  );
});

test('built-in admission plugins', async () => {
  await using open = await ApiServer.start({ admission: { disable: ['PodSecurity'], enable: ['AlwaysPullImages'] } });
  expect(open.token).not.toBe('');
});

const text = { type: 'string' };
const versionOf = (name: string, field: string) => ({
  ...{ name, served: true, storage: name === 'v1' },
  schema: {
    openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { [field]: text } } } },
  },
});
const shirts = CustomResourceDefinition({
  metadata: { name: 'shirts.example.com' },
  spec: {
    ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'shirts', kind: 'Shirt' } },
    versions: [versionOf('v1', 'color'), versionOf('v2', 'colour')],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { service: { namespace: 'default', name: 'hooks', path: '/convert' } },
      },
    },
  },
});

const names = { group: 'example.com', kind: 'Shirt' };
const ShirtV1 = defineKind({ ...names, version: 'v1', spec: z.object({ color: z.string() }) });
const ShirtV2 = defineKind({ ...names, version: 'v2', spec: z.object({ colour: z.string() }) });

interface ConversionReview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: {
    readonly uid: string;
    readonly desiredAPIVersion: string;
    readonly objects: readonly { readonly spec: { readonly color?: string; readonly colour?: string } }[];
  };
}

test('conversion webhooks', async () => {
  await using server = await ApiServer.start();
  server.handle('https://hooks.default.svc/convert', async (request) => {
    const review = (await request.json()) as ConversionReview;
    const { uid, desiredAPIVersion: apiVersion, objects } = review.request;
    const convertedObjects = objects.map(({ spec: { color, colour }, ...shirt }) => {
      return { ...shirt, apiVersion, spec: apiVersion === 'example.com/v2' ? { colour: color } : { color: colour } };
    });
    return Response.json({ ...review, response: { uid, result: { status: 'Success' }, convertedObjects } });
  });

  await using client = createClient(server.config);
  await client.create(shirts); // its spec.conversion names the Service `hooks` and the path `/convert`
  const key = { namespace: 'default', name: 'mine' };
  await client.create(ShirtV1({ metadata: key, spec: { color: 'green' } }));
  expect((await client.get(ShirtV2, key)).spec).toEqual({ colour: 'green' });
});

test('policies that change objects', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  const expression = 'Object{metadata: Object.metadata{labels: {"team": namespaceObject.metadata.labels.team}}}';
  await client.create(
    MutatingAdmissionPolicy({
      metadata: { name: 'team-label' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
          namespaceSelector: { matchLabels: { team: 'a' } },
        },
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
      },
    }),
  );
  await client.create(
    MutatingAdmissionPolicyBinding({ metadata: { name: 'team-label' }, spec: { policyName: 'team-label' } }),
  );

  await client.create(Namespace({ metadata: { name: 'shop', labels: { team: 'a' } } }));
  const made = await client.create(ConfigMap({ metadata: { namespace: 'shop', name: 'settings' } }));
  expect(made.metadata.labels).toEqual({ team: 'a' });
});

test('aggregated API servers', async () => {
  await using server = await ApiServer.start();
  const serve = async (request: Request) => {
    const user = request.headers.get('x-remote-user');
    return Response.json({ apiVersion: 'metrics.example.com/v1', kind: 'Reading', metadata: { name: 'now' }, user });
  };
  server.handle('https://metrics.default.svc', serve);

  await using client = createClient(server.config);
  await client.create(
    APIService({
      metadata: { name: 'v1.metrics.example.com' },
      spec: {
        group: 'metrics.example.com',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { namespace: 'default', name: 'metrics' },
      },
    }),
  );
  await server.idle(); // its condition is Available=True now

  const { url } = await server.listen({ tls: false });
  const headers = { authorization: `Bearer ${server.token}` };
  const response = await fetch(`${url}/apis/metrics.example.com/v1/readings/now`, { headers });
  expect(await response.json()).toMatchObject({ kind: 'Reading', user: 'riata-admin' });
});

test('metrics', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  await client.list(ConfigMap);
  const { url } = await server.listen({ tls: false });
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
  expect(await metrics.text()).toContain('resource="configmaps",scope="cluster",subresource="",verb="LIST"');
});

test('limits', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  await client.create(
    PriorityLevelConfiguration({
      metadata: { name: 'no-seats' },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
      },
    }),
  );
  await client.create(
    FlowSchema({
      metadata: { name: 'robot' },
      spec: {
        priorityLevelConfiguration: { name: 'no-seats' },
        matchingPrecedence: 100,
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'robot' } }],
            resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['configmaps'], namespaces: ['*'] }],
          },
        ],
      },
    }),
  );
  const { url } = await server.listen({ tls: false });
  const { token } = server.as({ user: 'robot' });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/api/v1/namespaces/default/configmaps`, { headers });
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
});

async function prepare(): Promise<ServerSnapshot> {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  for (const name of ['a', 'b', 'c']) await client.create(ConfigMap({ metadata: { namespace: 'default', name } }));
  await server.idle();
  return server.snapshot();
}

test('snapshots', async () => {
  const snapshot = await prepare();
  await using server = await ApiServer.start({ from: snapshot });
  await using client = createClient(server.config);
  await client.delete(ConfigMap, { namespace: 'default', name: 'a' }); // no other server sees this
  await using other = await ApiServer.start({ from: snapshot });
  await using otherClient = createClient(other.config);
  expect((await otherClient.get(ConfigMap, { namespace: 'default', name: 'a' })).metadata.name).toBe('a');
});

test('a data directory', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'riata-guide-'));
  try {
    {
      await using server = await ApiServer.start({ dataDir });
      await using client = createClient(server.config);
      await client.create(ConfigMap({ metadata: { namespace: 'default', name: 'kept' } })); // on the disk when this resolves
    }
    await using server = await ApiServer.start({ dataDir });
    await using client = createClient(server.config);
    expect((await client.get(ConfigMap, { namespace: 'default', name: 'kept' })).metadata.name).toBe('kept');
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test('audit log', async () => {
  const policy: AuditPolicy = {
    omitStages: ['RequestReceived'],
    rules: [
      { level: 'Metadata', resources: [{ resources: ['secrets'] }] }, // never their contents
      { level: 'RequestResponse', verbs: ['create', 'update', 'patch', 'delete'] },
    ],
  };
  const audit = new AuditStream();
  await using server = await ApiServer.start({ audit: { policy, sink: audit } });
  await using client = createClient(server.config);
  await client.create(ConfigMap({ metadata: { namespace: 'default', name: 'a' } }));
  for await (const { verb, objectRef, responseStatus } of audit) {
    expect([verb, objectRef?.name, responseStatus?.code]).toEqual(['create', 'a', 201]);
    break;
  }
});

test('time, randomness and the network', async () => {
  const clock = new VirtualClock();
  await using server = await ApiServer.start({ clock, random: seededRandom(1) });
  const late = server.connect({ faults: ({ watch }) => (watch ? { eventDelayMs: 5_000 } : { delayMs: 100 }) });
  await using client = createClient(late, { runtime: { clock } });
  const [made] = await Promise.all([
    client.create(ConfigMap({ metadata: { namespace: 'default', name: 'a' } })),
    clock.advance(1_000), // no real time passes
  ]);
  await server.restart({ downMs: 0 }); // connections are cut, objects are kept
  expect(made.metadata.name).toBe('a');
});

const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };

test('a Deployment rolls out', async () => {
  await using sandbox = await Sandbox.start({ nodes: 3 });
  const { client } = sandbox;
  const key = { namespace: 'default', name: 'web' };
  await client.create(
    Deployment({ metadata: key, spec: { replicas: 3, selector: { matchLabels: labels }, template } }),
  );
  await vi.waitFor(async () => {
    expect(computeStatus(await client.get(Deployment, key)).status).toBe('Current');
  }, 45_000);
});
