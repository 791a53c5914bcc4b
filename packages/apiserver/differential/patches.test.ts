import {
  apply,
  configMap,
  configMaps,
  get,
  jsonPatch,
  merge,
  namespace,
  namespaces,
  post,
  remove,
  strategic,
} from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

function start(prefix: string) {
  const ns = uniqueName(prefix);
  const all = configMaps(ns);
  const begin = [
    post(namespaces, namespace(ns)),
    post(all, configMap('a', { x: '1', y: '2' }, { labels: { l: 'm' }, annotations: { n: 'o' } }), { as: 'a' }),
  ];
  return { ns, all, a: `${all}/a`, begin };
}

play(pair, 'merge patches, good and bad', () => {
  const { all, a, begin } = start('m');
  return [
    ...begin,
    merge(a, { data: { x: '2' } }),
    merge(a, { data: { x: '2' } }),
    merge(a, {}),
    merge(a, { data: { x: null, z: '5' } }),
    merge(a, { data: null }),
    merge(a, { metadata: { labels: { l: null, k: 'v' } } }),
    merge(a, { metadata: { labels: null, annotations: null } }),
    merge(a, { metadata: { labels: { 'b a d': 'x' } } }),
    merge(a, { metadata: { name: 'b' } }),
    merge(a, { metadata: { namespace: 'other' } }),
    merge(a, { metadata: { uid: '11111111-2222-3333-4444-555555555555' } }),
    merge(a, { metadata: { resourceVersion: '1' } }),
    merge(a, { metadata: { resourceVersion: 'x' } }),
    merge(a, { metadata: { resourceVersion: '' }, data: { rv: 'empty' } }),
    (past) => merge(a, { metadata: { resourceVersion: past.revision('a') } }),
    merge(a, { metadata: { creationTimestamp: null, generation: 7, selfLink: 'x' } }),
    merge(a, { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }),
    merge(a, { metadata: { finalizers: ['example.com/f'] } }),
    merge(a, { metadata: { finalizers: null } }),
    merge(a, { metadata: { managedFields: null } }),
    merge(a, { metadata: { managedFields: [] } }),
    merge(a, { metadata: { managedFields: [{}] } }),
    merge(a, { data: { x: 1 } }),
    merge(a, { data: 'x' }),
    merge(a, { data: [] }),
    merge(a, { metadata: 'x' }),
    merge(a, { metadata: null }),
    merge(a, { apiVersion: 'v2' }),
    merge(a, { kind: null }),
    merge(a, { unknown: 'x' }),
    merge(`${a}?fieldValidation=Strict`, { unknown: 'x' }),
    merge(`${a}?fieldValidation=Warn`, { unknown: 'x', data: { w: 'w' } }),
    merge(a, []),
    merge(a, 'x'),
    merge(a, '"text"'),
    merge(a, 'null'),
    merge(a, '5'),
    merge(a, ''),
    merge(a, '{"data":{"x":"1","x":"2"}}'),
    merge(`${a}?fieldValidation=Strict`, '{"data":{"x":"1","x":"2"}}'),
    merge(`${all}/none`, { data: {} }),
    merge(`${a}?dryRun=All`, { data: { dry: 'run' } }),
    merge(`${a}?fieldManager=someone`, { data: { some: 'one' } }),
    merge(`${a}?fieldManager=${'x'.repeat(129)}`, { data: { some: 'two' } }),
    merge(`${a}?fieldManager=a%07b`, { data: { some: 'two' } }),
    merge(`${a}?force=true`, { data: { some: 'three' } }),
    merge(a, { immutable: false }),
    get(a),
  ];
});

