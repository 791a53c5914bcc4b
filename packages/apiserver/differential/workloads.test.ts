import { apply, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';
import { cronJob, job, paths, pod, podSpec, template, workload } from './workload-objects.js';

const pair = serverPair();

const everyProbe = {
  livenessProbe: { httpGet: { port: 80 } },
  readinessProbe: { tcpSocket: { port: 'http' } },
  startupProbe: { grpc: { port: 80 } },
  lifecycle: { postStart: { httpGet: { port: 80, host: 'h' } }, preStop: { exec: { command: ['x'] } } },
};
const fullPod = {
  initContainers: [
    { name: 'i', image: 'registry.example.com:5000/a/b:v1', resources: { limits: { cpu: '1' } } },
    { name: 's', image: 'a@sha256:'.padEnd(73, '0'), restartPolicy: 'Always', ...everyProbe },
  ],
  containers: [
    {
      name: 'c',
      image: 'i:latest',
      ...everyProbe,
      ports: [
        { containerPort: 80, name: 'http' },
        { containerPort: 53, protocol: 'UDP' },
      ],
      env: [
        { name: 'A', value: '1' },
        { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu' } } },
        { name: 'D', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } },
        { name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k', optional: true } } },
      ],
      envFrom: [{ configMapRef: { name: 'm' } }, { secretRef: { name: 's' }, prefix: 'P_' }],
      resources: { limits: { cpu: '0.0001', memory: '1Gi' }, requests: { cpu: '50u' } },
      volumeMounts: [
        { name: 'e', mountPath: '/e' },
        { name: 'm', mountPath: '/m', subPath: 'x', readOnly: true },
      ],
      securityContext: { runAsUser: 1, capabilities: { add: ['NET_ADMIN'] } },
    },
  ],
  volumes: [
    { name: 'e' },
    { name: 'm', configMap: { name: 'm', items: [{ key: 'k', path: 'p' }] } },
    { name: 's', secret: { secretName: 's' } },
    { name: 'd', downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'metadata.labels' } }] } },
    { name: 'h', hostPath: { path: '/h' } },
    {
      name: 'p',
      projected: {
        sources: [
          { serviceAccountToken: { path: 't' } },
          { configMap: { name: 'm' } },
          { downwardAPI: { items: [{ path: 'q', fieldRef: { fieldPath: 'metadata.uid' } }] } },
        ],
      },
    },
    { name: 'v', persistentVolumeClaim: { claimName: 'v' } },
    { name: 'n', nfs: { server: 's', path: '/p' } },
    { name: 'x', csi: { driver: 'd.example.com' } },
    { name: 'i', image: { reference: 'r' } },
    {
      name: 'g',
      ephemeral: {
        volumeClaimTemplate: {
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      },
    },
  ],
  serviceAccountName: 'sa',
  nodeSelector: { a: 'b' },
  tolerations: [{ key: 'k', operator: 'Exists' }],
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['h'] }],
  dnsConfig: { nameservers: ['10.0.0.2'], options: [{ name: 'ndots', value: '2' }] },
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: { a: 'b' } } },
  ],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }],
      },
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchLabels: { a: 'b' } } } },
      ],
    },
  },
};

play(pair, 'what Pods are given', () => {
  const ns = uniqueName('p');
  const { pods } = paths(ns);
  const sized = (limits: object, requests: object = {}) => ({
    containers: [{ name: 'c', image: 'i', resources: { limits, requests } }],
  });
  return [
    post(namespaces, namespace(ns)),
    post(pods, pod('a')),
    post(pods, pod('full', fullPod)),
    post(pods, pod('net', { hostNetwork: true, containers: [{ ...fullPod.containers[0], volumeMounts: [] }] })),
    post(pods, pod('sure', sized({ cpu: '1', memory: '1Gi' }))),
    post(pods, pod('partly', sized({ cpu: '1' }, { memory: '1Mi' }))),
    post(pods, pod('old', { serviceAccount: 'o' })),
    post(pods, pod('both', { serviceAccount: 'o', serviceAccountName: 'n' })),
    post(pods, pod('tolerant', { tolerations: [{ operator: 'Exists' }] })),
    post(pods, pod('gated', { schedulingGates: [{ name: 'example.com/wait' }] })),
    post(pods, { ...pod('status'), status: { phase: 'Running', podIP: '10.0.0.1' } }),
    post(pods, { metadata: { generateName: 'gen-' }, spec: podSpec() }),
    apply(`${pods}/applied?fieldManager=m`, pod('applied')),
    apply(`${pods}/applied?fieldManager=m`, pod('applied', { activeDeadlineSeconds: 5 })),
    merge(`${pods}/a`, { metadata: { labels: { l: '1' } } }),
    merge(`${pods}/a/status`, { status: { phase: 'Running', podIP: '10.0.0.1' } }),
    merge(`${pods}/a/status`, { status: { podIPs: [{ ip: '10.0.0.2' }, { ip: 'fd00::1' }] } }),
    get(`${pods}/a`),
    put(`${pods}/a`, pod('a')),
    put(`${pods}/a/status`, { ...pod('a'), status: { phase: 'Succeeded' } }),
    remove(`${pods}/a`),
  ];
});

