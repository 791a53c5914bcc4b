import { definitions, get, merge, post, put, remove } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, serverPair, uniqueName } from './pair.js';
import type { Answer } from './wire.js';

const pair = serverPair();
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const marks = ['audit-id', 'x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid'];
const openShows = [...marks, 'cache-control'];
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1';

play(pair, 'health, check by check', () =>
  ['/healthz', '/livez', '/readyz'].flatMap((path) => [
    get(`${path}?verbose`, { raw: true, shows: marks }),
    get(`${path}?verbose=false`, { raw: true }),
    get(`${path}?exclude=ping`, { raw: true }),
    get(`${path}?verbose&exclude=ping&exclude=etcd`, { raw: true }),
    get(`${path}?verbose&exclude=nope`, { raw: true }),
    get(`${path}?verbose&exclude=ping,etcd`, { raw: true }),
    get(`${path}/ping?verbose`, { raw: true }),
    get(`${path}/informer-sync`, { raw: true }),
    get(`${path}/shutdown`, { raw: true }),
    get(`${path}/poststarthook`, { raw: true }),
    get(`${path}/poststarthook/rbac/bootstrap-roles`, { raw: true }),
    get(`${path}/poststarthook/rbac/bootstrap-roles/`, { raw: true }),
    get(`${path}/autoregister-completion`, { raw: true }),
    get(`${path}/?verbose`, { raw: true }),
  ]),
);

play(pair, 'timeouts outside of resources', () =>
  ['/version', '/healthz', '/api', '/apis', '/apis/apps', '/api/v1', '/openapi/v2', '/nope', '/openid/v1/jwks'].flatMap(
    (path) => [get(`${path}?timeout=x`, { shows: marks }), get(`${path}?timeout=1d`), get(`${path}?timeout=-`)],
  ),
);

play(pair, 'every answer has a name, and says how it was ranked', () => {
  const own = { headers: { 'audit-id': 'a-name-of-my-own' }, shows: marks };
  const configMaps = '/api/v1/namespaces/default/configmaps';
  return [
    get('/api', { shows: marks }),
    get('/nope', { shows: marks }),
    get('/api/v1/namespaces/default', { ...own }),
    get('/api/v1/namespaces/nope', { ...own }),
    get('/api/v1/nope', { shows: marks }),
    get(`${configMaps}?fieldSelector=metadata.name%3Dnope`, { shows: marks }),
    get(`${configMaps}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dnope`, { shows: marks }),
    post(configMaps, '{', { shows: marks }),
    get(configMaps, { headers: { authorization: 'Bearer wrong' }, shows: marks }),
    { method: 'HEAD', path: '/version', shows: marks },
  ];
});

play(pair, 'how tokens can be checked', () => [
  get('/.well-known/openid-configuration', { shows: openShows }),
  get('/.well-known/openid-configuration', { accept: 'text/plain' }),
  get('/.well-known/openid-configuration', { accept: 'application/yaml' }),
  get('/.well-known/openid-configuration/'),
  get('/.well-known/nope'),
  post('/.well-known/openid-configuration', {}),
  get('/openid/v1/jwks', { shows: openShows }),
  get('/openid/v1/jwks', { accept: 'application/json' }),
  get('/openid/v1/jwks', { accept: 'application/*' }),
  get('/openid/v1/jwks/'),
  get('/openid/v1'),
  post('/openid/v1/jwks', {}),
]);

play(pair, 'how the parts of the control plane are', () => {
  const all = '/api/v1/componentstatuses';
  return [
    // The real server lists them in the order in which they answer.
    ...['etcd-0', 'scheduler', 'controller-manager'].map((name) => get(`${all}?fieldSelector=metadata.name%3D${name}`)),
    get(`${all}/etcd-0`),
    get(`${all}/nope`),
    get(`${all}/etcd-0`, { accept: table }),
    get(`${all}?fieldSelector=metadata.name%3Detcd-0`, { accept: table }),
    get(`${all}?labelSelector=a%3Db`),
    get(`${all}?limit=1&fieldSelector=metadata.name%3Dscheduler`),
    get(`${all}?watch=1&timeoutSeconds=1`),
    post(all, {}),
    remove(`${all}/etcd-0`),
  ];
});

