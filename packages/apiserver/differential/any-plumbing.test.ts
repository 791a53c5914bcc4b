import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { anyValue } from '../src/kinds/any-value.fixture.js';
import { builtInSchema } from '../src/schema/built-in/built-in-schema.js';
import type { SchemaNode } from '../src/schema/built-in/schema-node.js';
import { namespace, namespaces, post, put, remove } from './asks.js';
import { describeDifference } from './difference.js';
import { serverPair, uniqueName } from './pair.js';

const pair = serverPair();
/** Others try other objects: `RIATA_SEED=7 RIATA_RUNS=500 npm run test:real -- any-plumbing`. */
const seed = Number(process.env.RIATA_SEED ?? 1);
const numRuns = Number(process.env.RIATA_RUNS ?? 6);

const ports = [{ name: 'a', port: 80 }];
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://example.com' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const backend = { service: { name: 's', port: { number: 80 } } };

/** Where each kind is, and an object of it that is fine. */
const kinds: Readonly<Record<string, readonly [group: string, plural: string, fine: JsonObject]>> = {
  Service: ['', 'services', { spec: { ports } }],
  Endpoints: ['', 'endpoints', { subsets: [{ addresses: [{ ip: '1.2.3.4' }], ports }] }],
  ConfigMap: ['', 'configmaps', {}],
  Secret: ['', 'secrets', {}],
  ServiceAccount: ['', 'serviceaccounts', {}],
  PersistentVolumeClaim: ['', 'persistentvolumeclaims', { spec: claim }],
  LimitRange: ['', 'limitranges', { spec: { limits: [{ type: 'Container' }] } }],
  ResourceQuota: ['', 'resourcequotas', { spec: { hard: { pods: '1' } } }],
  EndpointSlice: [
    'discovery.k8s.io',
    'endpointslices',
    { addressType: 'IPv4', endpoints: [{ addresses: ['1.2.3.4'] }] },
  ],
  Lease: ['coordination.k8s.io', 'leases', { spec: {} }],
  Ingress: ['networking.k8s.io', 'ingresses', { spec: { defaultBackend: backend } }],
  NetworkPolicy: ['networking.k8s.io', 'networkpolicies', { spec: { podSelector: {} } }],
  IngressClass: ['networking.k8s.io', 'ingressclasses', { spec: { controller: 'a.b/c' } }],
  Role: ['rbac.authorization.k8s.io', 'roles', {}],
  ClusterRole: ['rbac.authorization.k8s.io', 'clusterroles', {}],
  RoleBinding: ['rbac.authorization.k8s.io', 'rolebindings', { roleRef: { kind: 'Role', name: 'r' } }],
  ValidatingWebhookConfiguration: [
    'admissionregistration.k8s.io',
    'validatingwebhookconfigurations',
    { webhooks: [webhook] },
  ],
  MutatingWebhookConfiguration: [
    'admissionregistration.k8s.io',
    'mutatingwebhookconfigurations',
    { webhooks: [webhook] },
  ],
  StorageClass: ['storage.k8s.io', 'storageclasses', { provisioner: 'p' }],
  RuntimeClass: ['node.k8s.io', 'runtimeclasses', { handler: 'h' }],
  Node: ['', 'nodes', {}],
};
const inNoNamespace = ['IngressClass', 'ClusterRole', 'StorageClass', 'RuntimeClass', 'Node'];
const texts = [
  ...['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', 'None', 'ClientIP', 'Local', 'Cluster', 'TCP', 'UDP'],
  ...['IPv4', 'IPv6', 'SingleStack', 'PreferDualStack', 'RequireDualStack', '1.2.3.4', '10.0.0.9', '01.2.3.4', 'a.b'],
  ...[
    'User',
    'Group',
    'ServiceAccount',
    'Role',
    'ClusterRole',
    '*',
    '*/*',
    'get',
    'Prefix',
    'Exact',
    'Ingress',
    'Egress',
  ],
  ...[
    'Pod',
    'Container',
    'Block',
    'BestEffort',
    'PriorityClass',
    'NoSchedule',
    'Equal',
    'Ignore',
    'Delete',
    'Namespace',
  ],
  ...[
    'kubernetes.io/tls',
    'ReadWriteMany',
    'ReadWriteOncePod',
    'PersistentVolumeClaim',
    'https://a.b/c',
    'a.b.c',
    'v1',
  ],
];
/**
 * Unavoidable differences: Go distinguishes empty lists from missing ones until it has written them; expressions are
 * not compiled.
 */
const options = { empties: false, without: ['metadata', 'matchConditions', 'configSource'], texts };

/** Something fine with parts of something else in it. */
function mixed(fine: Json | undefined, other: Json): Json {
  if (Array.isArray(fine) && Array.isArray(other)) return other.map((item) => mixed(fine[0], item));
  if (!isJsonObject(fine) || !isJsonObject(other)) return other;
  const merged = Object.entries(other).map(([name, value]) => [name, mixed(fine[name], value as Json)]);
  return { ...fine, ...Object.fromEntries(merged) };
}

test.each(Object.entries(kinds))('any %s', async (kind, [group, plural, fine]) => {
  const ns = uniqueName('any');
  await pair().both(post(namespaces, namespace(ns)));
  const schema = builtInSchema({ group, version: 'v1', kind }) as SchemaNode;
  const samples = fc.sample(anyValue(schema, 8, options), { numRuns, seed }) as readonly JsonObject[];
  const objects = samples.map(({ apiVersion: _a, kind: _k, status: _s, ...object }) => object);
  // A forbidden change of a claim is reported with a diff of Go's own structs.
  const isKept = kind === 'PersistentVolumeClaim';
  const isClusterWide = inNoNamespace.includes(kind) || plural.endsWith('webhookconfigurations');
  const at = `${group === '' ? '/api/v1' : `/apis/${group}/v1`}${isClusterWide ? '' : `/namespaces/${ns}`}/${plural}`;
  const bodies = objects.map((object) => mixed(fine, object) as JsonObject);
  const steps = [
    post(at, { ...fine, metadata: { name: ns } }),
    ...bodies.map((body, index) => post(`${at}?dryRun=All`, { ...body, metadata: { name: `${ns}-${index}` } })),
    ...(isKept ? [] : bodies.map((body) => put(`${at}/${ns}?dryRun=All`, { ...body, metadata: { name: ns } }))),
    remove(`${at}/${ns}`, undefined, { silent: true }),
  ];
  const found = await pair().differences(steps);
  expect(found.map(describeDifference).join('\n')).toBe('');
});
