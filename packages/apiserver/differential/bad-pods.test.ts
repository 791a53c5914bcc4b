import { namespace, namespaces, post } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';
import { paths, pod } from './workload-objects.js';

const pair = serverPair();

/** One request for each of these, all of them refused. */
const refused = (title: string, cases: readonly object[]) =>
  play(pair, title, () => {
    const ns = uniqueName('b');
    const { pods } = paths(ns);
    return [post(namespaces, namespace(ns)), ...cases.map((spec, index) => post(pods, pod(`p${index}`, spec)))];
  });

const container = (more: object) => ({ containers: [{ name: 'c', image: 'i', ...more }] });
const volumes = (...sources: object[]) => ({ volumes: sources.map((source, i) => ({ name: `v${i}`, ...source })) });
const mounted = (mount: object, more: object = {}) => ({
  ...container({ volumeMounts: [{ name: 'v0', mountPath: '/m', ...mount }], ...more }),
  ...volumes({ emptyDir: {} }),
});
const probe = (more: object) => container({ livenessProbe: { httpGet: { port: 80 }, ...more } });
const env = (...variables: object[]) => container({ env: variables });
const from = (valueFrom: object) => env({ name: 'A', valueFrom });
const resources = (more: object) => container({ resources: more });
const affinity = (more: object) => ({ affinity: more });
const nodeTerms = (...terms: object[]) =>
  affinity({ nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } });
const podTerm = (term: object) => affinity({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } });
const spread = (...constraints: object[]) => ({ topologySpreadConstraints: constraints });
const one = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' };

