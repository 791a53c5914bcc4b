import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WriteObject } from 'riata/client';
import { ClusterRole, type Deployment, type Role, Secret } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { tokenFor } from '../chart/placeholder.js';
import { resolveOperator } from '../config/resolve-operator.js';
import { shortenedCrds } from './crd-manifests.js';
import { deployment } from './deployment.js';
import { operatorObjects } from './operator-objects.js';
import { refuseSecrets } from './refuse-secrets.js';
import { fullOptions, siteConfig, siteRules, sites } from './site-operator.fixture.js';
import { testedRights } from './used-rights.js';

const names = (objects: readonly WriteObject[]) =>
  objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
const find = <T>(objects: readonly WriteObject[], kind: string, name = 'site-operator') =>
  objects.find((each) => each.kind === kind && each.metadata.name === name) as T;
const rulesOf = (object: WriteObject) => (object as ReturnType<typeof Role>).rules;

test('objects of a controller alone', async () => {
  const objects = await deployment(siteConfig());
  expect(names(objects)).toMatchInlineSnapshot(`
    [
      "Namespace /site-operator",
      "CustomResourceDefinition /sites.sites.example.com",
      "ServiceAccount site-operator/site-operator",
      "ClusterRole /site-operator",
      "ClusterRoleBinding /site-operator",
      "Role site-operator/site-operator",
      "RoleBinding site-operator/site-operator",
      "ClusterRole /site-operator-site-viewer",
      "ClusterRole /site-operator-site-editor",
      "ClusterRole /site-operator-site-admin",
      "Deployment site-operator/site-operator",
      "NetworkPolicy site-operator/site-operator",
    ]
  `);
  const { spec } = find<ReturnType<typeof Deployment>>(objects, 'Deployment');
  expect(spec).toMatchInlineSnapshot(`
    {
      "replicas": 1,
      "selector": {
        "matchLabels": {
          "app.kubernetes.io/name": "site-operator",
        },
      },
      "strategy": {
        "type": "Recreate",
      },
      "template": {
        "metadata": {
          "labels": {
            "app.kubernetes.io/name": "site-operator",
          },
        },
        "spec": {
          "automountServiceAccountToken": true,
          "containers": [
            {
              "env": [
                {
                  "name": "POD_NAME",
                  "valueFrom": {
                    "fieldRef": {
                      "fieldPath": "metadata.name",
                    },
                  },
                },
                {
                  "name": "POD_NAMESPACE",
                  "valueFrom": {
                    "fieldRef": {
                      "fieldPath": "metadata.namespace",
                    },
                  },
                },
                {
                  "name": "NODE_OPTIONS",
                  "value": "--max-semi-space-size=4",
                },
              ],
              "image": "registry.example.com/site-operator:1.2.3",
              "name": "operator",
              "resources": {
                "limits": {
                  "memory": "256Mi",
                },
                "requests": {
                  "cpu": "50m",
                  "memory": "128Mi",
                },
              },
              "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": {
                  "drop": [
                    "ALL",
                  ],
                },
                "readOnlyRootFilesystem": true,
              },
            },
          ],
          "securityContext": {
            "runAsNonRoot": true,
            "seccompProfile": {
              "type": "RuntimeDefault",
            },
          },
          "serviceAccountName": "site-operator",
          "terminationGracePeriodSeconds": 45,
        },
      },
    }
  `);
});

