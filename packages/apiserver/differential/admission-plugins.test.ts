import { Buffer } from 'node:buffer';
import { get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import type { Ask } from './wire.js';

const pair = serverPair();
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';
const podOf = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

play(pair, 'writes into namespaces that are missing or going', () => {
  const ns = uniqueName('lifecycle');
  const none = `/api/v1/namespaces/${ns}-none`;
  const here = `/api/v1/namespaces/${ns}`;
  return [
    post(`${none}/configmaps`, { metadata: { name: 'a' } }),
    // The namespace comes before everything that is wrong with the object.
    post(`${none}/configmaps`, { metadata: { name: 'A b' } }),
    post(`${none}/pods`, podOf('a', { containers: [] })),
    post(`${none}/pods`, podOf('', {}, { generateName: 'x-' })),
    put(`/apis/coordination.k8s.io/v1/namespaces/${ns}-none/leases/a`, { metadata: { name: 'a' }, spec: {} }),
    merge(`${none}/configmaps/a`, { data: {} }),
    remove(`${none}/configmaps/a`),
    post(namespaces, namespace(ns)),
    post(`${here}/configmaps`, { metadata: { name: 'a', finalizers: ['example.com/stay'] } }),
    remove(here, undefined, { silent: true }),
    post(`${here}/configmaps`, { metadata: { name: 'b' } }, { until: ({ status }) => status === 403 }),
    post(`${here}/configmaps`, { metadata: { generateName: 'b-' } }),
    post(`${here}/configmaps`, { metadata: { name: 'B b' } }),
    merge(`${here}/configmaps/a`, { data: { x: 'y' } }),
    merge(`${here}/configmaps/a`, { metadata: { finalizers: null } }),
    ...['default', 'kube-system', 'kube-public'].map((name) => remove(`${namespaces}/${name}`)),
  ];
});

play(pair, 'limits of claims and of Pods as a whole', () => {
  const ns = uniqueName('limits');
  const at = `/api/v1/namespaces/${ns}`;
  const sized = (limits: object, requests: object = {}) => ({ name: 'c', image: 'i', resources: { limits, requests } });
  const claim = (name: string, requests: object) => ({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests } },
  });
  const limits = [
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } },
    { type: 'Pod', max: { memory: '2Gi' }, maxLimitRequestRatio: { memory: '2' } },
  ];
  return [
    post(namespaces, namespace(ns)),
    post(`${at}/limitranges`, { metadata: { name: 'r' }, spec: { limits } }),
    post(`${at}/persistentvolumeclaims?dryRun=All`, claim('probe', { storage: '1Mi' }), {
      until: ({ status }) => status === 403,
      silent: true,
    }),
    ...['1Mi', '1Gi', '3Gi', '0'].map((storage, i) =>
      post(`${at}/persistentvolumeclaims`, claim(`c${i}`, { storage })),
    ),
    post(`${at}/pods`, podOf('a')),
    post(
      `${at}/pods`,
      podOf('b', {
        containers: [sized({ memory: '1Gi' }, { memory: '1Gi' }), { ...sized({ memory: '2Gi' }), name: 'd' }],
      }),
    ),
    post(`${at}/pods`, podOf('c', { containers: [sized({ memory: '1Gi' }, { memory: '100Mi' })] })),
    post(`${at}/pods`, podOf('d', { containers: [sized({ memory: '1Gi' })] })),
    // What is wrong with the Pod itself comes first.
    post(`${at}/pods`, podOf('e', { containers: [sized({ memory: '3Gi' }), sized({})] })),
    merge(`${at}/pods/d`, { metadata: { labels: { a: 'b' } } }),
    merge(`${at}/pods/d/resize`, { spec: { containers: [sized({ memory: '3Gi' }, { memory: '2Gi' })] } }),
  ];
});