play(pair, 'what the server keeps by itself', () => [
  get('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication', { silent: true }),
  get('/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking'),
  ...[
    'exempt',
    'catch-all',
    'global-default',
    'leader-election',
    'node-high',
    'system',
    'workload-high',
    'workload-low',
  ].map((name) => get(`${flowControl}/prioritylevelconfigurations/${name}`)),
  ...['exempt', 'probes', 'catch-all', 'global-default', 'service-accounts', 'system-nodes', 'system-node-high'].map(
    (name) => get(`${flowControl}/flowschemas/${name}`),
  ),
  ...['system-leader-election', 'kube-controller-manager', 'kube-scheduler', 'kube-system-service-accounts'].map(
    (name) => get(`${flowControl}/flowschemas/${name}`),
  ),
  get(`${flowControl}/flowschemas`, { accept: table }),
  get(`${flowControl}/prioritylevelconfigurations`, { accept: table }),
  ...[
    'v1.',
    'v1.apps',
    'v2.autoscaling',
    'v1.events.k8s.io',
    'v1.flowcontrol.apiserver.k8s.io',
    'v1.resource.k8s.io',
    'v1.storage.k8s.io',
    'v1.apiregistration.k8s.io',
  ].map((name) => get(`${apiServices}/${name}`)),
  get(`${apiServices}?labelSelector=kube-aggregator.kubernetes.io/automanaged%3Donstart`),
  get(`${apiServices}?labelSelector=kube-aggregator.kubernetes.io/automanaged%3Donstart`, { accept: table }),
]);

play(pair, 'APIServices of custom kinds come and go with them', () => {
  const group = `${uniqueName('s')}.example.com`;
  const open = { 'x-kubernetes-preserve-unknown-fields': true };
  const two = [version('v1', open), version('v2', open, { storage: false })];
  const made = definition(group, { versions: two });
  const other = definition(group, { plural: 'gadgets', kind: 'Gadget', versions: [version('v1', open)] });
  const [one, second] = [`${apiServices}/v1.${group}`, `${apiServices}/v2.${group}`];
  const is = (status: number) => ({ until: (answer: Answer) => answer.status === status });
  const at = `${definitions}/${made.metadata.name}`;
  const made1 = `/apis/${group}/v1/widgets`;
  const unserved = [version('v1', open, { served: false }), version('v2', open, { storage: false, served: false })];
  return [
    ...served(made),
    get(one, is(200)),
    get(second, is(200)),
    ...served(other),
    merge(
      at,
      { spec: { versions: [version('v1', open), version('v2', open, { storage: false, served: false })] } },
      { silent: true },
    ),
    get(second, is(404)),
    get(one, is(200)),
    merge(at, { spec: { versions: unserved } }, { silent: true }),
    get(made1, { until: ({ status }) => status === 404, silent: true }),
    get(one, is(200)),
    merge(`${definitions}/${other.metadata.name}`, { spec: { versions: [unserved[0]] } }, { silent: true }),
    get(one, is(404)),
  ];
});

play(pair, 'requests are ranked by FlowSchemas that others make', () => {
  const name = uniqueName('flow');
  const flow = {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name },
    spec: {
      priorityLevelConfiguration: { name: 'workload-low' },
      matchingPrecedence: 9999,
      rules: [
        {
          subjects: [{ kind: 'Group', group: { name: 'system:masters' } }],
          resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], namespaces: ['default'] }],
        },
      ],
    },
  };
  return [
    post(`${flowControl}/flowschemas`, flow, { silent: true }),
    get(`${flowControl}/flowschemas/exempt`, { as: 'exempt' }),
    get('/api/v1/namespaces/default/configmaps/nope', { shows: marks }),
    get('/api/v1/namespaces/default', { shows: marks }),
    remove(`${flowControl}/flowschemas/${name}`, undefined, { silent: true }),
    put(`${flowControl}/flowschemas/${name}`, flow, { silent: true }),
  ];
});
