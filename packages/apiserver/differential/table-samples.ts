import { post, put } from './asks.js';
import type { Past, Step } from './pair.js';

/** Something that is shown as a row: where it is made, what it is, and the status that it is given. */
interface Sample {
  readonly at: string;
  readonly object: Readonly<Record<string, unknown>> & {
    readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  };
  readonly status?: object;
}

const containers = [
  { name: 'web', image: 'nginx:1' },
  { name: 'side', image: 'side:2' },
];
const labels = { app: 'x', tier: 'y' };
const pod = { metadata: { labels }, spec: { containers } };
const selector = { matchLabels: labels };
const longAgo = '2020-01-02T03:04:05Z';

const state = {
  waiting: (reason: string) => ({ waiting: { reason } }),
  running: { running: { startedAt: longAgo } },
  ended: (exitCode: number, more: object = {}) => ({ terminated: { exitCode, ...more } }),
};

const containerStatus = (name: string, containerState: object, more: object = {}) => ({
  ...{ name, image: 'i', imageID: '', ready: false, restartCount: 0, state: containerState },
  ...more,
});

/** Pods in many states: each has a status. */
function pods(ns: string): Sample[] {
  const at = `/api/v1/namespaces/${ns}/pods`;
  const make = (name: string, status: object, spec: object = {}): Sample => ({
    at,
    object: { metadata: { name }, spec: { containers, ...spec } },
    status,
  });
  const init = { initContainers: [{ name: 'init', image: 'i' }] };
  const sidecar = { initContainers: [{ name: 'init', image: 'i', restartPolicy: 'Always' }] };
  const lastState = { terminated: { exitCode: 1, finishedAt: longAgo } };
  const ready = [{ type: 'Ready', status: 'True' }];
  return [
    make('pending', { phase: 'Pending' }),
    make('gated', {
      phase: 'Pending',
      conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    }),
    make('evicted', { phase: 'Failed', reason: 'Evicted' }),
    make('done', {
      phase: 'Succeeded',
      containerStatuses: [containerStatus('web', state.ended(0, { reason: 'Completed' }))],
    }),
    make('crashing', {
      phase: 'Running',
      containerStatuses: [containerStatus('web', state.waiting('CrashLoopBackOff'), { restartCount: 7, lastState })],
      podIPs: [{ ip: '10.0.0.9' }],
      podIP: '10.0.0.9',
      nominatedNodeName: 'n2',
    }),
    make('half', {
      phase: 'Running',
      conditions: ready,
      containerStatuses: [
        containerStatus('web', state.running, { ready: true }),
        containerStatus('side', state.ended(0, { reason: 'Completed' })),
      ],
    }),
    make('not-ready', {
      phase: 'Running',
      containerStatuses: [
        containerStatus('web', state.ended(0, { reason: 'Completed' })),
        containerStatus('side', state.running, { ready: true }),
      ],
    }),
    make('signalled', {
      phase: 'Failed',
      containerStatuses: [containerStatus('web', state.ended(137, { signal: 9 }))],
    }),
    make('exit-code', { phase: 'Failed', containerStatuses: [containerStatus('web', state.ended(3))] }),
    make(
      'init-waits',
      { phase: 'Pending', initContainerStatuses: [containerStatus('init', state.waiting('PodInitializing'))] },
      init,
    ),
    make(
      'init-pulls',
      { phase: 'Pending', initContainerStatuses: [containerStatus('init', state.waiting('ErrImagePull'))] },
      init,
    ),
    make('init-fails', { phase: 'Pending', initContainerStatuses: [containerStatus('init', state.ended(2))] }, init),
    make('init-done', { phase: 'Running', initContainerStatuses: [containerStatus('init', state.ended(0))] }, init),
    make(
      'sidecar',
      {
        phase: 'Running',
        initContainerStatuses: [
          containerStatus('init', state.running, { ready: true, started: true, restartCount: 2, lastState }),
        ],
        containerStatuses: [containerStatus('web', state.running, { ready: true })],
      },
      sidecar,
    ),
    make(
      'gates',
      { phase: 'Running', conditions: [{ type: 'a/b', status: 'True' }] },
      { readinessGates: [{ conditionType: 'a/b' }, { conditionType: 'c/d' }] },
    ),
  ];
}