test('with everything', async () => {
  const config = siteConfig({ definitions: [sites, siteRules], options: fullOptions });
  const objects = await deployment(config, { monitoring: true });
  expect(names(objects)).toMatchInlineSnapshot(`
    [
      "Namespace /site-operator",
      "CustomResourceDefinition /sites.sites.example.com",
      "ServiceAccount site-operator/site-operator",
      "ClusterRole /site-operator",
      "ClusterRoleBinding /site-operator",
      "Role site-operator/site-operator",
      "RoleBinding site-operator/site-operator",
      "ClusterRole /site-operator-site-viewer",
      "ClusterRole /site-operator-site-editor",
      "ClusterRole /site-operator-site-admin",
      "Service site-operator/site-operator",
      "Service site-operator/site-operator-metrics",
      "ClusterRole /site-operator-metrics-reader",
      "Deployment site-operator/site-operator",
      "PodDisruptionBudget site-operator/site-operator",
      "NetworkPolicy site-operator/site-operator",
      "ServiceMonitor site-operator/site-operator",
      "PrometheusRule site-operator/site-operator",
      "ValidatingWebhookConfiguration /site-operator.site-operator",
    ]
  `);
  const { spec } = find<ReturnType<typeof Deployment>>(objects, 'Deployment');
  expect(spec).toMatchObject({
    replicas: 2,
    strategy: { type: 'RollingUpdate' },
    template: {
      spec: {
        topologySpreadConstraints: [
          { topologyKey: 'topology.kubernetes.io/zone' },
          { topologyKey: 'kubernetes.io/hostname' },
        ],
        containers: [
          {
            ports: [
              { name: 'health', containerPort: 8081 },
              { name: 'metrics', containerPort: 8080 },
              { name: 'webhooks', containerPort: 9443 },
            ],
            livenessProbe: { httpGet: { path: '/healthz', port: 'health' } },
            readinessProbe: { httpGet: { path: '/readyz', port: 'health' } },
          },
        ],
      },
    },
  });
  expect(rulesOf(find(objects, 'ClusterRole'))).toMatchInlineSnapshot(`
    [
      {
        "apiGroups": [
          "",
        ],
        "resources": [
          "events",
        ],
        "verbs": [
          "create",
          "patch",
        ],
      },
      {
        "apiGroups": [
          "",
        ],
        "resources": [
          "namespaces",
        ],
        "verbs": [
          "get",
          "list",
          "watch",
        ],
      },
      {
        "apiGroups": [
          "admissionregistration.k8s.io",
        ],
        "resourceNames": [
          "site-operator.site-operator",
        ],
        "resources": [
          "mutatingwebhookconfigurations",
          "validatingwebhookconfigurations",
        ],
        "verbs": [
          "create",
          "delete",
          "get",
          "list",
          "patch",
          "watch",
        ],
      },
      {
        "apiGroups": [
          "apps",
        ],
        "resources": [
          "deployments",
        ],
        "verbs": [
          "create",
          "delete",
          "get",
          "list",
          "patch",
          "update",
          "watch",
        ],
      },
      {
        "apiGroups": [
          "authentication.k8s.io",
        ],
        "resources": [
          "tokenreviews",
        ],
        "verbs": [
          "create",
        ],
      },
      {
        "apiGroups": [
          "authorization.k8s.io",
        ],
        "resources": [
          "subjectaccessreviews",
        ],
        "verbs": [
          "create",
        ],
      },
      {
        "apiGroups": [
          "events.k8s.io",
        ],
        "resources": [
          "events",
        ],
        "verbs": [
          "create",
          "patch",
        ],
      },
      {
        "apiGroups": [
          "sites.example.com",
        ],
        "resources": [
          "sites",
        ],
        "verbs": [
          "get",
          "list",
          "patch",
          "update",
          "watch",
        ],
      },
      {
        "apiGroups": [
          "sites.example.com",
        ],
        "resources": [
          "sites/finalizers",
        ],
        "verbs": [
          "update",
        ],
      },
      {
        "apiGroups": [
          "sites.example.com",
        ],
        "resources": [
          "sites/status",
        ],
        "verbs": [
          "get",
          "patch",
          "update",
        ],
      },
    ]
  `);
  expect(rulesOf(find(objects, 'Role'))).toMatchInlineSnapshot(`
    [
      {
        "apiGroups": [
          "",
        ],
        "resources": [
          "events",
        ],
        "verbs": [
          "create",
          "patch",
        ],
      },
      {
        "apiGroups": [
          "",
        ],
        "resources": [
          "secrets",
        ],
        "verbs": [
          "create",
        ],
      },
      {
        "apiGroups": [
          "",
        ],
        "resourceNames": [
          "site-operator-tls",
        ],
        "resources": [
          "secrets",
        ],
        "verbs": [
          "get",
          "list",
          "update",
          "watch",
        ],
      },
      {
        "apiGroups": [
          "coordination.k8s.io",
        ],
        "resources": [
          "leases",
        ],
        "verbs": [
          "create",
          "get",
          "patch",
          "update",
        ],
      },
      {
        "apiGroups": [
          "coordination.k8s.io",
        ],
        "resourceNames": [
          "site-operator-webhooks",
        ],
        "resources": [
          "leases",
        ],
        "verbs": [
          "get",
          "update",
        ],
      },
      {
        "apiGroups": [
          "events.k8s.io",
        ],
        "resources": [
          "events",
        ],
        "verbs": [
          "create",
          "patch",
        ],
      },
    ]
  `);
  expect(JSON.stringify(await deployment(config, { monitoring: true }))).toBe(JSON.stringify(objects));
});