play(pair, 'what other workloads are given', () => {
  const ns = uniqueName('w');
  const at = paths(ns);
  const claim = (more: object = {}) => ({
    metadata: { name: 'v' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
  });
  return [
    post(namespaces, namespace(ns)),
    post(at.podTemplates, { metadata: { name: 't' }, template: template() }),
    post(at.controllers, { metadata: { name: 'r' }, spec: { template: template() } }),
    post(at.controllers, {
      metadata: { name: 's' },
      spec: { replicas: 0, selector: { app: 'a' }, template: template() },
    }),
    post(at.deployments, workload('Deployment', 'd')),
    post(at.deployments, workload('Deployment', 'e', { strategy: { type: 'Recreate' }, replicas: 0 })),
    post(at.deployments, workload('Deployment', 'f', { strategy: { rollingUpdate: { maxSurge: 1 } } })),
    post(at.deployments, workload('Deployment', 'full', { template: template(fullPod) })),
    post(at.replicaSets, workload('ReplicaSet', 'r')),
    post(at.statefulSets, workload('StatefulSet', 's')),
    post(at.statefulSets, workload('StatefulSet', 't', { serviceName: 't', volumeClaimTemplates: [claim()] })),
    post(at.statefulSets, workload('StatefulSet', 'u', { updateStrategy: { type: 'OnDelete' } })),
    post(at.statefulSets, workload('StatefulSet', 'v', { updateStrategy: { type: 'RollingUpdate' } })),
    post(at.statefulSets, workload('StatefulSet', 'w', { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } })),
    post(at.daemonSets, workload('DaemonSet', 'd')),
    post(at.daemonSets, workload('DaemonSet', 'e', { updateStrategy: { type: 'OnDelete' } })),
    post(at.jobs, job('j'), { as: 'job' }),
    post(at.jobs, job('k', { parallelism: 3 })),
    post(at.jobs, job('l', { completions: 3, completionMode: 'Indexed', backoffLimitPerIndex: 1 })),
    post(at.jobs, { metadata: { generateName: 'gen-' }, spec: job('').spec }),
    post(at.jobs, {
      ...job('m'),
      spec: { manualSelector: true, ...workload('Job', 'm').spec, template: template({ restartPolicy: 'Never' }) },
    }),
    post(at.cronJobs, cronJob('c')),
    ...[at.deployments, at.replicaSets, at.statefulSets, at.daemonSets, at.cronJobs].flatMap((all) => {
      const name =
        { [at.deployments]: 'd', [at.replicaSets]: 'r', [at.statefulSets]: 's', [at.daemonSets]: 'd' }[all] ?? 'c';
      return [
        merge(`${all}/${name}`, { metadata: { annotations: { a: '1' } } }),
        merge(`${all}/${name}`, { spec: { minReadySeconds: 1, startingDeadlineSeconds: 20 } }),
        merge(`${all}/${name}/status`, { status: { observedGeneration: 1 }, metadata: { annotations: { a: '2' } } }),
        get(`${all}/${name}`),
      ];
    }),
    merge(`${at.daemonSets}/d`, { spec: { template: { metadata: { annotations: { x: '1' } } } } }),
    merge(`${at.jobs}/j`, { spec: { parallelism: 2 } }),
    apply(`${at.deployments}/applied?fieldManager=m`, workload('Deployment', 'applied')),
    apply(`${at.jobs}/applied?fieldManager=m`, job('applied')),
    apply(`${at.deployments}/applied?fieldManager=m`, workload('Deployment', 'applied', { replicas: 3 })),
    post(at.priorityClasses, { metadata: { name: `${ns}-a` }, value: 5 }),
    post(at.pods, pod('a', { priorityClassName: `${ns}-a` })),
    remove(`${at.priorityClasses}/${ns}-a`),
  ];
});