play(pair, 'JSON patches, good and bad', () => {
  const { all, a, begin } = start('j');
  return [
    ...begin,
    jsonPatch(a, [{ op: 'replace', path: '/data/x', value: '2' }]),
    jsonPatch(a, [{ op: 'add', path: '/data/z', value: '3' }]),
    jsonPatch(a, [{ op: 'remove', path: '/data/z' }]),
    jsonPatch(a, [{ op: 'remove', path: '/data/z' }]),
    jsonPatch(a, [{ op: 'replace', path: '/data/none', value: '3' }]),
    jsonPatch(a, [{ op: 'add', path: '/none/none', value: '3' }]),
    jsonPatch(a, [{ op: 'test', path: '/data/x', value: '2' }]),
    jsonPatch(a, [{ op: 'test', path: '/data/x', value: '3' }]),
    jsonPatch(a, [{ op: 'test', path: '/data/none', value: '3' }]),
    jsonPatch(a, [{ op: 'test', path: '/data/none', value: null }]),
    jsonPatch(a, [{ op: 'test', path: '/data/missing', value: null }]),
    jsonPatch(a, [{ op: 'test', path: '/data/missing' }]),
    jsonPatch(a, [{ op: 'test', path: '/missing/missing', value: null }]),
    jsonPatch(a, [{ op: 'test', path: '/metadata/finalizers/5', value: null }]),
    jsonPatch(a, [{ op: 'copy', from: '/data/x', path: '/data/c' }]),
    jsonPatch(a, [{ op: 'move', from: '/data/c', path: '/data/d' }]),
    jsonPatch(a, [{ op: 'move', from: '/data/none', path: '/data/d' }]),
    jsonPatch(a, [{ op: 'copy', from: '/data/none', path: '/data/d' }]),
    jsonPatch(a, [{ op: 'add', path: '/metadata/annotations/a~1b', value: 'x' }]),
    jsonPatch(a, [{ op: 'add', path: '/metadata/annotations/a~0b', value: 'x' }]),
    jsonPatch(a, [{ op: 'nope', path: '/data/x', value: 'x' }]),
    jsonPatch(a, [{ op: 'add', value: 'x' }]),
    jsonPatch(a, [{ op: 'add', path: '/data/v' }]),
    jsonPatch(a, [{ op: 'replace', path: '/data/x' }]),
    jsonPatch(a, [{ path: '/data/x', value: 'x' }]),
    jsonPatch(a, [{ op: 'add', path: 'data/x', value: 'x' }]),
    jsonPatch(a, [{ op: 'add', path: '', value: 'x' }]),
    jsonPatch(a, [{ op: 'add', path: '', value: {} }]),
    jsonPatch(a, [{ op: 'remove', path: '' }]),
    jsonPatch(a, [{ op: 'remove', path: '/metadata' }]),
    jsonPatch(a, [{ op: 'replace', path: '/metadata/name', value: 'b' }]),
    jsonPatch(a, [{ op: 'add', path: '/data/n', value: 5 }]),
    jsonPatch(a, [{ op: 'replace', path: '/data', value: [] }]),
    jsonPatch(a, [{ op: 'add', path: '/metadata/finalizers', value: ['example.com/a', 'example.com/b'] }]),
    jsonPatch(a, [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/c' }]),
    jsonPatch(a, [{ op: 'add', path: '/metadata/finalizers/0', value: 'example.com/d' }]),
    jsonPatch(a, [{ op: 'add', path: '/metadata/finalizers/9', value: 'example.com/e' }]),
    jsonPatch(a, [{ op: 'add', path: '/metadata/finalizers/x', value: 'example.com/e' }]),
    jsonPatch(a, [{ op: 'remove', path: '/metadata/finalizers/-1' }]),
    jsonPatch(a, [{ op: 'remove', path: '/metadata/finalizers/7' }]),
    jsonPatch(a, [{ op: 'replace', path: '/metadata/finalizers/0', value: 'example.com/z' }]),
    jsonPatch(a, [{ op: 'remove', path: '/metadata/finalizers' }]),
    jsonPatch(a, []),
    jsonPatch(a, {}),
    jsonPatch(a, 'x'),
    jsonPatch(a, ''),
    jsonPatch(a, 'null'),
    jsonPatch(a, '[5]'),
    jsonPatch(a, '[null]'),
    jsonPatch(a, [{ op: 'add', path: '/unknown', value: 1 }]),
    jsonPatch(`${a}?fieldValidation=Strict`, [{ op: 'add', path: '/unknown', value: 1 }]),
    jsonPatch(`${a}?fieldValidation=Strict`, [{ op: 'add', path: '/data/s', value: 's', nope: 1 }]),
    jsonPatch(
      a,
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/data/x', value: '2' })),
    ),
    jsonPatch(`${all}/none`, [{ op: 'add', path: '/data/x', value: '1' }]),
    jsonPatch(`${all}/none`, 'x'),
    get(a),
  ];
});

play(pair, 'strategic merge patches, good and bad', () => {
  const { ns, all, a, begin } = start('s');
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`;
  return [
    ...begin,
    strategic(a, { data: { x: '2', y: null } }),
    strategic(a, { data: { $patch: 'replace', z: '1' } }),
    strategic(a, { data: { $patch: 'delete' } }),
    strategic(a, { data: { $patch: 'nope' } }),
    strategic(a, { data: { q: '1' }, $retainKeys: ['data', 'metadata', 'kind', 'apiVersion'] }),
    strategic(a, { metadata: { finalizers: ['example.com/a', 'example.com/b'] } }),
    strategic(a, { metadata: { finalizers: ['example.com/c'] } }),
    strategic(a, { metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] } }),
    strategic(a, {
      metadata: {
        '$setElementOrder/finalizers': ['example.com/c', 'example.com/b'],
        finalizers: ['example.com/c', 'example.com/b'],
      },
    }),
    strategic(a, { metadata: { finalizers: null } }),
    strategic(a, {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u1' }] },
    }),
    strategic(a, {
      metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'y', uid: 'u2' }] },
    }),
    strategic(a, { metadata: { ownerReferences: [{ uid: 'u1', $patch: 'delete' }] } }),
    strategic(a, { metadata: { ownerReferences: [{ name: 'no-key' }] } }),
    strategic(a, { data: { x: 5 } }),
    strategic(a, { data: 'x' }),
    strategic(a, { metadata: { name: 'b' } }),
    strategic(a, { unknown: { a: 1 } }),
    strategic(`${a}?fieldValidation=Strict`, { unknown: { a: 1 } }),
    strategic(a, []),
    strategic(a, 'x'),
    strategic(a, 'null'),
    strategic(a, '5'),
    strategic(`${all}/none`, { data: {} }),
    post(accounts, { metadata: { name: 'sa' }, secrets: [{ name: 'one' }], imagePullSecrets: [{ name: 'p' }] }),
    strategic(`${accounts}/sa`, { secrets: [{ name: 'two' }], imagePullSecrets: [{ name: 'q' }] }),
    strategic(`${accounts}/sa`, { secrets: [{ name: 'one', $patch: 'delete' }] }),
    post(roles, { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
    strategic(`${roles}/r`, { rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }] }),
    get(a),
  ];
});

play(pair, 'content types and options of patches', () => {
  const { ns, all, a, begin } = start('t');
  return [
    ...begin,
    { method: 'PATCH', path: a, body: {}, type: 'application/json' },
    { method: 'PATCH', path: a, body: {}, type: 'text/plain' },
    { method: 'PATCH', path: a, body: '{}', headers: { 'content-type': '' } },
    { method: 'PATCH', path: a, body: { data: { p: '1' } }, type: 'application/merge-patch+json; charset=utf-8' },
    { method: 'PATCH', path: a, body: {}, type: 'application/merge-patch+json; charset' },
    { method: 'PATCH', path: a, body: 'data:\n  yaml: patch\n', type: 'application/merge-patch+yaml' },
    { method: 'PATCH', path: all, body: {}, type: 'application/merge-patch+json' },
    { method: 'PATCH', path: `/api/v1/namespaces/${ns}/nopes/a`, body: {}, type: 'application/merge-patch+json' },
    apply(a, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }),
    apply(`${a}?fieldManager=m&dryRun=All`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { dry: 'x' },
    }),
    apply(`${a}?fieldManager=m&force=maybe`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { f: 'x' },
    }),
    apply(`${a}?fieldManager=m`, 'apiVersion: v1\nkind: ConfigMap\ndata:\n  yaml: yes it is\n'),
    apply(`${a}?fieldManager=m`, 'apiVersion: v1\nkind: ConfigMap\ndata:\n  yaml: yes\n  yaml: no\n'),
    apply(`${a}?fieldManager=m`, '{"apiVersion":"v1","kind":"ConfigMap","data":{"j":"son"}}'),
    apply(`${a}?fieldManager=m`, 'just text'),
    apply(`${a}?fieldManager=m`, '- a list'),
    apply(`${a}?fieldManager=m`, ''),
    apply(`${a}?fieldManager=m`, {}),
    apply(`${a}?fieldManager=m`, { kind: 'ConfigMap' }),
    apply(`${a}?fieldManager=m`, { apiVersion: 'v1', kind: 'Secret' }),
    apply(`${a}?fieldManager=m`, { apiVersion: 'v2', kind: 'ConfigMap' }),
    merge(`${a}?dryRun=Nope`, {}),
    merge(`${a}?fieldValidation=Nope`, {}),
  ];
});

play(pair, 'strategic merge patches of the wrong type', () => {
  const ns = uniqueName('p');
  const [maps, deployments] = [configMaps(ns), `/apis/apps/v1/namespaces/${ns}/deployments`];
  const [a, d] = [`${maps}/a`, `${deployments}/d`];
  const labels = { a: 'b' };
  const deployment = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }] },
      },
    },
  };
  const inPod = (spec: unknown) => strategic(d, { spec: { template: { spec } } });
  const inContainer = (more: object) => inPod({ containers: [{ name: 'c', ...more }] });
  return [
    post(namespaces, namespace(ns)),
    post(maps, configMap('a', { x: '1' })),
    post(deployments, deployment),
    ...['x', [], 5, true].map((data) => strategic(a, { data })),
    ...[5, true, 1.5, {}, []].map((x) => strategic(a, { data: { x } })),
    ...['x', 5].map((immutable) => strategic(a, { immutable })),
    ...['x', [], 5].map((metadata) => strategic(a, { metadata })),
    ...[5, { a: 1 }, 'x'].map((of) => strategic(a, { metadata: { labels: of } })),
    ...['x', [5], {}].map((finalizers) => strategic(a, { metadata: { finalizers } })),
    ...['!!', 5].map((of) => strategic(a, { binaryData: { of } })),
    ...['x', 1.5, true].map((generation) => strategic(a, { metadata: { generation } })),
    ...[5, 'x', {}].map((deletionTimestamp) => strategic(a, { metadata: { deletionTimestamp } })),
    strategic(a, { kind: 5 }),
    strategic(a, { apiVersion: 5 }),
    ...['x', 1.5, 2, true, 99_999_999_999].map((replicas) => strategic(d, { spec: { replicas } })),
    strategic(d, { spec: 'x' }),
    strategic(d, { spec: { strategy: 'x' } }),
    strategic(d, { spec: { strategy: { type: 5 } } }),
    strategic(d, { spec: { paused: 'x', replicas: 'y', minReadySeconds: 'z' } }),
    strategic(d, { spec: { selector: { matchLabels: 'x' } } }),
    ...[true, 1.5].map((maxSurge) => strategic(d, { spec: { strategy: { rollingUpdate: { maxSurge } } } })),
    inPod({ containers: 'x' }),
    inPod({ hostNetwork: 'x' }),
    inPod({ tolerations: 'x' }),
    inPod({ nodeSelector: 'x' }),
    inPod({ terminationGracePeriodSeconds: '5' }),
    inContainer({ ports: 'x' }),
    inContainer({ ports: [{ containerPort: '80' }] }),
    inContainer({ imagePullPolicy: 5, image: 5 }),
    inContainer({ command: [5] }),
    ...[true, 'x'].map((cpu) => inContainer({ resources: { limits: { cpu } } })),
    // A controller manager that a later file starts would roll out the billion replicas that an int32 makes of one patch.
    remove(d),
  ];
});
