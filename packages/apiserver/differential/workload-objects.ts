/** Objects that plays about workloads begin with. */

export const podSpec = (more: object = {}) => ({ containers: [{ name: 'c', image: 'i' }], ...more });

export const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: podSpec(spec),
});

const labels = { app: 'a' };

export const template = (spec: object = {}, metadata: object = {}) => ({
  metadata: { labels, ...metadata },
  spec: podSpec(spec),
});

/** An object of `apps`, or of another group, with a selector and a template. */
export const workload = (kind: string, name: string, spec: object = {}, apiVersion = 'apps/v1') => ({
  apiVersion,
  kind,
  metadata: { name },
  spec: { selector: { matchLabels: labels }, template: template(), ...spec },
});

export const job = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name, ...metadata },
  spec: { template: { spec: podSpec({ restartPolicy: 'Never' }) }, ...spec },
});

export const cronJob = (name: string, spec: object = {}, jobSpec: object = {}) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name },
  spec: { schedule: '* * * * *', jobTemplate: { spec: { ...job('').spec, ...jobSpec } }, ...spec },
});

export const paths = (ns: string) => ({
  pods: `/api/v1/namespaces/${ns}/pods`,
  podTemplates: `/api/v1/namespaces/${ns}/podtemplates`,
  controllers: `/api/v1/namespaces/${ns}/replicationcontrollers`,
  deployments: `/apis/apps/v1/namespaces/${ns}/deployments`,
  replicaSets: `/apis/apps/v1/namespaces/${ns}/replicasets`,
  statefulSets: `/apis/apps/v1/namespaces/${ns}/statefulsets`,
  daemonSets: `/apis/apps/v1/namespaces/${ns}/daemonsets`,
  revisions: `/apis/apps/v1/namespaces/${ns}/controllerrevisions`,
  jobs: `/apis/batch/v1/namespaces/${ns}/jobs`,
  cronJobs: `/apis/batch/v1/namespaces/${ns}/cronjobs`,
  budgets: `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`,
  autoscalers: `/apis/autoscaling/v2/namespaces/${ns}/horizontalpodautoscalers`,
  autoscalersV1: `/apis/autoscaling/v1/namespaces/${ns}/horizontalpodautoscalers`,
  priorityClasses: '/apis/scheduling.k8s.io/v1/priorityclasses',
});
