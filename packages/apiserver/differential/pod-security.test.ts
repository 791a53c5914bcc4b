import { merge, namespace, namespaces, post, put } from './asks.js';
import { type Past, play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const label = (name: string) => `pod-security.kubernetes.io/${name}`;
const labelled = (name: string, labels: Readonly<Record<string, string>>) => ({
  metadata: { name, labels: Object.fromEntries(Object.entries(labels).map(([key, value]) => [label(key), value])) },
});

const container = (name: string, securityContext?: object, more: object = {}) => ({
  ...{ name, image: 'i', ...more },
  ...(securityContext && { securityContext }),
});
const good = {
  allowPrivilegeEscalation: false,
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
  capabilities: { drop: ['ALL'] },
};
const both = (securityContext: object) => ({
  initContainers: [container('init', securityContext)],
  containers: [container('a', securityContext), container('b', good)],
});

/** Specs of Pods, most of which break one rule or several. */
const specs: Readonly<Record<string, object>> = {
  good: { containers: [container('a', good)] },
  plain: { containers: [container('a'), container('b')] },
  privileged: both({ ...good, allowPrivilegeEscalation: true, privileged: true }),
  'host-namespaces': { hostPID: true, hostIPC: true, hostNetwork: true, containers: [container('a', good)] },
  'host-ports': {
    containers: [container('a', good, { ports: [{ containerPort: 80, hostPort: 8080 }] })],
    initContainers: [container('b', good, { ports: [{ containerPort: 81, hostPort: 81 }] })],
  },
  probes: {
    containers: [
      container('a', good, {
        livenessProbe: { httpGet: { port: 80, host: 'b.example' } },
        readinessProbe: { tcpSocket: { port: 80, host: 'a.example' } },
        lifecycle: { preStop: { httpGet: { port: 80, host: 'c.example' } } },
      }),
    ],
  },
  volumes: {
    containers: [container('a', good)],
    volumes: [
      { name: 'host', hostPath: { path: '/x' } },
      { name: 'nfs', nfs: { server: 's', path: '/x' } },
      { name: 'scratch', emptyDir: {} },
    ],
  },
  capabilities: both({ ...good, capabilities: { add: ['NET_ADMIN', 'CHOWN', 'NET_BIND_SERVICE'] } }),
  'proc-mount': {
    hostUsers: false,
    containers: [container('a', { ...good, procMount: 'Unmasked', runAsUser: 0, runAsNonRoot: false })],
  },
  selinux: {
    securityContext: { seLinuxOptions: { type: 'spc_t', user: 'u' } },
    containers: [
      container('a', { ...good, seLinuxOptions: { type: 'container_engine_t' } }),
      container('b', { ...good, seLinuxOptions: { role: 'r' } }),
    ],
  },
  seccomp: {
    securityContext: { seccompProfile: { type: 'Unconfined' } },
    containers: [container('a', { ...good, seccompProfile: { type: 'Unconfined' } }), container('b')],
  },
  'seccomp-of-pod': {
    securityContext: { seccompProfile: { type: 'RuntimeDefault' }, runAsNonRoot: true },
    containers: [container('a', { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })],
  },
  'app-armor': {
    securityContext: { appArmorProfile: { type: 'Unconfined' } },
    containers: [container('a', { ...good, appArmorProfile: { type: 'Unconfined' } })],
  },
  sysctls: {
    securityContext: {
      sysctls: [
        { name: 'net.ipv4.tcp_keepalive_time', value: '1' },
        { name: 'net.ipv4.tcp_rmem', value: '1' },
        { name: 'kernel.msgmax', value: '1' },
      ],
    },
    containers: [container('a', good)],
  },
  root: {
    securityContext: { runAsUser: 0, runAsNonRoot: false },
    containers: [container('a', { ...good, runAsUser: 0 }), container('b', { ...good, runAsNonRoot: false })],
  },
  'host-process': {
    hostNetwork: true,
    os: { name: 'windows' },
    securityContext: { windowsOptions: { hostProcess: true } },
    containers: [container('a', { windowsOptions: { hostProcess: true } })],
  },
  windows: { os: { name: 'windows' }, containers: [container('a', { runAsNonRoot: true })] },
};

const levels = ['baseline', 'restricted'];
const versions = ['latest', 'v1.0', 'v1.18', 'v1.21', 'v1.24', 'v1.28', 'v1.30', 'v1.34', 'v1.99'];

for (const level of levels) {
  play(pair, `Pods at the level ${level} of all versions`, () =>
    versions.flatMap((version): Step[] => {
      const ns = uniqueName('security');
      return [
        post(namespaces, labelled(ns, { enforce: level, 'enforce-version': version })),
        ...Object.entries(specs).map(([name, spec]) =>
          post(`/api/v1/namespaces/${ns}/pods?dryRun=All`, { metadata: { name }, spec }),
        ),
      ];
    }),
  );
}

play(pair, 'Pods by annotations at an old level', () => {
  const ns = uniqueName('security');
  const annotations = {
    'container.apparmor.security.beta.kubernetes.io/a': 'unconfined',
    'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
    'container.seccomp.security.alpha.kubernetes.io/a': 'localhost/x',
  };
  return [
    post(namespaces, labelled(ns, { enforce: 'baseline', 'enforce-version': 'v1.10' })),
    post(`/api/v1/namespaces/${ns}/pods`, { metadata: { name: 'a', annotations }, spec: specs.plain }),
  ];
});

play(pair, 'warnings about Pods and workloads', () => {
  const [ns, warned] = [uniqueName('security'), uniqueName('security')];
  const template = (spec: object = {}) => ({ metadata: { labels: { a: 'b' } }, spec });
  const selector = { matchLabels: { a: 'b' } };
  const job = { template: template({ ...specs.privileged, restartPolicy: 'Never' }) };
  const workloads = (place: string): Step[] => [
    post(`/api/v1/namespaces/${place}/podtemplates`, { metadata: { name: 'a' }, template: template(specs.plain) }),
    post(`/api/v1/namespaces/${place}/replicationcontrollers`, {
      metadata: { name: 'a' },
      spec: { selector: { a: 'b' }, template: template(specs.privileged) },
    }),
    ...['replicasets', 'deployments', 'statefulsets', 'daemonsets'].map((plural) =>
      post(`/apis/apps/v1/namespaces/${place}/${plural}`, {
        metadata: { name: 'a' },
        spec: { selector, template: template(specs.privileged) },
      }),
    ),
    post(`/apis/batch/v1/namespaces/${place}/jobs`, { metadata: { name: 'a' }, spec: job }),
    post(`/apis/batch/v1/namespaces/${place}/cronjobs`, {
      metadata: { name: 'a' },
      spec: { schedule: '* * * * *', jobTemplate: { spec: job } },
    }),
    merge(`/apis/apps/v1/namespaces/${place}/deployments/a`, { metadata: { labels: { x: 'y' } } }),
    merge(`/apis/apps/v1/namespaces/${place}/deployments/a/scale`, { spec: { replicas: 2 } }),
  ];
  const pods = `/api/v1/namespaces/${warned}/pods`;
  return [
    post(namespaces, labelled(ns, { enforce: 'restricted', 'enforce-version': 'v1.30' })),
    ...workloads(ns),
    post(namespaces, labelled(warned, { enforce: 'baseline', warn: 'restricted', audit: 'restricted' })),
    ...workloads(warned),
    post(pods, { metadata: { name: 'a' }, spec: specs.plain }),
    post(pods, { metadata: { name: 'b' }, spec: specs.privileged }),
    merge(`${pods}/a`, { metadata: { labels: { x: 'y' } } }),
    merge(`${pods}/a`, {
      spec: {
        containers: [
          { name: 'a', image: 'other' },
          { name: 'b', image: 'i' },
        ],
      },
    }),
    merge(`${pods}/a/ephemeralcontainers`, {
      spec: { ephemeralContainers: [{ name: 'e', image: 'i', securityContext: { privileged: true } }] },
    }),
  ];
});

play(pair, 'labels of namespaces that say how secure Pods are', () => {
  const ns = uniqueName('security');
  const path = `${namespaces}/${ns}`;
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const owned = (name: string, uid: string, spec: object | undefined) => ({
    metadata: {
      name,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid, controller: true }],
    },
    spec,
  });
  const relabel = (labels: Readonly<Record<string, string>>) => merge(path, labelled(ns, labels));
  return [
    post(namespaces, labelled(`${ns}-bad`, { enforce: 'strict', 'enforce-version': '1.2', warn: 'no', audit: 'no' })),
    post(namespaces, namespace(ns)),
    post(pods, { metadata: { name: 'a' }, spec: specs.plain }),
    post(pods, { metadata: { name: 'b' }, spec: specs.privileged }),
    post(pods, owned('d', 'one', specs.privileged)),
    post(pods, owned('c', 'one', specs.privileged)),
    post(pods, { metadata: { name: 'e' }, spec: specs.good }),
    relabel({ enforce: 'restricted' }),
    relabel({ enforce: 'baseline' }),
    relabel({ enforce: 'baseline', 'enforce-version': 'v1.20' }),
    relabel({ enforce: 'privileged' }),
    relabel({ warn: 'restricted' }),
    relabel({ enforce: 'strict' }),
    relabel({ 'warn-version': 'v2.0' }),
    put(path, labelled(ns, { enforce: 'baseline' }), { as: 'whole' }),
    (past: Past) => put(path, past.body('whole')),
  ];
});