function workloads(ns: string): Sample[] {
  const apps = `/apis/apps/v1/namespaces/${ns}`;
  const batch = `/apis/batch/v1/namespaces/${ns}`;
  const metadata = { name: 'x' };
  const counts = { replicas: 3, readyReplicas: 2, availableReplicas: 1, updatedReplicas: 3, observedGeneration: 1 };
  const job = { template: { spec: { containers, restartPolicy: 'Never' } } };
  const jobAt = (name: string, spec: object, status?: object): Sample => ({
    at: `${batch}/jobs`,
    object: { metadata: { name }, spec: { ...job, ...spec } },
    status,
  });
  return [
    { at: `${apps}/deployments`, object: { metadata, spec: { replicas: 3, selector, template: pod } }, status: counts },
    {
      at: `${apps}/replicasets`,
      object: {
        metadata,
        spec: {
          replicas: 3,
          selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'a'] }] },
          template: pod,
        },
      },
      status: { replicas: 3, readyReplicas: 2, fullyLabeledReplicas: 1 },
    },
    {
      at: `${apps}/statefulsets`,
      object: { metadata, spec: { serviceName: 's', replicas: 3, selector, template: pod } },
      status: { replicas: 3, readyReplicas: 2 },
    },
    {
      at: `${apps}/daemonsets`,
      object: {
        metadata,
        spec: { selector, template: { ...pod, spec: { containers, nodeSelector: { disk: 'ssd' } } } },
      },
      status: {
        desiredNumberScheduled: 5,
        currentNumberScheduled: 4,
        numberMisscheduled: 0,
        numberReady: 3,
        updatedNumberScheduled: 2,
        numberAvailable: 1,
      },
    },
    {
      at: `/api/v1/namespaces/${ns}/replicationcontrollers`,
      object: { metadata, spec: { replicas: 1, selector: labels, template: pod } },
      status: { replicas: 1, readyReplicas: 1 },
    },
    { at: `/api/v1/namespaces/${ns}/podtemplates`, object: { metadata, template: pod } },
    {
      at: `${apps}/controllerrevisions`,
      object: {
        metadata: {
          name: 'x',
          ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 'u', controller: true }],
        },
        revision: 4,
        data: {},
      },
    },
    jobAt('x', { completions: 3, parallelism: 2 }, { startTime: longAgo, succeeded: 1 }),
    jobAt('queue', { parallelism: 4 }, { startTime: longAgo }),
    jobAt('suspended', { suspend: true }, { conditions: [{ type: 'Suspended', status: 'True' }] }),
    {
      at: `${batch}/cronjobs`,
      object: { metadata, spec: { schedule: '* * * * *', jobTemplate: { spec: job } } },
      status: {
        lastScheduleTime: longAgo,
        active: [{ name: 'a', kind: 'Job', apiVersion: 'batch/v1', namespace: ns }],
      },
    },
    {
      at: `${batch}/cronjobs`,
      object: {
        metadata: { name: 'zone' },
        spec: { schedule: '5 * * * *', timeZone: 'Europe/Berlin', suspend: true, jobTemplate: { spec: job } },
      },
    },
    {
      at: `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`,
      object: { metadata, spec: { minAvailable: '50%', selector } },
      status: { disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, observedGeneration: 1 },
    },
    {
      at: `/apis/autoscaling/v1/namespaces/${ns}/horizontalpodautoscalers`,
      object: {
        metadata: { name: 'cpu' },
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' },
          maxReplicas: 5,
          targetCPUUtilizationPercentage: 70,
        },
      },
    },
    {
      at: `/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`,
      object: {
        metadata,
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'x', apiVersion: 'apps/v1' },
          minReplicas: 1,
          maxReplicas: 5,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } },
            { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '100Mi' } } },
            { type: 'Pods', pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '5' } } },
          ],
        },
      },
      status: {
        currentReplicas: 2,
        desiredReplicas: 2,
        currentMetrics: [
          { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 40, averageValue: '1' } } },
        ],
        conditions: [],
      },
    },
  ];
}

