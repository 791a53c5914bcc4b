import { get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';
import { cronJob, job, paths, podSpec, template, workload } from './workload-objects.js';

const pair = serverPair();

const noContainers = { metadata: { labels: { app: 'a' } }, spec: { containers: [] } };
/** What is wrong with a selector and a template, whatever the kind. */
const badSpecs = [
  { selector: undefined },
  { selector: {} },
  { selector: { matchLabels: { app: 'b' } } },
  { selector: { matchLabels: { 'a b': 'c d' } } },
  { selector: { matchExpressions: [{ key: 'app', operator: 'Near' }] } },
  { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
  { template: undefined },
  { template: noContainers },
  { template: template({ restartPolicy: 'Never' }) },
  { template: template({ activeDeadlineSeconds: 5 }) },
  { template: template({}, { labels: { app: 'a', 'a b': 'c d' }, annotations: { 'a b': '' } }) },
  { template: template({ ephemeralContainers: [{ name: 'e', image: 'i' }] }) },
  { replicas: -1, minReadySeconds: -1 },
];
const status = (more: object) => ({ status: more });
const replicas = { replicas: 1, readyReplicas: 2, availableReplicas: 3, updatedReplicas: 2, fullyLabeledReplicas: 2 };

play(pair, 'Deployments and ReplicaSets that are wrong', () => {
  const ns = uniqueName('d');
  const { deployments, replicaSets, controllers } = paths(ns);
  const make = (spec: object, name = 'x') => post(deployments, workload('Deployment', name, spec));
  const rolling = (rollingUpdate: object) => make({ strategy: { type: 'RollingUpdate', rollingUpdate } });
  const controller = (spec: object) => ({
    metadata: { name: 'x' },
    spec: { selector: { app: 'a' }, template: template(), ...spec },
  });
  return [
    post(namespaces, namespace(ns)),
    ...badSpecs.map((spec) => make(spec)),
    make({ strategy: { type: 'Sometimes' } }),
    make({ strategy: { type: 'Recreate', rollingUpdate: {} } }),
    rolling({ maxSurge: 0, maxUnavailable: 0 }),
    rolling({ maxSurge: '0%', maxUnavailable: '101%' }),
    rolling({ maxSurge: 'x', maxUnavailable: -1 }),
    make({ progressDeadlineSeconds: 5, minReadySeconds: 5, revisionHistoryLimit: -1 }),
    make({ progressDeadlineSeconds: -5 }),
    make({}, 'A_b'),
    make({}, 'a.b'),
    make({}, 'd'),
    merge(`${deployments}/d`, { spec: { selector: { matchLabels: { app: 'a', b: 'c' } } } }),
    merge(`${deployments}/d`, { spec: { replicas: -1 } }),
    merge(`${deployments}/d`, {
      spec: { replicas: null, strategy: null, template: { spec: { containers: [{ name: 'd', image: 'j' }] } } },
    }),
    put(`${deployments}/d`, workload('Deployment', 'd')),
    put(`${deployments}/d`, { metadata: { name: 'd' } }),
    merge(`${deployments}/d/status`, status(replicas)),
    merge(`${deployments}/d/status`, status({ replicas: -1, observedGeneration: -1, collisionCount: -1 })),
    merge(`${deployments}/d/status`, status({ collisionCount: 2 })),
    merge(`${deployments}/d/status`, status({ collisionCount: 1 })),
    merge(`${deployments}/d/status`, status({ conditions: [{ type: 'Available', status: 'True' }] })),
    merge(`${deployments}/d/scale`, { spec: { replicas: 4 } }),
    ...badSpecs.map((spec) => post(replicaSets, workload('ReplicaSet', 'x', spec))),
    post(replicaSets, workload('ReplicaSet', 'r')),
    merge(`${replicaSets}/r`, { spec: { selector: { matchLabels: { b: 'c' } } } }),
    merge(`${replicaSets}/r/status`, status(replicas)),
    post(controllers, controller({ selector: undefined, template: undefined })),
    post(controllers, controller({ selector: { app: 'b' }, replicas: -1, minReadySeconds: -1 })),
    post(controllers, controller({ template: noContainers })),
    post(controllers, controller({ template: template({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }) })),
    post(controllers, controller({})),
    merge(`${controllers}/x`, { spec: { selector: { app: 'b' } } }),
    merge(`${controllers}/x/status`, status(replicas)),
  ];
});

play(pair, 'StatefulSets and DaemonSets that are wrong', () => {
  const ns = uniqueName('s');
  const { statefulSets, daemonSets, podTemplates } = paths(ns);
  const make = (spec: object, name = 'x') => post(statefulSets, workload('StatefulSet', name, spec));
  const daemon = (spec: object, name = 'x') => post(daemonSets, workload('DaemonSet', name, spec));
  const update = (updateStrategy: object) => daemon({ updateStrategy });
  return [
    post(namespaces, namespace(ns)),
    ...badSpecs.map((spec) => make(spec)),
    make({ podManagementPolicy: 'Sometimes' }),
    make({ updateStrategy: { type: 'Sometimes' } }),
    make({ updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } }),
    make({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: -1 } } }),
    make({ persistentVolumeClaimRetentionPolicy: { whenDeleted: 'No', whenScaled: 'No' } }),
    make({ ordinals: { start: -1 }, serviceName: 'A_b' }),
    make({ revisionHistoryLimit: -1 }, 'history'),
    make({ volumeClaimTemplates: [{ metadata: { name: 'v' }, spec: {} }] }),
    make({}, 'a.b'),
    make({ template: template({ hostname: 'A_b', subdomain: 'A_b' }) }, 'hosts'),
    make({ serviceName: 's' }, 's'),
    merge(`${statefulSets}/s`, { spec: { serviceName: 't' } }),
    merge(`${statefulSets}/s`, { spec: { selector: { matchLabels: { b: 'c' } } } }),
    merge(`${statefulSets}/s`, { spec: { podManagementPolicy: 'Parallel' } }),
    merge(`${statefulSets}/s`, { spec: { replicas: 2, minReadySeconds: 1, ordinals: { start: 1 } } }),
    merge(`${statefulSets}/s`, { spec: { replicas: -1 } }),
    merge(`${statefulSets}/s/status`, status({ ...replicas, currentReplicas: 2, collisionCount: 3 })),
    merge(`${statefulSets}/s/status`, status({ replicas: 1, collisionCount: 3 })),
    merge(`${statefulSets}/s/status`, status({ collisionCount: null })),
    ...badSpecs.map((spec) => daemon(spec)),
    update({ type: 'Sometimes' }),
    update({ rollingUpdate: { maxUnavailable: 0 } }),
    update({ rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } }),
    update({ rollingUpdate: { maxUnavailable: '101%', maxSurge: 'x' } }),
    daemon({ revisionHistoryLimit: -1 }),
    daemon({}, 'd'),
    merge(`${daemonSets}/d`, { spec: { selector: { matchLabels: { b: 'c' } } } }),
    merge(`${daemonSets}/d/status`, status({ numberReady: -1, collisionCount: -1 })),
    merge(`${daemonSets}/d/status`, status({ numberReady: 1, collisionCount: 1 })),
    merge(`${daemonSets}/d/status`, status({ collisionCount: 0 })),
    post(podTemplates, { metadata: { name: 'x' }, template: noContainers }),
    post(podTemplates, { metadata: { name: 'x' } }),
  ];
});

