import { merge, namespace, namespaces, post } from './asks.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';

const enable = [
  ...['ServiceAccount', 'OwnerReferencesPermissionEnforcement', 'AlwaysPullImages', 'DenyServiceExternalIPs'],
  ...['ExtendedResourceToleration', 'LimitPodHardAntiAffinityTopology', 'PodNodeSelector', 'PodTolerationRestriction'],
];
const pair = serverPair({ enable });
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
});
/** A namespace with an account that Pods have by default. */
const stage = (ns: string, metadata: object = {}): Step[] => [
  post(namespaces, { ...namespace(ns), metadata: { name: ns, ...metadata } }),
  post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'default' } }),
];

play(pair, 'accounts of Pods', () => {
  const ns = uniqueName('accounts');
  const at = `/api/v1/namespaces/${ns}`;
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };
  const strict = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
  const secret = (secretName: string) => ({ volumes: [{ name: 's', secret: { secretName } }] });
  const env = (name: string) => [{ name: 'E', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
  const by = (name: string, spec: object) => post(`${at}/pods`, pod(name, { serviceAccountName: 'strict', ...spec }));
  return [
    ...stage(ns),
    post(`${at}/serviceaccounts`, {
      metadata: { name: 'robot' },
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'registry' }],
    }),
    post(`${at}/serviceaccounts`, { metadata: { name: 'strict', annotations: strict }, secrets: [{ name: 'mine' }] }),
    post(`${at}/pods`, pod('a')),
    post(
      `${at}/pods`,
      pod('b', { initContainers: [{ name: 'i', image: 'i' }], volumes: [{ name: 'v', emptyDir: {} }] }),
    ),
    post(
      `${at}/pods`,
      pod('c', {
        containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath }] }],
        volumes: [{ name: 'v', emptyDir: {} }],
      }),
    ),
    post(`${at}/pods`, pod('d', { volumes: [{ name: 'kube-api-access-own', emptyDir: {} }] })),
    post(`${at}/pods`, pod('e', { serviceAccountName: 'robot' })),
    post(`${at}/pods`, pod('f', { serviceAccount: 'robot', automountServiceAccountToken: true })),
    post(`${at}/pods`, pod('g', { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'own' }] })),
    post(`${at}/pods`, pod('h', { serviceAccountName: 'none' })),
    post(`${at}/pods`, pod('i', { nodeName: 'n' }, mirror)),
    post(`${at}/pods`, pod('j', { nodeName: 'n', serviceAccountName: 'default' }, mirror)),
    post(`${at}/pods`, pod('k', { nodeName: 'n', ...secret('x') }, mirror)),
    by('l', secret('mine')),
    by('m', secret('other')),
    by('n', { containers: [{ name: 'c', image: 'i', env: env('other') }] }),
    by('o', { initContainers: [{ name: 'i', image: 'i', envFrom: [{ secretRef: { name: 'other' } }] }] }),
    by('p', { imagePullSecrets: [{ name: 'other' }] }),
    merge(`${at}/pods/a`, { metadata: { labels: { x: 'y' } } }),
  ];
});

play(pair, 'who may set owners', () => {
  const ns = uniqueName('owners');
  const at = `/api/v1/namespaces/${ns}/configmaps`;
  const user = `user-${ns}`;
  const headers = { 'impersonate-user': user };
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update', 'patch', 'get'] }];
  const owner = (more: object = {}, kind = 'Secret', apiVersion = 'v1') => ({
    ownerReferences: [{ apiVersion, kind, name: 's', uid: 'u', ...more }],
  });
  const map = (name: string, metadata: object = {}) => post(at, { metadata: { name, ...metadata } }, { headers });
  const change = (name: string, metadata: object) => merge(`${at}/${name}`, { metadata }, { headers });
  return [
    ...stage(ns),
    post(`${rbac}/namespaces/${ns}/roles`, { metadata: { name: 'r' }, rules }),
    post(`${rbac}/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'r' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
    }),
    post(
      `${at}?dryRun=All`,
      { metadata: { name: 'probe' } },
      { headers, until: ({ status }) => status === 201, silent: true },
    ),
    map('a'),
    map('b', owner()),
    map('c', owner({ blockOwnerDeletion: true })),
    map('d', owner({ blockOwnerDeletion: true }, 'Odd', 'example.com/v1')),
    change('a', owner()),
    change('b', owner()),
    change('b', { ownerReferences: null }),
    change('b', { labels: { x: 'y' } }),
  ];
});

play(pair, 'plugins that are off by default', () => {
  const ns = uniqueName('optional');
  const at = `/api/v1/namespaces/${ns}`;
  const annotations = {
    'scheduler.alpha.kubernetes.io/node-selector': 'zone=a',
    'scheduler.alpha.kubernetes.io/defaultTolerations': '[{"key":"x","operator":"Exists"}]',
  };
  const gpu = { 'example.com/gpu': '1' };
  const apart = (topologyKey: string) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { a: 'b' } } }],
      },
    },
  });
  const service = (externalIPs: string[]) => ({ metadata: { name: 's' }, spec: { ports: [{ port: 1 }], externalIPs } });
  return [
    ...stage(ns, { annotations }),
    post(`${at}/pods`, pod('a', { containers: [{ name: 'c', image: 'i:1', imagePullPolicy: 'Never' }] })),
    post(`${at}/pods`, pod('b', { nodeSelector: { zone: 'b' } })),
    post(`${at}/pods`, pod('c', { nodeSelector: { disk: 'ssd' } })),
    post(
      `${at}/pods`,
      pod('d', { containers: [{ name: 'c', image: 'i', resources: { requests: gpu, limits: gpu } }] }),
    ),
    post(`${at}/pods`, pod('e', { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }] })),
    post(`${at}/pods`, pod('f', apart('topology.kubernetes.io/zone'))),
    post(`${at}/pods`, pod('g', apart('kubernetes.io/hostname'))),
    post(`${at}/services`, service(['192.0.2.1'])),
    post(`${at}/services`, service([])),
    merge(`${at}/services/s`, { spec: { externalIPs: ['192.0.2.1'] } }),
  ];
});