function network(ns: string): Sample[] {
  const networking = `/apis/networking.k8s.io/v1/namespaces/${ns}`;
  const metadata = { name: 'x' };
  const services = `/api/v1/namespaces/${ns}/services`;
  const service = { port: { number: 80 }, name: 's' };
  const rule = (host?: string) => ({
    host,
    http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service } }] },
  });
  return [
    {
      at: services,
      object: {
        metadata: { name: 'headless' },
        spec: {
          type: 'ClusterIP',
          clusterIP: 'None',
          clusterIPs: ['None'],
          selector: labels,
          ports: [{ port: 80 }, { port: 53, protocol: 'UDP', name: 'dns' }].map((p) => ({ name: 'http', ...p })),
        },
      },
    },
    {
      at: services,
      object: { metadata: { name: 'external' }, spec: { type: 'ExternalName', externalName: 'example.com' } },
    },
    {
      at: `/api/v1/namespaces/${ns}/endpoints`,
      object: {
        metadata,
        subsets: [{ addresses: ['1', '2', '3', '4'].map((n) => ({ ip: `10.1.2.${n}` })), ports: [{ port: 80 }] }],
      },
    },
    { at: `/api/v1/namespaces/${ns}/endpoints`, object: { metadata: { name: 'empty' } } },
    {
      at: `/apis/discovery.k8s.io/v1/namespaces/${ns}/endpointslices`,
      object: {
        metadata,
        addressType: 'IPv4',
        ports: [{ port: 80, name: 'a' }, { name: 'b' }],
        endpoints: [{ addresses: ['10.0.0.1'] }],
      },
    },
    {
      at: `/apis/discovery.k8s.io/v1/namespaces/${ns}/endpointslices`,
      object: { metadata: { name: 'empty' }, addressType: 'IPv6', endpoints: [] },
    },
    {
      at: `${networking}/ingresses`,
      object: {
        metadata,
        spec: {
          ingressClassName: 'c',
          tls: [{ hosts: ['a.example.com'] }],
          rules: ['a', 'b', 'c', 'd'].map((h) => rule(`${h}.example.com`)),
        },
      },
      status: { loadBalancer: { ingress: [{ ip: '10.9.9.9' }, { hostname: 'lb.example.com' }] } },
    },
    { at: `${networking}/ingresses`, object: { metadata: { name: 'any' }, spec: { defaultBackend: { service } } } },
    { at: `${networking}/networkpolicies`, object: { metadata, spec: { podSelector: selector } } },
    { at: `${networking}/networkpolicies`, object: { metadata: { name: 'all' }, spec: { podSelector: {} } } },
    {
      at: '/apis/networking.k8s.io/v1/ingressclasses',
      object: {
        metadata: { name: ns, annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } },
        spec: { controller: 'example.com/c', parameters: { apiGroup: 'k.example.com', kind: 'P', name: 'p' } },
      },
    },
  ];
}