refused('containers of Pods that are wrong', [
  { containers: [] },
  container({ name: '' }),
  container({ name: 'Bad_Name' }),
  container({ name: 'a'.repeat(64) }),
  container({ image: '' }),
  container({ image: ' i ' }),
  container({ imagePullPolicy: 'Sometimes' }),
  container({ terminationMessagePolicy: 'Pipe' }),
  {
    containers: [
      { name: 'c', image: 'i' },
      { name: 'c', image: 'j' },
    ],
  },
  { initContainers: [{ name: 'c', image: 'j' }] },
  { initContainers: [{ name: 'd' }] },
  { initContainers: [{ name: 'd', image: 'j', livenessProbe: { exec: { command: ['a'] } }, lifecycle: {} }] },
  { initContainers: [{ name: 'd', image: 'j', restartPolicy: 'Sometimes' }] },
  {
    initContainers: [
      { name: 'd', image: 'j', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] },
    ],
  },
  { ephemeralContainers: [{ name: 'e', image: 'i' }] },
  container({ ports: [{ containerPort: 0 }, { containerPort: 70000 }, { containerPort: 1, hostPort: -1 }] }),
  container({
    ports: [
      { containerPort: 1, name: 'UPPER' },
      { containerPort: 1, name: 'a--b', protocol: 'HTTP' },
    ],
  }),
  container({
    ports: [
      { containerPort: 1, name: 'a' },
      { containerPort: 2, name: 'a' },
    ],
  }),
  container({
    ports: [
      { containerPort: 1, hostPort: 1 },
      { containerPort: 2, hostPort: 1 },
    ],
  }),
  container({
    ports: [
      { containerPort: 1, name: 'much-too-long-a-name' },
      { containerPort: 1, name: '123' },
    ],
  }),
  { hostNetwork: true, ...container({ ports: [{ containerPort: 1, hostPort: 2 }] }) },
  container({ restartPolicy: 'Sometimes' }),
  container({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }),
  container({ restartPolicy: 'Never', restartPolicyRules: [{ action: 'No', exitCodes: { operator: 'Eq' } }, {}] }),
  container({ resizePolicy: [{ resourceName: 'gpu', restartPolicy: 'Sometimes' }, {}] }),
  {
    restartPolicy: 'Never',
    ...container({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
  },
]);

refused('probes and environments that are wrong', [
  probe({ httpGet: { port: 0 } }),
  probe({ httpGet: { port: 'NOT A PORT', scheme: 'FTP', httpHeaders: [{ name: 'a b', value: 'c' }] } }),
  probe({ exec: { command: ['a'] } }),
  container({ livenessProbe: {} }),
  container({ livenessProbe: { exec: {} } }),
  container({ livenessProbe: { grpc: { port: 70000 } } }),
  container({ startupProbe: { tcpSocket: { port: 1 }, successThreshold: 2 } }),
  probe({ initialDelaySeconds: -1, timeoutSeconds: -1, periodSeconds: -1, successThreshold: -1, failureThreshold: -1 }),
  probe({ terminationGracePeriodSeconds: 0 }),
  container({ readinessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 } }),
  container({ lifecycle: { preStop: {}, postStart: { sleep: { seconds: 31 } } } }),
  container({ lifecycle: { stopSignal: 'SIGTERM' } }),
  { os: { name: 'linux' }, ...container({ lifecycle: { stopSignal: 'SIGNOPE' } }) },
  env({ name: '' }),
  env({ name: 'a=b' }, { name: 'é' }),
  from({}),
  env({ name: 'A', value: 'x', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }),
  from({ fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 's', key: 'k' } }),
  from({ fieldRef: { fieldPath: '' } }),
  from({ fieldRef: { fieldPath: 'metadata.labels' } }),
  from({ fieldRef: { fieldPath: "metadata.labels['a b']" } }),
  from({ fieldRef: { fieldPath: "spec.nodeName['a']" } }),
  from({ fieldRef: { fieldPath: 'spec.nope' } }),
  from({ fieldRef: { fieldPath: 'metadata.name', apiVersion: 'v2' } }),
  from({ resourceFieldRef: { resource: '' } }),
  from({ resourceFieldRef: { resource: 'limits.gpu' } }),
  from({ resourceFieldRef: { resource: 'limits.cpu', divisor: '10m' } }),
  from({ resourceFieldRef: { resource: 'requests.memory', divisor: '2Mi' } }),
  from({ secretKeyRef: { name: 'A', key: 'a/b' } }),
  from({ configMapKeyRef: { name: '', key: '' } }),
  from({ configMapKeyRef: { name: 'm', key: '..a' } }),
  from({ fileKeyRef: { key: 'k', volumeName: 'none', path: '../p' } }),
  container({ envFrom: [{}] }),
  container({ envFrom: [{ configMapRef: { name: '' } }, { secretRef: { name: 'A' }, prefix: '=' }] }),
  container({ envFrom: [{ configMapRef: { name: 'a' }, secretRef: { name: 'b' } }] }),
]);

