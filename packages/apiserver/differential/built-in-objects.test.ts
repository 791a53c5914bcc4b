import { apply, configMap, configMaps, get, merge, namespace, namespaces, post, put, remove, secrets } from './asks.js';
import { isEstablished } from './custom-kinds.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

play(pair, 'namespaces are made, read and changed', () => {
  const ns = uniqueName('n');
  const at = `${namespaces}/${ns}`;
  return [
    post(namespaces, namespace(ns), { as: 'made' }),
    post(namespaces, namespace(ns)),
    get(at),
    post(namespaces, namespace('Bad_Name')),
    post(namespaces, namespace('')),
    post(namespaces, namespace('a'.repeat(64))),
    post(namespaces, namespace('a.b')),
    put(at, namespace(ns, { metadata: { name: ns, labels: { a: 'b' } } })),
    put(at, namespace(ns, { spec: { finalizers: [] } })),
    put(`${at}/status`, namespace(ns, { status: { phase: 'Active', conditions: [] } })),
    get(`${at}/status`),
    post(namespaces, namespace(`${ns}x`, { spec: { finalizers: ['example.com/a'] } })),
    post(namespaces, namespace(`${ns}y`, { spec: { finalizers: ['a'] } })),
    post(namespaces, namespace(`${ns}z`, { status: { phase: 'Terminating' } })),
    get('/api/v1/namespaces?fieldSelector=metadata.name%3Dno-such'),
    get(`/api/v1/namespaces?fieldSelector=metadata.name%3D${ns}`),
  ];
});

play(pair, 'a namespace on its way out takes nothing new', () => {
  const ns = uniqueName('t');
  return [
    post(namespaces, namespace(ns)),
    post(configMaps(ns), configMap('a')),
    remove(`${namespaces}/${ns}`),
    remove(`${namespaces}/${ns}`),
    get(`${namespaces}/${ns}`),
    post(configMaps(ns), configMap('b')),
    post(secrets(ns), { metadata: { name: 'b' } }),
    put(`${configMaps(ns)}/a`, configMap('a', { x: '1' })),
    remove(`${configMaps(ns)}/a`),
    put(`${namespaces}/${ns}/finalize`, namespace(ns, { spec: { finalizers: ['example.com/x'] } })),
    put(`${namespaces}/${ns}/finalize`, namespace(ns)),
    get(`${namespaces}/${ns}`),
    post(configMaps(ns), configMap('c')),
  ];
});

play(pair, 'nothing is made in a namespace that is not there', () => {
  const ns = uniqueName('no');
  return [
    post(configMaps(ns), configMap('a')),
    get(configMaps(ns)),
    get(`${configMaps(ns)}/a`),
    put(`${configMaps(ns)}/a`, configMap('a')),
    put(`/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles/r`, { metadata: { name: 'r' } }),
    remove(`${configMaps(ns)}/a`),
    remove(configMaps(ns)),
    post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'a' } }),
    post(`${configMaps(ns)}?dryRun=All`, configMap('a')),
    post('/api/v1/configmaps', configMap('a')),
    post('/api/v1/configmaps', configMap('a', {}, { namespace: ns })),
  ];
});

