import { gvkOf, type JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { builtInSchema } from '../src/schema/built-in/built-in-schema.js';
import { decodeTyped, IllTypedError } from '../src/schema/built-in/decode-typed.js';
import { askReal } from './ask.js';

const pod = (spec: unknown, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', ...metadata },
  spec,
});
const container = (fields: object) => pod({ containers: [fields] });
const deployment = (spec: unknown) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec });
const configMap = (fields: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, ...fields });
const secret = (fields: object) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, ...fields });
const lease = (spec: object) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'a' },
  spec,
});
const meta = (metadata: object) => configMap({ metadata: { name: 'a', ...metadata } });
const crd = (schema: unknown) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'as.example.com' },
  spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
});

const paths: Record<string, string> = {
  Pod: '/api/v1/namespaces/default/pods',
  Deployment: '/apis/apps/v1/namespaces/default/deployments',
  ConfigMap: '/api/v1/namespaces/default/configmaps',
  Secret: '/api/v1/namespaces/default/secrets',
  Lease: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
  CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
};

const cases: JsonObject[] = [
  deployment({ replicas: 'x' }),
  deployment({ replicas: 1.5 }),
  deployment({ replicas: 99999999999 }),
  deployment({ replicas: true }),
  deployment({ replicas: {} }),
  deployment({ replicas: [] }),
  deployment({ selector: 'x' }),
  deployment({ template: [1] }),
  deployment('x'),
  deployment(5),
  deployment([]),
  deployment({ strategy: { rollingUpdate: { maxSurge: true } } }),
  deployment({ strategy: { rollingUpdate: { maxSurge: 1.5 } } }),
  deployment({ strategy: { rollingUpdate: { maxSurge: [] } } }),
  deployment({ strategy: { type: 5 } }),
  pod({ containers: {} }),
  pod({ containers: ['x'] }),
  pod({ containers: [['x']] }),
  pod({ volumes: [{ hostPath: 5 }] }),
  pod({ volumes: [{ hostPath: { path: 5 } }] }),
  pod({ volumes: [{ projected: { sources: [{ secret: { name: 5 } }] } }] }),
  pod({ volumes: [{ emptyDir: { sizeLimit: 'abc' } }] }),
  pod({ volumes: [{ emptyDir: { sizeLimit: '1x' } }] }),
  pod({ volumes: [{ emptyDir: { sizeLimit: '.' } }] }),
  pod({ volumes: [{ emptyDir: { sizeLimit: '' } }] }),
  pod({ volumes: [{ emptyDir: { sizeLimit: ' ' } }] }),
  pod({ volumes: [{ emptyDir: { sizeLimit: {} } }] }),
  pod({ nodeSelector: { a: { b: 1 } } }),
  pod({ nodeSelector: ['a'] }),
  pod({ terminationGracePeriodSeconds: 1e30 }),
  pod({ hostNetwork: 'true' }),
  pod({ overhead: { cpu: 'abc' } }),
  pod({ overhead: 'x' }),
  container({ ports: [{ protocol: 5 }] }),
  container({ ports: [{ containerPort: '80' }] }),
  container({ stdin: 'x', tty: 5 }),
  container({ tty: 5, stdin: 'x' }),
  container({ args: [1] }),
  container({ resources: { limits: 'x' } }),
  container({ resources: { limits: { cpu: true } } }),
  container({ envFrom: [{ configMapRef: { name: 5 } }] }),
  container({ livenessProbe: { httpGet: { port: true } } }),
  container({ livenessProbe: { httpGet: { port: 1.5 } } }),
  container({ livenessProbe: { exec: { command: 'ls' } } }),
  container({ lifecycle: { preStop: { exec: 5 } } }),
  container({ env: [{ name: 'a', valueFrom: { fieldRef: 'x' } }] }),
  container({ securityContext: { runAsUser: '0' } }),
  container({ restartPolicy: 5 }),
  pod({}, { creationTimestamp: 'x' }),
  pod({}, { creationTimestamp: 5 }),
  pod({}, { creationTimestamp: '' }),
  pod({}, { creationTimestamp: '2020-01-01' }),
  pod({}, { creationTimestamp: '2020-01-01T00:00:00' }),
  pod({}, { creationTimestamp: '2020-01-01 00:00:00Z' }),
  pod({}, { creationTimestamp: '2020-13-01T00:00:00Z' }),
  pod({}, { creationTimestamp: '2020-02-31T00:00:00Z' }),
  pod({}, { creationTimestamp: '2020-02-01T24:00:00Z' }),
  pod({}, { creationTimestamp: '2020-02-01T00:00:00ZZ' }),
  pod({}, { creationTimestamp: '2020-2-1T00:00:00Z' }),
  pod({}, { deletionTimestamp: true }),
  meta({ labels: { a: 5 } }),
  meta({ labels: [] }),
  meta({ annotations: 'x' }),
  meta({ managedFields: 'x' }),
  meta({ ownerReferences: [{ uid: 5 }] }),
  meta({ ownerReferences: {} }),
  meta({ finalizers: [5] }),
  meta({ generation: 'x' }),
  meta({ resourceVersion: 5 }),
  configMap({ metadata: 5 }),
  configMap({ data: { a: 5 } }),
  configMap({ data: 5 }),
  configMap({ immutable: 'yes' }),
  configMap({ binaryData: { a: '!!' } }),
  configMap({ binaryData: { a: 'YQ' } }),
  configMap({ binaryData: { a: 'YQ=' } }),
  configMap({ binaryData: { a: 'YWJjZ' } }),
  configMap({ binaryData: { a: 'YWJj ZGVm' } }),
  secret({ data: { a: 'plain' } }),
  secret({ data: { a: 5 } }),
  secret({ type: {} }),
  lease({ renewTime: '2020' }),
  lease({ renewTime: 5 }),
  lease({ renewTime: '2020-01-01T00:00:00.5+02:00' }),
  lease({ renewTime: '2020-01-01T00:00:00Z' }),
  lease({ leaseDurationSeconds: '15' }),
  crd({ type: 5 }),
  crd({ additionalProperties: 5 }),
  crd({ additionalProperties: { type: 5 } }),
  crd({ properties: { a: { type: 5 } } }),
  crd({ properties: { a: { items: { type: 5 } } } }),
  crd({ properties: [] }),
  crd({ minimum: 'x' }),
  crd({ maxLength: 1.5 }),
  crd({ required: 'x' }),
  crd({ 'x-kubernetes-preserve-unknown-fields': 'x' }),
];