test('rights in some namespaces alone: cluster-scoped kinds keep a ClusterRole', async () => {
  const objects = await deployment(siteConfig({ options: { cache: { namespaces: ['shop', 'site-operator'] } } }));
  const roles = objects.filter(({ kind }) => kind === 'Role');
  expect(names(roles)).toEqual(['Role shop/site-operator', 'Role site-operator/site-operator']);
  expect(rulesOf(find(objects, 'ClusterRole'))).toEqual([
    { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
  ]);
});

test('Leases in a namespace of their own', async () => {
  const options = { leaderElection: { namespace: 'leases', name: 'site-operator' } };
  const objects = await deployment(siteConfig({ options }));
  expect(names(objects)).toContain('Role leases/site-operator-leases');
  expect(names(objects)).toContain('RoleBinding leases/site-operator-leases');
});

test('rights by tests, with those of the framework', async () => {
  const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] };
  const used = testedRights([
    {
      clusterRules: [
        { apiGroups: ['sites.example.com'], resources: ['sites', 'sites/status'], verbs: ['list', 'watch'] },
        { nonResourceURLs: ['/logs'], verbs: ['get'] },
      ],
      namespaceRules: { 'test-1': [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'] }, lease] },
    },
  ]);
  const operator = await resolveOperator(siteConfig({ options: fullOptions }));
  const objects = await deployment({ ...operator, testedRights: used });
  expect(rulesOf(find(objects, 'ClusterRole'))).toEqual([
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    { apiGroups: ['sites.example.com'], resources: ['sites', 'sites/status'], verbs: ['list', 'watch'] },
    { nonResourceURLs: ['/logs'], verbs: ['get'] },
  ]);
  expect(rulesOf(find(objects, 'Role'))).toContainEqual({
    ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
    verbs: ['create', 'get', 'patch', 'update'],
  });
});

test('probes, ports and monitoring need what can be reached', async () => {
  const loopback = siteConfig({ options: { metrics: { port: 8080, host: '127.0.0.1' }, health: { port: 0 } } });
  const objects = await deployment(loopback);
  expect(JSON.stringify(objects)).not.toMatch(/livenessProbe|containerPort/);
  await expect(deployment(loopback, { monitoring: true })).rejects.toThrow(/monitoring requires metrics/);
});

test('replicas by what replicas can do', async () => {
  const replicas = async (options: object, definitions = [sites] as const) =>
    find<ReturnType<typeof Deployment>>(await deployment(siteConfig({ options, definitions })), 'Deployment').spec
      ?.replicas;
  const lease = { namespace: 'site-operator', name: 'x' };
  expect(await replicas({})).toBe(1);
  expect(await replicas({ leaderElection: lease })).toBe(2);
  expect(await replicas({ sharding: lease })).toBe(3);
  expect(await replicas({}, [siteRules] as never)).toBe(2);
  await expect(deployment(siteConfig(), { replicas: 2 })).rejects.toThrow(
    'deployment "site-operator": replicas must be 0 or 1 without leaderElection or sharding, got 2',
  );
});

test('roles of users say what the kind has', async () => {
  const objects = await deployment(siteConfig());
  const roles = objects.filter(({ kind, metadata }) => kind === ClusterRole.kind && metadata.name !== 'site-operator');
  expect(roles.map(({ metadata }) => [metadata.name, metadata.labels])).toMatchInlineSnapshot(`
    [
      [
        "site-operator-site-viewer",
        {
          "app.kubernetes.io/name": "site-operator",
          "rbac.authorization.k8s.io/aggregate-to-view": "true",
        },
      ],
      [
        "site-operator-site-editor",
        {
          "app.kubernetes.io/name": "site-operator",
          "rbac.authorization.k8s.io/aggregate-to-edit": "true",
        },
      ],
      [
        "site-operator-site-admin",
        {
          "app.kubernetes.io/name": "site-operator",
          "rbac.authorization.k8s.io/aggregate-to-admin": "true",
        },
      ],
    ]
  `);
  expect(rulesOf(roles[1] as WriteObject)).toMatchInlineSnapshot(`
    [
      {
        "apiGroups": [
          "sites.example.com",
        ],
        "resources": [
          "sites",
        ],
        "verbs": [
          "create",
          "delete",
          "deletecollection",
          "get",
          "list",
          "patch",
          "update",
          "watch",
        ],
      },
      {
        "apiGroups": [
          "sites.example.com",
        ],
        "resources": [
          "sites/status",
        ],
        "verbs": [
          "get",
        ],
      },
    ]
  `);
});

test.each([
  [{ replica: 2 }, 'deployment "site-operator": unknown option "replica"; did you mean "replicas"?'],
  [
    { pod: { nodeselector: {} } },
    'deployment "site-operator": pod: unknown option "nodeselector"; did you mean "nodeSelector"?',
  ],
  [{ monitoring: { alert: true } }, 'monitoring: unknown option "alert"'],
  [{ replicas: -1 }, 'replicas must be an integer ≥ 0, got -1'],
])('%j is refused', async (options, message) => {
  await expect(deployment(siteConfig(), options as never)).rejects.toThrow(message);
});

test('a large definition loses its descriptions', async () => {
  const description = 'x'.repeat(300 * 1024);
  const Large = defineKind({
    ...{ group: 'sites.example.com', version: 'v1', kind: 'Large' },
    spec: z.object({ text: z.string().describe(description) }),
  });
  const objects = await deployment(siteConfig({ config: { kinds: [Large] } }));
  const crd = find<object>(objects, 'CustomResourceDefinition', 'larges.sites.example.com');
  expect(JSON.stringify(crd).length).toBeLessThan(10_000);
  expect(shortenedCrds([Large])).toEqual([{ name: 'larges.sites.example.com', bytes: expect.any(Number) }]);
});

test('the config changes objects by code', async () => {
  const config = siteConfig({
    config: {
      objects: async (operator) =>
        (await deployment(operator, { createNamespace: false })).filter(({ kind }) => kind === 'Deployment'),
    },
  });
  expect(names(await operatorObjects(await resolveOperator(config)))).toEqual([
    'Deployment site-operator/site-operator',
  ]);
  const wrong = await resolveOperator(siteConfig({ config: { objects: () => [{}] as never } }));
  await expect(operatorObjects(wrong)).rejects.toThrow(/element 0 has not all of them/);
});

test('alerts are about metrics that the manager has', async () => {
  const config = siteConfig({ options: fullOptions });
  const rule = find<{ spec: { groups: { rules: { expr: string }[] }[] } }>(
    await deployment(config, { monitoring: true }),
    'PrometheusRule',
  );
  const expressions = rule.spec.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)).join(' ');
  const names = [...expressions.matchAll(/([a-z_]+)\{/g)].map(([, name = '']) => name.replace(/_bucket$/, ''));
  const source = fileURLToPath(new URL('../../../riata/src', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(?<!\.test)\.ts$/.test(path),
  );
  const text = files.map((path) => readFileSync(join(source, path), 'utf8')).join('');
  const isQueue = (name: string) => text.includes('workqueue_') && text.includes(`'${name.replace('workqueue_', '')}'`);
  const missing = names.filter((name) => name !== 'up' && !text.includes(`'${name}'`) && !isQueue(name));
  expect(names.length).toBeGreaterThan(5);
  expect(missing).toEqual([]);
});

test('values of Secrets are not written to files', () => {
  const secret = (data: object) => [Secret({ metadata: { name: 'key', namespace: 'shop' }, ...data })];
  expect(() => refuseSecrets(secret({ stringData: { password: 'x' } }))).toThrow(
    'Secret shop/key: has a value for "password", which would be written to a file',
  );
  expect(() => refuseSecrets(secret({ stringData: { password: tokenFor('values.password') } }))).not.toThrow();
  expect(() => refuseSecrets(secret({}))).not.toThrow();
});