play(pair, 'ConfigMaps are made, read, changed and deleted', () => {
  const ns = uniqueName('c');
  const all = configMaps(ns);
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a', { x: '1' }), { as: 'a' }),
    post(all, configMap('a')),
    get(`${all}/a`),
    get(`${all}/b`),
    put(`${all}/a`, configMap('a', { x: '2' }), { as: 'a2' }),
    put(`${all}/a`, configMap('a', { x: '2' })),
    (past) => put(`${all}/a`, configMap('a', { x: '3' }, { resourceVersion: past.revision('a') })),
    (past) => put(`${all}/a`, configMap('a', { x: '3' }, { resourceVersion: past.revision('a2') })),
    (past) => put(`${all}/a`, configMap('a', { x: '4' }, { uid: past.uid('a') })),
    put(`${all}/a`, configMap('a', { x: '5' }, { uid: '11111111-2222-3333-4444-555555555555' })),
    put(`${all}/a`, configMap('b', { x: '5' })),
    put(`${all}/a`, configMap('', { x: '5' })),
    put(`${all}/a`, configMap('a', { x: '5' }, { namespace: 'other' })),
    put(`${all}/b`, configMap('b', { x: '5' })),
    put(`${all}/b`, configMap('b', { x: '5' }, { resourceVersion: '12' })),
    put(`${all}/a`, configMap('a', { x: '5' }, { resourceVersion: 'abc' })),
    put(`${all}/a`, configMap('a', { x: '6' }, { generation: 7, creationTimestamp: '2020-01-01T00:00:00Z' })),
    put(`${all}/a`, configMap('a', { x: '6' }, { deletionTimestamp: '2020-01-01T00:00:00Z' })),
    put(`${all}/a`, configMap('a', { x: '6' }, { selfLink: '/x', labels: null, annotations: {} })),
    put(`${all}/a`, configMap('a', { x: '6' }, { labels: { a: 'b' }, annotations: { c: 'd' } })),
    post(all, configMap('rv', {}, { resourceVersion: '5' })),
    post(all, configMap('uid', {}, { uid: '11111111-2222-3333-4444-555555555555', generation: 4 })),
    post(all, configMap('time', {}, { creationTimestamp: '2020-01-01T00:00:00Z', selfLink: '/a' })),
    post(all, configMap('del', {}, { deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 })),
    post(all, configMap('null-time', {}, { creationTimestamp: null })),
    post(all, configMap('other-ns', {}, { namespace: 'other' })),
    post(all, configMap('Bad Name')),
    post(all, configMap('')),
    post(all, configMap('a'.repeat(254))),
    post(all, configMap('bad-label', {}, { labels: { 'a b': 'c' } })),
    post(all, configMap('bad-annotation', {}, { annotations: { 'a b': 'c' } })),
    post(all, configMap('bad-finalizer', {}, { finalizers: ['a b', 'x'] })),
    post(all, configMap('bad-owner', {}, { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] })),
    put(`${all}/a`, configMap('a', {}, { finalizers: ['x'] })),
    put(`${all}/a`, configMap('a', {}, { deletionGracePeriodSeconds: 5 })),
    post(all, configMap('bad-managed', {}, { managedFields: [{ manager: 'a', operation: 'Foo', apiVersion: 'v1' }] })),
    post(all, configMap('no-managed', {}, { managedFields: [{}] })),
    post(all, { metadata: { name: 'no-kind' } }),
    post(all, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'wrong-kind' } }),
    post(all, { kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'wrong-version' } }),
    post(all, { kind: 'Nope', apiVersion: 'example.com/v1', metadata: { name: 'wrong-group' } }),
    put(`${all}/a`, { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name: 'a' } }),
    post(all, { kind: 'ConfigMap', metadata: { name: 'half-kind' } }),
    post(all, { apiVersion: 'v1', metadata: { name: 'half-version' } }),
    post(all, configMap('binary', { a: 'b' }), {}),
    post(all, { ...configMap('bad-base64'), binaryData: { b: '#' } }),
    post(all, { ...configMap('immutable', { a: 'b' }), immutable: true }),
    post(all, configMap('number', { a: 1 })),
    post(all, configMap('text', {}, { labels: { a: 1 } })),
    post(all, configMap('unknown', {}, { nope: 1 })),
    post(`${all}?fieldValidation=Strict`, configMap('unknown2', {}, { nope: 1 })),
    post(`${all}?fieldValidation=Warn`, configMap('unknown3', {}, { nope: 1 })),
    post(`${all}?fieldValidation=Foo`, configMap('unknown4')),
    post(`${all}?dryRun=All`, configMap('dry', { a: 'b' })),
    get(`${all}/dry`),
    post(`${all}?dryRun=Some`, configMap('dry')),
    put(`${all}/a?dryRun=All`, configMap('a', { dry: 'run' })),
    get(`${all}/a`),
    remove(`${all}/a?dryRun=All`),
    remove(`${all}/a`),
    remove(`${all}/a`),
    get(all),
    remove(`${all}?labelSelector=no%3Dsuch`),
    remove(`${all}?dryRun=All`),
    get(all),
    remove(all),
    get(all),
  ];
});

play(pair, 'names are generated', () => {
  const ns = uniqueName('g');
  const all = configMaps(ns);
  const generated = (generateName: string, more: object = {}) => ({ metadata: { generateName, ...more } });
  return [
    post(namespaces, namespace(ns)),
    post(all, generated('a-')),
    post(all, generated('a-')),
    post(all, generated('a-', { name: 'given' })),
    post(all, generated('Gen-')),
    post(all, generated(`gen${'x'.repeat(300)}`)),
    post(`${all}?dryRun=All`, generated('dry-')),
    post(namespaces, { metadata: { generateName: 'gen-' } }),
    post(all, generated('')),
    post(all, {}),
    post(all, { metadata: null }),
  ];
});

play(pair, 'secrets and service accounts', () => {
  const ns = uniqueName('s');
  const all = secrets(ns);
  const secret = (name: string, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    type: 'example.com/x',
    ...more,
  });
  return [
    post(namespaces, namespace(ns)),
    post(all, secret('a', { data: { a: 'YQ==' } })),
    post(all, secret('b', { stringData: { b: 'text' }, data: { b: 'YQ==' } })),
    post(all, secret('c', { data: { a: 'no base64' } })),
    post(all, secret('d', { data: { a: 5 } })),
    post(all, { metadata: { name: 'e' } }),
    get(`${all}?fieldSelector=type%3Dexample.com/x`),
    get(`${all}?fieldSelector=type%21%3Dexample.com/x`),
    post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'a' } }),
    get(`/api/v1/namespaces/${ns}/serviceaccounts/a`),
    put(`/api/v1/namespaces/${ns}/serviceaccounts/a`, { metadata: { name: 'a' }, automountServiceAccountToken: false }),
  ];
});