test.each(cases.map((body) => [JSON.stringify(body.spec ?? body), body] as const))(
  'ill-typed: %s',
  async (_name, body) => {
    const { group, version, kind } = gvkOf(body as never);
    const real = await askReal('POST', `${paths[kind]}?dryRun=All`, body);
    const schema = builtInSchema({ group, version, kind });
    let message = 'no error';
    try {
      decodeTyped(body, schema as never);
    } catch (error) {
      if (!(error instanceof IllTypedError)) throw error;
      message = `${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`;
    }
    expect(message).toBe(real.code === 400 ? real.body.message : 'no error');
  },
);

const rewritten: JsonObject[] = [
  configMap({
    data: null,
    binaryData: {},
    nope: 1,
    metadata: { name: 'a', labels: { a: null }, creationTimestamp: null },
  }),
  configMap({ data: { a: '', b: 'x', __proto: 'y' }, immutable: false }),
  configMap({ binaryData: { a: 'YW\nJj', b: '' } }),
  meta({ annotations: {}, finalizers: null, ownerReferences: [], Labels: { a: 'b' } }),
  secret({ data: { a: null }, type: 'Opaque' }),
  lease({
    renewTime: '2020-01-01T00:00:00.500000+02:00',
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: null,
  }),
  lease({}),
  { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' }, spec: null },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'a' } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'a' },
    rules: [{ verbs: ['get'], apiGroups: [''], resources: ['x'], resourceNames: [] }],
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'a' },
    revision: 0,
    data: { b: [null, 1.5], a: '' },
  },
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'a' },
    subsets: [{ addresses: [{ ip: '10.0.0.1', hostname: '' }], ports: [{ port: 80, protocol: 'TCP', name: '' }] }],
  },
  {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'a' },
    spec: { limits: [{ type: 'Pod', max: { cpu: '1000m', memory: '1.5Gi', 'ephemeral-storage': 1024 } }] },
  },
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'a' },
    spec: { hard: { cpu: '0.5', pods: '10e3', memory: '1e3Mi' } },
    status: { used: null },
  },
];
const morePaths: Record<string, string> = {
  Role: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
  ControllerRevision: '/apis/apps/v1/namespaces/default/controllerrevisions',
  Endpoints: '/api/v1/namespaces/default/endpoints',
  LimitRange: '/api/v1/namespaces/default/limitranges',
  ResourceQuota: '/api/v1/namespaces/default/resourcequotas',
};

test.each(rewritten.map((body) => [JSON.stringify(body), body] as const))(
  'as Go writes it: %s',
  async (_name, body) => {
    const { group, version, kind } = gvkOf(body as never);
    const real = await askReal('POST', `${paths[kind] ?? morePaths[kind]}?dryRun=All`, body);
    const { uid, namespace, managedFields, creationTimestamp, ...metadata } = real.body.metadata;
    let message = '';
    let ours: JsonObject = {};
    try {
      ours = decodeTyped(body, builtInSchema({ group, version, kind }) as never);
    } catch (error) {
      message = `${kind} in version "${version}" cannot be handled as a ${kind}: ${(error as Error).message}`;
    }
    if (real.code !== 201) expect(message).toBe(real.body.message);
    else expect(JSON.stringify(ours)).toBe(JSON.stringify({ ...real.body, metadata }));
  },
);
