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
    post(
      pods,
      pod('whole', { resources: { limits: { cpu: '3', memory: '1Gi' } }, ...sized({ cpu: '2' }, { cpu: '1' }) }),
    ),
    post(
      pods,
      pod(
        'near',
        {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'z',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: {},
              matchLabelKeys: ['app', 'none'],
            },
          ],
          affinity: {
            podAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: 'z', labelSelector: {}, mismatchLabelKeys: ['app'] },
              ],
            },
          },
        },
        { labels: { app: 'a' } },
      ),
    ),
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
    post(at.revisions, { metadata: { name: 'r' }, data: { a: 1 }, revision: 1 }),
    post(at.revisions, { metadata: { name: 's' }, revision: -1 }),
    post(at.revisions, { metadata: { name: 's' }, revision: 1, data: [] }),
    merge(`${at.revisions}/r`, { data: { a: 2 } }),
    merge(`${at.revisions}/r`, { revision: 2 }),
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
    // The real server hears of its classes a moment later.
    post(at.pods, pod('a', { priorityClassName: `${ns}-a` }), { until: ({ status }) => status === 201 }),
    remove(`${at.priorityClasses}/${ns}-a`),
  ];
});

play(pair, 'autoscalers in both versions', () => {
  const ns = uniqueName('v');
  const { autoscalers, autoscalersV1 } = paths(ns);
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  const scaler = (name: string, spec: object = {}, metadata: object = {}) => ({
    metadata: { name, ...metadata },
    spec: { scaleTargetRef: target, maxReplicas: 3, ...spec },
  });
  const metric = { name: 'm', selector: { matchLabels: { a: 'b' } } };
  const metrics = [
    { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
    { type: 'Pods', pods: { metric, target: { type: 'AverageValue', averageValue: '5' } } },
    { type: 'Object', object: { metric, describedObject: target, target: { type: 'Value', value: '5' } } },
    {
      type: 'Object',
      object: { metric, describedObject: target, target: { type: 'AverageValue', averageValue: '5' } },
    },
    { type: 'External', external: { metric, target: { type: 'AverageValue', averageValue: '5' } } },
    {
      type: 'ContainerResource',
      containerResource: { name: 'cpu', container: 'c', target: { type: 'Utilization', averageUtilization: 5 } },
    },
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ];
  const status = {
    desiredReplicas: 2,
    currentReplicas: 1,
    conditions: [{ type: 'AbleToScale', status: 'True', lastTransitionTime: '2024-01-01T00:00:00Z', reason: 'R' }],
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7, averageValue: '1' } } },
      { type: 'Pods', pods: { metric, current: { averageValue: '5' } } },
    ],
  };
  return [
    post(namespaces, namespace(ns)),
    post(autoscalersV1, scaler('old')),
    get(`${autoscalers}/old`),
    post(
      autoscalersV1,
      scaler('cpu', { targetCPUUtilizationPercentage: 30, minReplicas: 2 }, { annotations: { a: 'b' } }),
    ),
    get(`${autoscalers}/cpu`),
    post(autoscalers, scaler('new', { metrics, behavior: { scaleUp: { tolerance: '100m' } } })),
    get(`${autoscalersV1}/new`),
    merge(`${autoscalers}/new`, { spec: { maxReplicas: 5 } }),
    get(`${autoscalers}/new`),
    merge(`${autoscalers}/new/status`, { status }),
    get(`${autoscalersV1}/new`),
    merge(`${autoscalersV1}/cpu/status`, {
      status: { currentReplicas: 1, desiredReplicas: 1, currentCPUUtilizationPercentage: 9 },
    }),
    get(`${autoscalers}/cpu`),
    post(autoscalersV1, scaler('bad', { maxReplicas: 0, targetCPUUtilizationPercentage: 0 })),
    get(autoscalersV1),
    remove(`${autoscalersV1}/cpu`),
  ];
});
