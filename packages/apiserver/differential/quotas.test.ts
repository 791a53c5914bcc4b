import { get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { type Past, play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const quotasOf = (ns: string) => `/api/v1/namespaces/${ns}/resourcequotas`;
const podsOf = (ns: string) => `/api/v1/namespaces/${ns}/pods`;
const leasesOf = (ns: string) => `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
const marker = 'count/leases.coordination.k8s.io';

/**
 * A quota whose status somebody has written, as the controller of quotas would. The real server knows of it a moment
 * later: it does when it refuses the Lease that no quota here allows.
 */
function quota(ns: string, name: string, hard: object, more: { used?: object; spec?: object } = {}): Step[] {
  const scoped = more.spec !== undefined;
  const limits = scoped ? hard : { ...hard, [marker]: '0' };
  const zero = Object.fromEntries(Object.keys(limits).map((key) => [key, '0']));
  const as = `quota ${name}`;
  const lease = { metadata: { name: 'probe' }, spec: {} };
  const status = { hard: limits, used: { ...zero, ...more.used } };
  return [
    post(quotasOf(ns), { metadata: { name }, spec: { hard: limits, ...more.spec } }, { as }),
    (past: Past) => put(`${quotasOf(ns)}/${name}/status`, { ...past.body(as), status }),
    // A quota with scopes counts no Leases: one without, written after it, says when it is known.
    ...(scoped ? [] : [probe(leasesOf(ns), lease, `exceeded quota: ${name},`)]),
  ];
}

const probe = (path: string, body: object, words: string): Step =>
  post(`${path}?dryRun=All`, body, {
    until: (answer) => String(answer.body.message).includes(words),
    silent: true,
  });

const pod = (name: string, resources: object = {}, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec },
});

play(pair, 'quotas of Pods', () => {
  const ns = uniqueName('quota-pods');
  const pods = podsOf(ns);
  const sized = (cpu: string, memory = '1Gi') => ({ requests: { cpu, memory }, limits: { cpu, memory } });
  return [
    post(namespaces, namespace(ns)),
    ...quota(ns, 'q', { pods: '3', 'requests.cpu': '2', 'limits.memory': '4Gi', 'count/pods': '4' }),
    post(pods, pod('none')),
    post(pods, pod('half', { requests: { cpu: '1' } })),
    post(pods, {
      ...pod('init', sized('1')),
      spec: {
        ...pod('init', sized('1')).spec,
        initContainers: [
          { name: 'a', image: 'i' },
          { name: 'b', image: 'i' },
        ],
      },
    }),
    post(`${pods}?dryRun=All`, pod('dry', sized('1'))),
    get(`${quotasOf(ns)}/q`),
    post(pods, pod('a', sized('1500m'))),
    get(`${quotasOf(ns)}/q`),
    post(pods, pod('b', sized('1'))),
    post(pods, pod('c', sized('600m', '5Gi'))),
    post(`${pods}?dryRun=All`, pod('d', sized('600m', '5Gi'))),
    post(pods, pod('e', sized('500m', '3Gi'))),
    post(pods, pod('f', sized('1m', '1'))),
    post(pods, { ...pod('', sized('1')), metadata: { generateName: 'gen-' } }),
    // One that is there already is refused for the quota first.
    post(pods, pod('a', sized('1'))),
    post(pods, pod('whole', {}, { resources: { requests: { cpu: '1m' }, limits: { memory: '1Mi' } } })),
    get(`${quotasOf(ns)}/q`),
    remove(`${pods}/a?gracePeriodSeconds=0`),
    // Nobody counts again here.
    get(`${quotasOf(ns)}/q`),
  ];
});

play(pair, 'quotas with scopes', () => {
  const ns = uniqueName('quota-scopes');
  const pods = podsOf(ns);
  const selector = (operator: string, values?: string[]) => ({
    scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, ...(values && { values }) }] },
  });
  const affinity = {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', namespaces: ['other'], labelSelector: { matchLabels: { a: 'b' } } },
      ],
    },
  };
  const cpu = { requests: { cpu: '1' } };
  return [
    post(namespaces, namespace(ns)),
    ...quota(ns, 'best-effort', { pods: '1' }, { spec: { scopes: ['BestEffort'] } }),
    ...quota(ns, 'not-best-effort', { pods: '2' }, { spec: { scopes: ['NotBestEffort'] } }),
    ...quota(ns, 'terminating', { pods: '1' }, { spec: { scopes: ['Terminating'] }, used: { pods: '1' } }),
    ...quota(ns, 'critical', { pods: '0' }, { spec: selector('In', ['system-cluster-critical']) }),
    ...quota(ns, 'affine', { pods: '0' }, { spec: { scopes: ['CrossNamespacePodAffinity'] } }),
    ...quota(ns, 'last', {}),
    // Each Pod is too much for one of the quotas at most: which of several is told is left to chance.
    post(pods, pod('a')),
    post(pods, pod('b')),
    post(pods, pod('c', cpu)),
    post(pods, pod('d', cpu, { activeDeadlineSeconds: 10 })),
    post(pods, pod('e', cpu, { priorityClassName: 'system-cluster-critical' })),
    post(pods, pod('f', cpu, { affinity })),
    post(pods, pod('g', cpu)),
    post(pods, pod('h', cpu)),
    merge(`${pods}/a`, { spec: { activeDeadlineSeconds: 5 } }),
    ...['best-effort', 'not-best-effort', 'terminating', 'critical', 'affine'].map((name) =>
      get(`${quotasOf(ns)}/${name}`),
    ),
  ];
});

play(pair, 'quotas of Services, claims and counts', () => {
  const ns = uniqueName('quota-others');
  const services = `/api/v1/namespaces/${ns}/services`;
  const claims = `/api/v1/namespaces/${ns}/persistentvolumeclaims`;
  const service = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: {
      selector: { a: 'b' },
      ports: [
        { name: 'a', port: 1 },
        { name: 'b', port: 2 },
      ],
      ...spec,
    },
  });
  const claim = (name: string, storage: string, storageClassName = 'gold') => ({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage } } },
  });
  const hard = {
    ...{ services: '3', 'services.nodeports': '3', 'services.loadbalancers': '1' },
    ...{ persistentvolumeclaims: '3', 'requests.storage': '10Gi' },
    'gold.storageclass.storage.k8s.io/requests.storage': '5Gi',
    'gold.storageclass.storage.k8s.io/persistentvolumeclaims': '2',
    ...{ configmaps: '1', 'count/secrets': '1', 'count/deployments.apps': '0' },
  };
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  return [
    post(namespaces, namespace(ns)),
    ...quota(ns, 'q', hard),
    post(services, service('plain')),
    post(services, service('nodes', { type: 'NodePort' })),
    post(services, service('more', { type: 'NodePort' })),
    merge(`${services}/plain`, { spec: { type: 'LoadBalancer' } }),
    merge(`${services}/plain`, { spec: { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false } }),
    merge(`${services}/plain`, { metadata: { labels: { x: 'y' } } }),
    post(services, service('third')),
    post(services, service('fourth')),
    get(`${quotasOf(ns)}/q`),
    post(claims, claim('a', '4Gi')),
    post(claims, claim('b', '2Gi')),
    post(claims, claim('c', '7Gi', 'silver')),
    post(claims, claim('d', '5.5Gi', 'silver')),
    post(claims, claim('e', '100m', 'silver')),
    get(`${quotasOf(ns)}/q`),
    post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'a' } }),
    post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'b' } }),
    post(`/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 'a' } }),
    post(`/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 'b' } }),
    post(`/apis/apps/v1/namespaces/${ns}/deployments`, {
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { a: 'b' } }, template },
    }),
    put(`${leasesOf(ns)}/by-put`, { metadata: { name: 'by-put' }, spec: {} }),
    merge(`/api/v1/namespaces/${ns}/configmaps/a`, { data: { a: 'b' } }),
    get(`${quotasOf(ns)}/q`),
  ];
});

play(pair, 'quotas of other resources, and of which nothing is known', () => {
  const ns = uniqueName('quota-extended');
  const pods = podsOf(ns);
  const gpu = (count: string) => ({ requests: { 'example.com/gpu': count }, limits: { 'example.com/gpu': count } });
  const disk = (size: string) => ({ requests: { 'ephemeral-storage': size } });
  const as = 'unknown';
  return [
    post(namespaces, namespace(ns)),
    ...quota(ns, 'q', { 'requests.example.com/gpu': '2', 'requests.ephemeral-storage': '1Gi', 'hugepages-2Mi': '4Mi' }),
    post(pods, pod('a', gpu('1'))),
    post(pods, pod('b', gpu('2'))),
    post(pods, pod('c', disk('600Mi'))),
    post(pods, pod('d', disk('600Mi'))),
    post(pods, pod('e')),
    get(`${quotasOf(ns)}/q`),
    post(quotasOf(ns), { metadata: { name: 'unknown' }, spec: { hard: { pods: '5', 'count/pods': '5' } } }, { as }),
    (past: Past) =>
      put(`${quotasOf(ns)}/unknown/status`, {
        ...past.body(as),
        status: { hard: { pods: '5', 'count/pods': '5' }, used: { pods: '0' } },
      }),
    probe(pods, pod('p'), 'status unknown'),
    post(pods, pod('f')),
    remove(`${quotasOf(ns)}/unknown`),
  ];
});