play(pair, 'leases and roles can be made by a PUT', () => {
  const ns = uniqueName('l');
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`;
  const lease = (name: string, spec: object, metadata: object = {}) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, ...metadata },
    spec,
  });
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  return [
    post(namespaces, namespace(ns)),
    put(`${leases}/a`, lease('a', { holderIdentity: 'x', leaseDurationSeconds: 3 }), { as: 'a' }),
    put(`${leases}/a`, lease('a', { holderIdentity: 'y' })),
    (past) => put(`${leases}/a`, lease('a', { holderIdentity: 'y' }, { resourceVersion: past.revision('a') })),
    put(`${leases}/b`, lease('a', {})),
    put(`${leases}/b`, lease('b', { renewTime: '2020-01-02T03:04:05.678901Z', leaseTransitions: 1 })),
    put(`${leases}/c`, lease('c', { renewTime: 'soon' })),
    put(`${roles}/r:x`, { metadata: { name: 'r:x' }, rules }),
    put(`${roles}/r:x`, { metadata: { name: 'r:x' }, rules: [...rules, ...rules] }),
    get(`${roles}/r:x`),
    post(roles, { metadata: { name: 'a/b' }, rules }),
    post(roles, { metadata: { name: 'a%b' }, rules }),
    post(roles, { metadata: { name: '..' }, rules }),
    remove(`${roles}/r:x`),
    get(roles),
  ];
});

play(pair, 'what a write to the status reaches', () => {
  const ns = uniqueName('s');
  const budgets = `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
  const spec = { minAvailable: 1, selector: { matchLabels: { a: 'b' } } };
  const metadata = { name: 'b', labels: { l: '1' }, annotations: { a: '1' } };
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec };
  const other = {
    metadata: { labels: { l: '2', m: '1' }, annotations: { a: null, b: '1' }, finalizers: ['example.com/x'] },
    spec: { minAvailable: 5 },
    status: { currentHealthy: 3, disruptionsAllowed: 0, desiredHealthy: 0, expectedPods: 0 },
  };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `as.${ns}.example.com` },
    spec: {
      group: `${ns}.example.com`,
      names: { plural: 'as', kind: 'A' },
      scope: 'Cluster',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  };
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const attachments = '/apis/storage.k8s.io/v1/volumeattachments';
  const attachment = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: ns, labels: { l: '1' } },
    spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } },
  };
  return [
    post(namespaces, namespace(ns)),
    post(budgets, budget),
    merge(`${budgets}/b/status`, other),
    get(`${budgets}/b`, { as: 'now' }),
    (past) =>
      put(`${budgets}/b/status`, { ...past.body('now'), metadata: { ...past.body('now').metadata, labels: {} } }),
    put(`${budgets}/b/status`, { ...budget, status: other.status }),
    apply(`${budgets}/b/status?fieldManager=m&force=true`, {
      ...budget,
      metadata: { name: 'b', labels: { applied: '1' } },
      status: { currentHealthy: 7 },
    }),
    merge(`${namespaces}/${ns}/status`, { metadata: { labels: { l: '1' } }, status: { phase: 'Active' } }),
    post(definitions, definition, { silent: true }),
    get(`${definitions}/as.${ns}.example.com`, {
      silent: true,
      until: isEstablished,
    }),
    merge(`${definitions}/as.${ns}.example.com/status`, { metadata: { labels: { l: '1' }, annotations: { a: '1' } } }),
    remove(`${definitions}/as.${ns}.example.com`, undefined, { silent: true }),
    post(attachments, attachment),
    merge(`${attachments}/${ns}/status`, { metadata: { labels: { l: '2' } }, status: { attached: true } }),
    remove(`${attachments}/${ns}`, undefined, { silent: true }),
  ];
});

play(pair, 'finalizers of strange names', () => {
  const ns = uniqueName('f');
  const all = configMaps(ns);
  const names = ['', 'a', 'a b/c', '/x', 'x/', 'example.com/a/b', 'UPPER.com/x', `example.com/${'a'.repeat(64)}`];
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a')),
    ...names.flatMap((name) => [
      post(`${all}?dryRun=All`, configMap('b', {}, { finalizers: [name] })),
      merge(`${all}/a?dryRun=All`, { metadata: { finalizers: [name] } }),
    ]),
    merge(`${all}/a`, { metadata: { finalizers: ['example.com/a', 'example.com/a'] } }),
    merge(`${all}/a?dryRun=All`, { metadata: { finalizers: ['orphan', 'foregroundDeletion'] } }),
    merge(`${all}/a`, { metadata: { finalizers: null } }),
  ];
});