refused('volumes and mounts that are wrong', [
  volumes({ hostPath: { path: '' } }, { hostPath: { path: '/a/../b', type: 'Pipe' } }),
  volumes({ emptyDir: {}, hostPath: { path: '/a' } }),
  volumes({ emptyDir: { sizeLimit: '-1' } }),
  volumes({ secret: {} }, { secret: { secretName: 's', defaultMode: 0o1000 } }),
  volumes(
    { configMap: {} },
    {
      configMap: {
        name: 'm',
        items: [
          { key: '', path: '' },
          { key: 'k', path: '../p' },
        ],
      },
    },
  ),
  volumes({
    configMap: {
      name: 'm',
      items: [
        { key: 'k', path: '/p' },
        { key: 'k', path: '..p', mode: -1 },
      ],
    },
  }),
  volumes({ persistentVolumeClaim: { claimName: '' } }, { nfs: { server: '', path: 'p' } }, { csi: { driver: '' } }),
  volumes({ csi: { driver: 'a_b' } }, { csi: { driver: 'a', nodePublishSecretRef: {} } }),
  volumes(
    { downwardAPI: { items: [{ path: 'p' }] } },
    { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'spec.nodeName' } }] } },
  ),
  volumes({
    downwardAPI: { items: [{ path: 'p', resourceFieldRef: { resource: 'limits.cpu' } }], defaultMode: 0o7777 },
  }),
  volumes({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }),
  {
    serviceAccountName: 's',
    ...volumes({ projected: { sources: [{ serviceAccountToken: { path: '', expirationSeconds: 1 } }] } }),
  },
  volumes({
    projected: {
      sources: [
        { configMap: { name: '' } },
        { secret: { name: 's', items: [{ key: 'a', path: 'p' }] } },
        { secret: { name: 's', items: [{ key: 'b', path: 'p' }] } },
      ],
    },
  }),
  volumes({
    projected: {
      sources: [{ configMap: { name: 'm' }, secret: { name: 's' } }, { clusterTrustBundle: { path: 'p' } }],
    },
  }),
  volumes({ ephemeral: {} }),
  volumes({ ephemeral: { volumeClaimTemplate: { metadata: { name: 'x' }, spec: {} } } }),
  volumes({
    ephemeral: { volumeClaimTemplate: { spec: { accessModes: ['No'], resources: { requests: { storage: '-1' } } } } },
  }),
  volumes({ image: { reference: 'i', pullPolicy: 'Sometimes' } }),
  { volumes: [{ name: 'v' }, { name: 'v' }, { name: '' }, { name: 'A' }] },
  mounted({ name: 'none' }),
  mounted({ mountPath: '' }),
  mounted({ subPath: '/abs' }),
  mounted({ subPath: '../up' }),
  mounted({ subPath: 'a', subPathExpr: 'b' }),
  mounted({ mountPropagation: 'Sideways' }),
  mounted({ mountPropagation: 'Bidirectional' }),
  mounted({ recursiveReadOnly: 'Enabled' }),
  mounted({ recursiveReadOnly: 'Sometimes' }),
  {
    ...container({
      volumeMounts: [
        { name: 'v0', mountPath: '/m' },
        { name: 'v0', mountPath: '/m' },
      ],
    }),
    ...volumes({}),
  },
  {
    ...container({
      volumeDevices: [
        { name: 'v0', devicePath: '' },
        { name: 'none', devicePath: '/a/..' },
      ],
    }),
    ...volumes({}),
  },
]);