play(pair, 'classes that Pods run by', () => {
  const ns = uniqueName('classes');
  const runtimes = '/apis/node.k8s.io/v1/runtimeclasses';
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const toleration = { key: 'a', operator: 'Exists' };
  const runtime = {
    metadata: { name: ns },
    handler: 'h',
    overhead: { podFixed: { cpu: '1' } },
    scheduling: { nodeSelector: { x: 'y' }, tolerations: [toleration, { key: 'b', operator: 'Exists' }] },
  };
  const by = (name: string, spec: object = {}) => post(pods, podOf(name, { runtimeClassName: ns, ...spec }));
  return [
    post(namespaces, namespace(ns)),
    post(runtimes, runtime),
    post(`${pods}?dryRun=All`, podOf('probe', { runtimeClassName: ns }), {
      until: ({ status }) => status === 201,
      silent: true,
    }),
    by('a'),
    by('b', { nodeSelector: { x: 'z' } }),
    by('c', { overhead: { cpu: '2' } }),
    by('d', { overhead: { cpu: '1' }, tolerations: [{ ...toleration, effect: 'NoSchedule' }, toleration] }),
    post(pods, podOf('e', { overhead: { cpu: '1' } })),
    post(pods, podOf('f', { overhead: { cpu: '1' }, containers: [] })),
    post(pods, podOf('g', { runtimeClassName: 'none' })),
    post(pods, podOf('', { priorityClassName: 'none' }, { generateName: 'h-' })),
    post(pods, podOf('i', { priority: 5 })),
    post(pods, podOf('j', { preemptionPolicy: 'Never' })),
    remove(`${runtimes}/${ns}`),
  ];
});

play(pair, 'classes of attributes are kept while they are used', () => {
  const name = uniqueName('attributes');
  const all = '/apis/storage.k8s.io/v1/volumeattributesclasses';
  return [
    post(all, { metadata: { name }, driverName: 'example.com', parameters: { a: 'b' } }),
    remove(`${all}/${name}`),
    get(`${all}/${name}`),
    merge(`${all}/${name}`, { metadata: { finalizers: null } }),
  ];
});

play(pair, 'claims that grow', () => {
  const ns = uniqueName('grow');
  const classes = '/apis/storage.k8s.io/v1/storageclasses';
  const claims = `/api/v1/namespaces/${ns}/persistentvolumeclaims`;
  const grow = (name: string, storage: string) =>
    merge(`${claims}/${name}`, { spec: { resources: { requests: { storage } } } });
  const bind = (name: string) =>
    merge(`${claims}/${name}/status`, { status: { phase: 'Bound', capacity: { storage: '1Gi' } } });
  const claim = (name: string, storageClassName: string) => ({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName, resources: { requests: { storage: '1Gi' } } },
  });
  return [
    post(namespaces, namespace(ns)),
    post(classes, { metadata: { name: `${ns}-grows` }, provisioner: 'p', allowVolumeExpansion: true }),
    post(classes, { metadata: { name: `${ns}-stays` }, provisioner: 'p' }),
    post(claims, claim('a', `${ns}-grows`)),
    post(claims, claim('b', `${ns}-stays`)),
    post(claims, claim('c', '')),
    grow('a', '2Gi'),
    ...['a', 'b', 'c'].map(bind),
    grow('a', '2Gi'),
    grow('b', '2Gi'),
    grow('c', '2Gi'),
    remove(`${classes}/${ns}-grows`),
    remove(`${classes}/${ns}-stays`),
  ];
});