play(pair, 'Jobs and CronJobs that are wrong', () => {
  const ns = uniqueName('j');
  const { jobs, cronJobs } = paths(ns);
  const make = (spec: object, name = 'x') => post(jobs, job(name, spec));
  const cron = (spec: object, jobSpec: object = {}, name = 'x') => post(cronJobs, cronJob(name, spec, jobSpec));
  const indexed = (more: object) => make({ completionMode: 'Indexed', completions: 3, ...more });
  const failure = (...rules: object[]) => make({ podFailurePolicy: { rules } });
  const success = (...rules: object[]) => indexed({ successPolicy: { rules } });
  const labelled = (labels: object) => ({
    template: { metadata: { labels }, spec: podSpec({ restartPolicy: 'Never' }) },
  });
  const condition = (...types: string[]) => types.map((type) => ({ type, status: 'True' }));
  const report = (more: object) => merge(`${jobs}/j/status`, status(more));
  const times = { startTime: '2024-01-01T00:00:00Z', completionTime: '2024-01-02T00:00:00Z' };
  return [
    post(namespaces, namespace(ns)),
    make({
      parallelism: -1,
      completions: -1,
      activeDeadlineSeconds: -1,
      backoffLimit: -1,
      ttlSecondsAfterFinished: -1,
    }),
    make({ template: { spec: podSpec() } }),
    make({ template: { spec: podSpec({ restartPolicy: 'Sometimes' }) } }),
    make({ template: undefined }),
    make({ completionMode: 'Sometimes' }),
    make({ completionMode: 'Indexed' }),
    make({ backoffLimitPerIndex: 1, maxFailedIndexes: 1 }),
    make({ maxFailedIndexes: 1 }),
    indexed({ maxFailedIndexes: 4, backoffLimitPerIndex: 1, parallelism: 100_001 }),
    indexed({ completions: 100_001, backoffLimitPerIndex: 1, parallelism: 10_001 }),
    make({ managedBy: 'x' }),
    make({ podReplacementPolicy: 'Sometimes' }),
    make({ podReplacementPolicy: 'TerminatingOrFailed', podFailurePolicy: { rules: [] } }),
    make({ selector: { matchLabels: { a: 'b' } } }),
    make({ manualSelector: true }),
    make({ manualSelector: true, selector: { matchLabels: { a: 'b' } } }),
    make(labelled({ 'job-name': 'other', 'controller-uid': 'other' })),
    failure({}),
    failure({ action: 'Sometimes', onExitCodes: { operator: 'Near', values: [1], containerName: 'none' } }),
    failure({ action: 'FailIndex', onExitCodes: { operator: 'In', values: [0, 2, 2, 1] } }),
    failure({ action: 'Ignore', onExitCodes: { operator: 'In', values: [1] }, onPodConditions: [{ type: 'a b' }] }),
    failure({ action: 'Ignore', onPodConditions: [{ type: 'A', status: 'No' }, { type: 'A' }] }),
    make({ successPolicy: { rules: [{ succeededCount: 1 }] } }),
    success(),
    success(
      {},
      { succeededCount: 4 },
      { succeededIndexes: '0-5' },
      { succeededIndexes: 'x' },
      { succeededIndexes: '1,0' },
    ),
    success({ succeededIndexes: '0-1', succeededCount: 3 }),
    indexed({ completions: 3, ...labelled({}) }),
    post(jobs, job('a'.repeat(62), { completionMode: 'Indexed', completions: 3 })),
    make({}, 'a.b'),
    make({ suspend: true }, 's'),
    make({}, 'j'),
    merge(`${jobs}/j`, { spec: { completions: 2 } }),
    merge(`${jobs}/j`, { spec: { completionMode: 'Indexed' } }),
    merge(`${jobs}/j`, { spec: { selector: { matchLabels: { a: 'b' } } } }),
    merge(`${jobs}/j`, {
      spec: { backoffLimit: 2, suspend: true, activeDeadlineSeconds: 5, ttlSecondsAfterFinished: 1 },
    }),
    merge(`${jobs}/j`, { spec: { suspend: false } }),
    merge(`${jobs}/j`, { spec: { template: { metadata: { labels: { a: 'b' } } } } }),
    merge(`${jobs}/s`, {
      spec: { template: { spec: { nodeSelector: { a: 'b' } }, metadata: { labels: { a: 'b' } } } },
    }),
    merge(`${jobs}/s`, {
      spec: { template: { spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] } } },
    }),
    merge(`${jobs}/s`, { spec: { template: { spec: { containers: [{ name: 'c', image: 'other' }] } } } }),
    report({ active: -1, ready: 2, failed: -1, succeeded: -1 }),
    report({ ready: 2, active: 1 }),
    report({ conditions: condition('Complete') }),
    report({ conditions: condition('Failed') }),
    report({ conditions: condition('Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget') }),
    report({ completionTime: times.completionTime }),
    report({ completedIndexes: '0' }),
    report({ failedIndexes: '0' }),
    report({ uncountedTerminatedPods: { succeeded: ['a', 'a', ''], failed: ['a'] } }),
    report({ startTime: times.startTime, succeeded: 1, failed: 1 }),
    report({ succeeded: 0, failed: 0 }),
    report({ startTime: times.completionTime }),
    report({
      ...times,
      completionTime: '2023-01-01T00:00:00Z',
      conditions: condition('Complete', 'SuccessCriteriaMet'),
    }),
    report({ ...times, active: 1, terminating: 1, conditions: condition('Complete', 'SuccessCriteriaMet') }),
    report({ ...times, conditions: condition('Complete', 'SuccessCriteriaMet') }),
    report({ conditions: [] }),
    report({ completionTime: times.startTime }),
    cron({ schedule: '' }),
    cron({ schedule: 'x' }),
    cron({ schedule: '60 * * * *' }),
    cron({ schedule: '* * 0 * *' }),
    cron({ schedule: '5-1 * * * *' }),
    cron({ schedule: '*/0 * * * *' }),
    cron({ schedule: '* x * * *' }),
    cron({ schedule: '1-2-3 * * * *' }),
    cron({ schedule: '1/2/3 * * * *' }),
    cron({ schedule: '@never' }),
    cron({ schedule: '@every x' }),
    cron({ schedule: '-1 * * * *' }),
    cron({ schedule: 'TZ=UTC * * * * *' }),
    cron({ schedule: 'TZ=Mars/Base * * * * *' }),
    cron({ schedule: '@hourly', timeZone: '' }),
    cron({ timeZone: 'Local' }),
    cron({ timeZone: 'Mars/Base' }),
    cron({ timeZone: '../etc' }),
    cron({ timeZone: 'Europe/Vienna', schedule: '0 9 * jan mon-fri' }, {}, 'zone'),
    cron({ concurrencyPolicy: 'Sometimes', startingDeadlineSeconds: -1 }),
    cron({ successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 }),
    cron({}, { selector: { matchLabels: { a: 'b' } }, manualSelector: true }),
    cron({}, { template: { spec: podSpec() } }),
    cron({}, { completions: -1, podReplacementPolicy: 'Sometimes' }),
    cron({}, {}, 'a'.repeat(53)),
    cron({}, {}, 'c.d'),
    merge(`${cronJobs}/c.d`, { spec: { schedule: 'x' } }),
    merge(`${cronJobs}/c.d/status`, status({ lastScheduleTime: '2024-01-01T00:00:00Z' })),
  ];
});