refused('what Pods ask for, and where they want to run', [
  resources({ requests: { cpu: '-1' } }),
  resources({ requests: { cpu: '2' }, limits: { cpu: '1' } }),
  resources({ requests: { gpu: '1' } }),
  resources({ requests: { 'example.com/gpu': '1' } }),
  resources({ requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '2' } }),
  resources({ limits: { 'example.com/gpu': '1.5' } }),
  resources({ limits: { 'a b': '1' } }),
  resources({ limits: { pods: '1' } }),
  resources({ limits: { 'hugepages-2Mi': '3Mi' } }),
  resources({ limits: { 'foo.kubernetes.io/bar': '1', 'requests.example.com/bar': '1' } }),
  resources({ claims: [{ name: 'a' }, { name: '' }] }),
  {
    resourceClaims: [
      { name: 'a' },
      { name: 'a', resourceClaimName: 'x' },
      { name: '', resourceClaimName: 'X', resourceClaimTemplateName: 'y' },
    ],
  },
  { overhead: { cpu: '-1' } },
  { resources: { limits: { gpu: '1', 'ephemeral-storage': '1' } } },
  {
    resources: { requests: { cpu: '1m' }, limits: { cpu: '2m' } },
    ...resources({ requests: { cpu: '5m' }, limits: { cpu: '6m' } }),
  },
  { restartPolicy: 'Sometimes' },
  { dnsPolicy: 'Sometimes' },
  { dnsPolicy: 'None' },
  { dnsPolicy: 'None', dnsConfig: {} },
  { dnsConfig: { nameservers: ['a', '1.2.3.4', '1.2.3.4', '1.2.3.4'], searches: ['A'], options: [{ value: 'v' }] } },
  { hostAliases: [{ ip: '1.2.3', hostnames: ['A'] }] },
  { nodeSelector: { 'a b': 'c', d: 'e f' } },
  { nodeName: 'A_b' },
  { serviceAccountName: 'A_b' },
  { hostname: 'a.b', subdomain: 'A' },
  { activeDeadlineSeconds: 0 },
  { activeDeadlineSeconds: -1 },
  { priorityClassName: 'no-such' },
  { priority: 5 },
  { preemptionPolicy: 'Never' },
  { runtimeClassName: 'A_b' },
  {
    tolerations: [
      { key: 'a b', operator: 'Exists' },
      { operator: 'Equal', value: 'a' },
      { key: 'k', operator: 'Near' },
    ],
  },
  {
    tolerations: [
      { key: 'k', operator: 'Exists', value: 'v' },
      { key: 'k', tolerationSeconds: 1 },
      { key: 'k', effect: 'No' },
    ],
  },
  {
    tolerations: [
      { key: 'k', operator: 'Lt', value: '5' },
      { key: 'k', value: 'a b' },
    ],
  },
  { schedulingGates: [{ name: 'a b' }, { name: 'a' }, { name: 'a' }] },
  { nodeName: 'n', schedulingGates: [{ name: 'a' }] },
  { readinessGates: [{ conditionType: 'a b' }] },
  { os: { name: 'plan9' } },
  { os: { name: '' } },
  { os: { name: 'linux' }, securityContext: { windowsOptions: { runAsUserName: 'u' } } },
  {
    os: { name: 'windows' },
    securityContext: { runAsUser: 1 },
    hostPID: true,
    ...container({ securityContext: { privileged: true } }),
  },
  nodeTerms(),
  nodeTerms({
    matchExpressions: [
      { key: 'a b', operator: 'In' },
      { key: 'k', operator: 'Exists', values: ['v'] },
    ],
  }),
  nodeTerms({
    matchExpressions: [
      { key: 'k', operator: 'Gt' },
      { key: 'k', operator: 'Near' },
      { key: 'k', operator: 'In', values: ['a b'] },
    ],
  }),
  nodeTerms({
    matchFields: [
      { key: 'metadata.uid', operator: 'Exists' },
      { key: 'metadata.name', operator: 'In', values: ['A_b'] },
    ],
  }),
  affinity({ nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }] } }),
  podTerm({ labelSelector: { matchLabels: { a: 'b c' } } }),
  podTerm({
    topologyKey: 'a b',
    namespaces: ['A'],
    labelSelector: { matchExpressions: [{ key: 'k', operator: 'Near' }] },
  }),
  podTerm({ topologyKey: 'a', matchLabelKeys: ['k'] }),
  podTerm({ topologyKey: 'a', matchLabelKeys: ['k', 'a b'], mismatchLabelKeys: ['k'], labelSelector: {} }),
  affinity({
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, podAffinityTerm: { topologyKey: 'z' } }],
    },
  }),
  spread({ ...one, maxSkew: 0 }),
  spread({ ...one, topologyKey: '' }, { ...one, whenUnsatisfiable: 'No' }),
  spread(one, one),
  spread({
    ...one,
    minDomains: 0,
    whenUnsatisfiable: 'ScheduleAnyway',
    nodeAffinityPolicy: 'No',
    nodeTaintsPolicy: 'No',
  }),
  spread({ ...one, labelSelector: { matchExpressions: [{ key: 'k', operator: 'In' }] }, matchLabelKeys: ['a b'] }),
]);