const enclosed = (der: string) =>
  Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----\n${der}\n-----END CERTIFICATE REQUEST-----\n`).toString('base64');
const masters = enclosed(
  'MIHgMIGHAgEAMCUxFzAVBgNVBAoMDnN5c3RlbTptYXN0ZXJzMQowCAYDVQQDDAF4MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeFzKTvvQ' +
    'kgbf7eZRTqUM5LRXLBCI8ZlXWuUWcOShZFEk9sIrAZ9IIsvfwij0Va7ncwBh/+4AFqe1bma1D8HMqKAAMAoGCCqGSM49BAMCA0gAMEUCIQCc' +
    'YL2CpKYbS70uHFr3eV6WsEMsdhWnIr73TmTURe6g0QIgVuaJ+8h6fh5cM5NaGB6k0d5gpaM1EvbOY+O78Xhc++Y=',
);
const developers = enclosed(
  'MIHgMIGGAgEAMCQxEzARBgNVBAoMCmRldmVsb3BlcnMxDTALBgNVBAMMBGphbmUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATfTqJLDcu5' +
    'vF6tajbTPKfMa9ObtH1rb36P+unS5UYD/mytS12H5U9Wv4BlFIo3P2GQhszpUBmc0wCSsWVt2BXQoAAwCgYIKoZIzj0EAwIDSQAwRgIhAJAV' +
    'VIHNK5LpcKhiesKi9vVu1Q5p6JUydN3iMZw60w8HAiEA9uBwSHomyHvV/srvgaz52SSIBTFdalBeDTRNtcHd/ko=',
);

play(pair, 'who may approve and sign certificates', () => {
  const name = uniqueName('signers');
  const all = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const user = `user-${name}`;
  const as = (ask: Ask): Ask => ({ ...ask, headers: { 'impersonate-user': user, ...ask.headers } });
  const requests = {
    apiGroups: ['certificates.k8s.io'],
    resources: [
      'certificatesigningrequests',
      'certificatesigningrequests/approval',
      'certificatesigningrequests/status',
    ],
    verbs: ['*'],
  };
  const signers = (verb: string, resourceName: string) => ({
    ...{ apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: [verb], resourceNames: [resourceName] },
  });
  const role = (rules: readonly object[], probe: string): Step[] => [
    put(
      `${rbac}/clusterroles/${name}`,
      {
        metadata: { name },
        rules: [...rules, { nonResourceURLs: [`/${name}/${probe}`], verbs: ['get'] }],
      },
      { silent: true },
    ),
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { spec: { user, nonResourceAttributes: { path: `/${name}/${probe}`, verb: 'get' } } },
      { until: ({ body }) => body.status?.allowed === true, silent: true },
    ),
  ];
  // With a time of its own: the server's would differ when a second passes between two requests.
  const lastUpdateTime = '2026-01-02T03:04:05Z';
  const condition = { type: 'Approved', status: 'True', reason: 'R', message: 'm', lastUpdateTime };
  const approve = (one: string) => as(merge(`${all}/${one}/approval`, { status: { conditions: [condition] } }));
  const fail = (one: string) =>
    as(merge(`${all}/${one}/status`, { status: { conditions: [condition, { ...condition, type: 'Failed' }] } }));
  const spec = (signerName: string, request = developers) => ({ request, signerName, usages: ['client auth'] });
  const client = 'kubernetes.io/kube-apiserver-client';
  // The administrators of the two servers have names of their own, which the requests would show.
  const headers = { 'impersonate-user': 'asker', 'impersonate-group': 'system:masters' };
  const ask = (path: string, body: object) => post(path, body, { headers });
  return [
    ask(`${all}?dryRun=All`, { metadata: { name }, spec: spec(client, masters) }),
    ask(`${all}?dryRun=All`, { metadata: { name }, spec: spec('example.com/any', masters) }),
    ask(`${all}?dryRun=All`, { metadata: { name }, spec: spec(client) }),
    post(`${rbac}/clusterroles`, { metadata: { name }, rules: [] }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: user, apiGroup }],
    }),
    ...['a', 'b'].map((one) => ask(all, { metadata: { name: `${name}-${one}` }, spec: spec(`example.com/${one}`) })),
    ...role([requests], 'one'),
    approve(`${name}-a`),
    fail(`${name}-a`),
    as(merge(`${all}/${name}-a/status`, { metadata: { labels: { x: 'y' } } })),
    ...role([requests, signers('approve', 'example.com/a'), signers('sign', 'example.com/*')], 'two'),
    approve(`${name}-a`),
    approve(`${name}-b`),
    fail(`${name}-a`),
    fail(`${name}-b`),
    ...['a', 'b'].map((one) => remove(`${all}/${name}-${one}`)),
    remove(`${rbac}/clusterroles/${name}`),
    remove(`${rbac}/clusterrolebindings/${name}`),
  ];
});

play(pair, 'defaults by the newest class', () => {
  const ns = uniqueName('defaults');
  const [storage, ingress] = ['/apis/storage.k8s.io/v1/storageclasses', '/apis/networking.k8s.io/v1/ingressclasses'];
  const claims = `/api/v1/namespaces/${ns}/persistentvolumeclaims`;
  const ingresses = `/apis/networking.k8s.io/v1/namespaces/${ns}/ingresses`;
  const claim = (name: string, spec: object = {}) => ({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  });
  const backend = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
  return [
    post(namespaces, namespace(ns)),
    post(storage, {
      metadata: { name: ns, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'p',
    }),
    post(ingress, {
      metadata: { name: ns, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
      spec: { controller: 'example.com/c' },
    }),
    post(`${claims}?dryRun=All`, claim('p'), { until: ({ body }) => body.spec?.storageClassName === ns, silent: true }),
    post(
      `${ingresses}?dryRun=All`,
      { metadata: { name: 'p' }, spec: backend },
      {
        until: ({ body }) => body.spec?.ingressClassName === ns,
        silent: true,
      },
    ),
    post(claims, claim('a')),
    post(claims, claim('b', { storageClassName: '' })),
    post(ingresses, { metadata: { name: 'a' }, spec: backend }),
    post(ingresses, { metadata: { name: 'b' }, spec: { ...backend, ingressClassName: 'own' } }),
    post('/api/v1/nodes', { metadata: { name: ns } }),
    get(`/api/v1/nodes/${ns}`),
    remove(`/api/v1/nodes/${ns}`),
    remove(`${storage}/${ns}`),
    remove(`${ingress}/${ns}`),
  ];
});

play(pair, 'Pods and the nodes that they are on', () => {
  const ns = uniqueName('nodes');
  const at = `/api/v1/namespaces/${ns}`;
  const node = (name: string, labels: object) => [
    post('/api/v1/nodes', { metadata: { name: `${ns}-${name}`, labels } }),
    merge(`/api/v1/nodes/${ns}-${name}/status`, { status: { allocatable: { cpu: '2', memory: '1Gi' } } }),
  ];
  const zone = { 'topology.kubernetes.io/zone': 'a', 'topology.kubernetes.io/region': 'r', other: 'x' };
  const sized = (requests: object) => ({ containers: [{ name: 'c', image: 'i', resources: { requests } }] });
  const on = (name: string) => ({ ...sized({ cpu: '1', memory: '512Mi' }), nodeName: `${ns}-${name}` });
  const resize = (pod: string, requests: object) => merge(`${at}/pods/${pod}/resize`, { spec: sized(requests) });
  const bind = (pod: string, target: object, metadata: object = {}) =>
    post(`${at}/pods/${pod}/binding`, { metadata: { name: pod, ...metadata }, target });
  return [
    post(namespaces, namespace(ns)),
    ...node('linux', { ...zone, 'kubernetes.io/os': 'linux' }),
    ...node('windows', { 'kubernetes.io/os': 'windows' }),
    ...node('plain', {}),
    post(`${at}/pods?dryRun=All`, podOf('probe', on('linux')), {
      silent: true,
      until: ({ body }) => body.metadata?.labels !== undefined,
    }),
    post(`${at}/pods`, podOf('a', on('linux'), { labels: { own: '1', 'topology.kubernetes.io/zone': 'mine' } })),
    post(`${at}/pods`, podOf('b', on('windows'))),
    post(`${at}/pods`, podOf('c', on('none'))),
    post(`${at}/pods`, podOf('d', on('plain'), { labels: { 'topology.kubernetes.io/zone': 'mine' } })),
    post(`${at}/pods`, podOf('e', sized({ cpu: '1', memory: '1Mi' }), { labels: zone })),
    post(`${at}/pods`, podOf('f')),
    merge(`${at}/pods/a`, { metadata: { labels: { 'topology.kubernetes.io/zone': 'changed' } } }),
    bind('e', { kind: 'Node', name: `${ns}-linux` }, { labels: { more: '1', 'topology.kubernetes.io/zone': 'b' } }),
    get(`${at}/pods/e`),
    bind('f', { name: `${ns}-linux` }),
    get(`${at}/pods/f`),
    resize('a', { cpu: '2', memory: '1Gi' }),
    resize('a', { cpu: '3', memory: '1Gi' }),
    resize('a', { cpu: '2500m', memory: '1025Mi' }),
    resize('a', { cpu: '2', memory: '1Gi' }),
    resize('b', { cpu: '1500m', memory: '512Mi' }),
    resize('b', { cpu: '1', memory: '512Mi' }),
    resize('c', { cpu: '1500m', memory: '512Mi' }),
    resize('d', { cpu: '1500m', memory: '512Mi' }),
    resize('e', { cpu: '7', memory: '1Mi' }),
    ...['linux', 'windows', 'plain'].map((name) => remove(`/api/v1/nodes/${ns}-${name}`, undefined, { silent: true })),
  ];
});