function cluster(ns: string): Sample[] {
  const metadata = { name: ns };
  const own = { name: 'x' };
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const subjects = [
    { kind: 'User', name: 'u', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'Group', name: 'g', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
  const webhook = {
    name: 'a.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/x' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  return [
    {
      at: `/api/v1/namespaces/${ns}/configmaps`,
      object: { metadata: own, data: { a: '1' }, binaryData: { b: 'eA==' } },
    },
    { at: `/api/v1/namespaces/${ns}/secrets`, object: { metadata: own, stringData: { a: '1' } } },
    { at: `/api/v1/namespaces/${ns}/serviceaccounts`, object: { metadata: own } },
    { at: `/api/v1/namespaces/${ns}/limitranges`, object: { metadata: own, spec: { limits: [] } } },
    {
      at: `/api/v1/namespaces/${ns}/resourcequotas`,
      object: { metadata: own, spec: { hard: { pods: '3' } } },
      status: { hard: { pods: '3', 'limits.cpu': '2', configmaps: '9' }, used: { pods: '1', 'limits.cpu': '500m' } },
    },
    {
      at: `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`,
      object: { metadata: own, spec: { holderIdentity: 'me', leaseDurationSeconds: 5 } },
    },
    { at: `${rbac}/namespaces/${ns}/rolebindings`, object: { metadata: own, roleRef, subjects } },
    { at: `${rbac}/namespaces/${ns}/roles`, object: { metadata: own, rules: [] } },
    { at: `${rbac}/clusterrolebindings`, object: { metadata, roleRef, subjects: [] } },
    {
      at: `/api/v1/namespaces/${ns}/events`,
      object: {
        metadata: own,
        involvedObject: { kind: 'Pod', name: 'p', namespace: ns, fieldPath: 'spec.x' },
        type: 'Warning',
        reason: 'Why',
        message: ' because ',
        source: { component: 'c', host: 'h' },
        firstTimestamp: longAgo,
        lastTimestamp: longAgo,
        count: 3,
      },
    },
    {
      at: '/api/v1/nodes',
      object: {
        metadata: { ...metadata, labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'db' } },
        spec: { unschedulable: true },
      },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        nodeInfo: {
          kubeletVersion: 'v1.36.3',
          osImage: 'os',
          kernelVersion: '6',
          containerRuntimeVersion: 'cri',
          architecture: 'amd64',
          ...{ bootID: '', kubeProxyVersion: '', machineID: '', operatingSystem: '', systemUUID: '' },
        },
      },
    },
    { at: '/apis/scheduling.k8s.io/v1/priorityclasses', object: { metadata, value: 7, preemptionPolicy: 'Never' } },
    {
      at: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      object: {
        metadata,
        webhooks: [
          {
            ...webhook,
            rules: [
              { apiGroups: ['none.example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] },
            ],
          },
        ],
      },
    },
    {
      at: '/apis/storage.k8s.io/v1/storageclasses',
      object: {
        metadata: { ...metadata, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'p.example.com',
      },
    },
    {
      at: '/apis/storage.k8s.io/v1/csidrivers',
      object: { metadata, spec: { tokenRequests: [{ audience: 'a' }], volumeLifecycleModes: ['Persistent'] } },
    },
    {
      at: `/api/v1/namespaces/${ns}/persistentvolumeclaims`,
      object: {
        metadata: own,
        spec: {
          accessModes: ['ReadWriteOnce'],
          volumeMode: 'Filesystem',
          storageClassName: 'c',
          resources: { requests: { storage: '1Gi' } },
        },
      },
      status: { phase: 'Pending' },
    },
    {
      at: '/api/v1/persistentvolumes',
      object: {
        metadata,
        spec: {
          accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
          capacity: { storage: '5Gi' },
          hostPath: { path: '/x' },
          persistentVolumeReclaimPolicy: 'Retain',
          volumeMode: 'Filesystem',
          claimRef: { name: 'c', namespace: 'n' },
        },
      },
      status: { phase: 'Pending' },
    },
  ];
}

/** Objects of the common kinds in a namespace, and some that are named after it. */
export function tableSamples(ns: string): readonly Sample[] {
  return [...pods(ns), ...workloads(ns), ...network(ns), ...cluster(ns)];
}

/** Makes a sample; how that is answered is compared elsewhere. */
export function make({ at, object, status }: Sample): Step[] {
  const { name } = object.metadata;
  const made = `${at}/${name}`;
  if (status === undefined) return [post(at, object, { silent: true })];
  return [
    post(at, object, { silent: true, as: made }),
    (past: Past) => put(`${made}/status`, { ...past.body(made), status }, { silent: true }),
  ];
}