refused('what Pods may do', [
  { securityContext: { runAsUser: -1, runAsGroup: -1, fsGroup: -1, supplementalGroups: [1, -1] } },
  {
    securityContext: {
      sysctls: [
        { name: '', value: '' },
        { name: 'A', value: '' },
        { name: 'a', value: '' },
        { name: 'a', value: '' },
      ],
    },
  },
  { hostNetwork: true, securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] } },
  { securityContext: { fsGroupChangePolicy: 'No', supplementalGroupsPolicy: 'No', seLinuxChangePolicy: 'No' } },
  { securityContext: { seccompProfile: {} } },
  { securityContext: { seccompProfile: { type: 'No' }, appArmorProfile: { type: 'No' } } },
  { securityContext: { seccompProfile: { type: 'Localhost' }, appArmorProfile: { type: 'Localhost' } } },
  { securityContext: { seccompProfile: { type: 'RuntimeDefault', localhostProfile: 'x' }, appArmorProfile: {} } },
  {
    securityContext: {
      seccompProfile: { type: 'Localhost', localhostProfile: '../x' },
      appArmorProfile: { type: 'Localhost', localhostProfile: ' x' },
    },
  },
  { hostPID: true, shareProcessNamespace: true },
  { securityContext: { windowsOptions: { runAsUserName: '', gmsaCredentialSpec: '', gmsaCredentialSpecName: 'A b' } } },
  { securityContext: { windowsOptions: { runAsUserName: 'a\\b\\c', hostProcess: true } } },
  { securityContext: { windowsOptions: { runAsUserName: '.a\\..' } } },
  { securityContext: { windowsOptions: { runAsUserName: 'a:b\\c@d' } } },
  {
    hostNetwork: true,
    securityContext: { windowsOptions: { hostProcess: true } },
    ...container({ securityContext: { windowsOptions: { hostProcess: false, runAsUserName: 'a\u0001' } } }),
  },
  { hostUsers: false, hostPID: true, hostNetwork: true },
  container({ securityContext: { runAsUser: 2 ** 31, procMount: 'No' } }),
  container({ securityContext: { procMount: 'Unmasked' } }),
  container({ securityContext: { allowPrivilegeEscalation: false, privileged: true } }),
  container({ securityContext: { allowPrivilegeEscalation: false, capabilities: { add: ['CAP_SYS_ADMIN'] } } }),
  { hostnameOverride: 'A', setHostnameAsFQDN: true, hostNetwork: true },
]);

play(pair, 'annotations of Pods, and what their writers are told', () => {
  const ns = uniqueName('a');
  const { pods } = paths(ns);
  const noted = (name: string, annotations: object) => post(pods, pod(name, {}, { annotations }));
  const port = { containerPort: 80 };
  return [
    post(namespaces, namespace(ns)),
    noted('a', { 'kubernetes.io/config.mirror': 'x' }),
    noted('b', { 'controller.kubernetes.io/pod-deletion-cost': 'x' }),
    noted('c', { 'controller.kubernetes.io/pod-deletion-cost': '+5' }),
    noted('d', { 'seccomp.security.alpha.kubernetes.io/pod': 'x' }),
    noted('e', { 'scheduler.alpha.kubernetes.io/critical-pod': '' }),
    noted('f', { 'a b': '' }),
    post(pods, pod('a.b')),
    post(pods, pod('critical', { priorityClassName: 'system-node-critical' })),
    post(pods, pod('A')),
    post(pods, pod('env', env({ name: 'A', value: '1' }, { name: 'A', value: '2' }, { name: 'A', value: '$(A)3' }))),
    post(pods, pod('ports', container({ ports: [port, port, { ...port, hostPort: 1 }] }))),
    post(
      pods,
      pod('names', {
        containers: [
          { name: 'c', image: 'i', ports: [{ ...port, name: 'a' }] },
          { name: 'd', image: 'i', ports: [{ containerPort: 81, name: 'a' }] },
        ],
      }),
    ),
    post(pods, pod('grace', { terminationGracePeriodSeconds: -1 })),
    post(
      pods,
      pod('labels', {
        nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
      }),
    ),
    post(pods, pod('bytes', resources({ limits: { memory: '1500m' } }))),
    post(pods, pod('repo', volumes({ gitRepo: { repository: 'r' } }))),
    post(pods, pod('near', podTerm({ topologyKey: 'a' }))),
    post(
      pods,
      pod('old', { hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }], dnsConfig: { nameservers: ['2001:DB8::1'] } }),
    ),
  ];
});