play(pair, 'budgets, autoscalers and priorities', () => {
  const ns = uniqueName('h');
  const { budgets, autoscalers, priorityClasses } = paths(ns);
  const selector = { matchLabels: { a: 'b' } };
  const budget = (spec: object, name = 'x') => post(budgets, { metadata: { name }, spec: { selector, ...spec } });
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  const scaler = (spec: object, name = 'x') =>
    post(autoscalers, { metadata: { name }, spec: { scaleTargetRef: target, maxReplicas: 3, ...spec } });
  const metric = (...metrics: object[]) => scaler({ metrics });
  const used = { type: 'Utilization', averageUtilization: 5 };
  const described = { apiVersion: 'v1', kind: 'Service', name: 's' };
  const rules = (scaleUp: object) => scaler({ behavior: { scaleUp } });
  const priority = (name: string, more: object = {}) =>
    post(priorityClasses, { metadata: { name }, value: 1, ...more });
  const condition = { type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2024-01-01T00:00:00Z' };
  return [
    post(namespaces, namespace(ns)),
    budget({}),
    budget({ minAvailable: 1, maxUnavailable: 1 }, 'y'),
    budget({ minAvailable: -1 }, 'y'),
    budget({ minAvailable: '101%' }, 'y'),
    budget({ maxUnavailable: 'x' }, 'y'),
    budget({ selector: { matchLabels: { 'a b': 'c' } }, unhealthyPodEvictionPolicy: 'No' }, 'y'),
    budget({ minAvailable: '50%', unhealthyPodEvictionPolicy: 'AlwaysAllow' }, 'z'),
    merge(`${budgets}/z`, { spec: { minAvailable: 2 } }),
    merge(
      `${budgets}/z/status`,
      status({ currentHealthy: -1, desiredHealthy: -1, expectedPods: -1, disruptionsAllowed: -1 }),
    ),
    merge(
      `${budgets}/z/status`,
      status({
        conditions: [
          { ...condition, status: 'No', reason: '' },
          { ...condition, type: 'a b' },
        ],
      }),
    ),
    merge(`${budgets}/z/status`, status({ conditions: [condition, condition] })),
    merge(`${budgets}/z/status`, status({ conditions: [{ ...condition, reason: 'a b', observedGeneration: -1 }] })),
    scaler({}),
    scaler({ behavior: { scaleDown: { policies: [] }, scaleUp: { policies: null } } }, 'a'),
    rules({ policies: [], selectPolicy: 'Disabled' }),
    scaler({ behavior: { scaleDown: { policies: [{ type: 'Pods', value: 1, periodSeconds: 1 }] } } }, 'y'),
    scaler(
      {
        behavior: {},
        minReplicas: 2,
        metrics: [
          { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1000m' } } },
        ],
      },
      'z',
    ),
    scaler({ maxReplicas: undefined }, 'a'),
    scaler({ maxReplicas: -1 }, 'a'),
    scaler({ minReplicas: 0 }, 'a'),
    scaler({ minReplicas: 4 }, 'a'),
    scaler({ scaleTargetRef: {} }, 'a'),
    scaler({ scaleTargetRef: { kind: 'a/b', name: '..', apiVersion: 'a/b/c' } }, 'a'),
    scaler({ scaleTargetRef: { kind: 'Deployment', name: 'd' } }, 'a'),
    metric({}),
    metric({ type: 'Sometimes' }),
    metric({ type: 'Resource' }),
    metric({ type: 'Resource', resource: { name: '', target: {} } }),
    metric({
      type: 'Resource',
      resource: { name: 'cpu', target: { ...used, averageValue: '0', averageUtilization: 0 } },
    }),
    metric({
      type: 'Resource',
      resource: { name: 'cpu', target: used },
      pods: { metric: { name: 'm' }, target: used },
    }),
    metric({ type: 'Pods', pods: { metric: { name: '' }, target: { type: 'No' } } }),
    metric({ type: 'Object', object: { metric: { name: 'a/b' }, describedObject: {}, target: { type: 'Value' } } }),
    metric({
      type: 'Object',
      object: { metric: { name: 'm' }, describedObject: described, target: { type: 'Value', value: '-1' } },
    }),
    metric({ type: 'External', external: { metric: { name: 'm' }, target: { type: 'Value' } } }),
    metric({
      type: 'External',
      external: { metric: { name: 'm' }, target: { type: 'Value', value: '1', averageValue: '1' } },
    }),
    metric({ type: 'ContainerResource', containerResource: { name: 'gpu', container: 'A_b', target: used } }),
    metric({ type: 'ContainerResource', containerResource: { name: '', container: '', target: {} } }),
    rules({ stabilizationWindowSeconds: -1, selectPolicy: 'No' }),
    rules({
      stabilizationWindowSeconds: 3601,
      policies: [
        { type: 'No', value: 0, periodSeconds: 0 },
        { type: 'Pods', value: 1, periodSeconds: 1801 },
      ],
    }),
    rules({ tolerance: '-1' }),
    merge(`${autoscalers}/y`, { spec: { minReplicas: 5 } }),
    merge(`${autoscalers}/y`, { spec: { maxReplicas: 5, behavior: null } }),
    merge(`${autoscalers}/y/status`, status({ currentReplicas: -1, desiredReplicas: -1 })),
    priority(`${ns}-a`, { description: 'x' }),
    merge(`${priorityClasses}/${ns}-a`, { value: 2 }),
    merge(`${priorityClasses}/${ns}-a`, { preemptionPolicy: 'Never' }),
    merge(`${priorityClasses}/${ns}-a`, { description: 'y' }),
    priority(`${ns}-b`, { value: 1_000_000_001 }),
    priority(`${ns}-b`, { preemptionPolicy: 'Sometimes' }),
    priority('system-x'),
    get(`${priorityClasses}/system-node-critical`),
    remove(`${priorityClasses}/system-cluster-critical`),
    priority('A_b'),
  ];
});
