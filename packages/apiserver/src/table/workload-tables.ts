import type {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  PodDisruptionBudget,
  PodTemplate,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from 'riata/kinds';
import { splitApiVersion } from 'riata/object';
import { bareSelectorText, containerCells, labelsText, none, selectorText, truthText } from './cell-texts.js';
import { humanDuration } from './human-duration.js';
import { type Ages, ageColumn, booleans, integers, nameColumn, printer, texts, wide } from './table-printer.js';

const template = wide('Containers', 'Images', 'Selector');

const deployments = printer<Deployment>(
  [nameColumn, ...texts('Ready', 'Up-to-date', 'Available'), ageColumn, ...template],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    status?.updatedReplicas ?? 0,
    status?.availableReplicas ?? 0,
    ages.since(metadata.creationTimestamp),
    ...containerCells(spec?.template.spec?.containers),
    bareSelectorText(spec?.selector, '<invalid>'),
  ],
);

const counted = [nameColumn, ...integers('Desired', 'Current', 'Ready'), ageColumn, ...template];

function countedCells({ metadata, spec, status }: ReplicaSet | ReplicationController, ages: Ages) {
  return [
    metadata.name,
    spec?.replicas ?? 0,
    status?.replicas ?? 0,
    status?.readyReplicas ?? 0,
    ages.since(metadata.creationTimestamp),
    ...containerCells(spec?.template?.spec?.containers),
  ];
}

const replicaSets = printer<ReplicaSet>(counted, (set, ages) => [
  ...countedCells(set, ages),
  selectorText(set.spec?.selector),
]);

const replicationControllers = printer<ReplicationController>(counted, (controller, ages) => [
  ...countedCells(controller, ages),
  labelsText(controller.spec?.selector),
]);

const statefulSets = printer<StatefulSet>(
  [nameColumn, ...texts('Ready'), ageColumn, ...wide('Containers', 'Images')],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ages.since(metadata.creationTimestamp),
    ...containerCells(spec?.template.spec?.containers),
  ],
);

const daemonSets = printer<DaemonSet>(
  [
    nameColumn,
    ...integers('Desired', 'Current', 'Ready', 'Up-to-date', 'Available'),
    ...texts('Node Selector'),
    ageColumn,
    ...template,
  ],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    status?.desiredNumberScheduled ?? 0,
    status?.currentNumberScheduled ?? 0,
    status?.numberReady ?? 0,
    status?.updatedNumberScheduled ?? 0,
    status?.numberAvailable ?? 0,
    labelsText(spec?.template.spec?.nodeSelector),
    ages.since(metadata.creationTimestamp),
    ...containerCells(spec?.template.spec?.containers),
    selectorText(spec?.selector),
  ],
);

const jobs = printer<Job>(
  [nameColumn, ...texts('Status', 'Completions', 'Duration'), ageColumn, ...template],
  (job, ages) => [
    job.metadata.name,
    jobStatus(job),
    completionsText(job),
    jobDuration(job, ages),
    ages.since(job.metadata.creationTimestamp),
    ...containerCells(job.spec?.template.spec?.containers),
    selectorText(job.spec?.selector),
  ],
);

/** The first condition that holds decides. */
function jobStatus({ metadata, status }: Job): string {
  const holds = (type: string) => status?.conditions?.find((c) => c.type === type)?.status === 'True';
  for (const [type, word] of [
    ['Complete', 'Complete'],
    ['Failed', 'Failed'],
  ] as const) {
    if (holds(type)) return word;
  }
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running';
}

function completionsText({ spec, status }: Job): string {
  const done = status?.succeeded ?? 0;
  if (typeof spec?.completions === 'number') return `${done}/${spec.completions}`;
  const parallelism = spec?.parallelism ?? 0;
  return parallelism > 1 ? `${done}/1 of ${parallelism}` : `${done}/1`;
}

function jobDuration({ status }: Job, ages: Ages): string {
  const { startTime, completionTime } = status ?? {};
  if (!startTime) return '';
  if (!completionTime) return ages.since(startTime);
  return humanDuration(Date.parse(completionTime) - Date.parse(startTime));
}

const cronJobs = printer<CronJob>(
  [
    nameColumn,
    ...texts('Schedule', 'Timezone'),
    ...booleans('Suspend'),
    ...integers('Active'),
    ...texts('Last Schedule'),
    ageColumn,
    ...template,
  ],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    spec?.schedule ?? '',
    spec?.timeZone ?? none,
    truthText(spec?.suspend),
    status?.active?.length ?? 0,
    status?.lastScheduleTime ? ages.since(status.lastScheduleTime) : none,
    ages.since(metadata.creationTimestamp),
    ...containerCells(spec?.jobTemplate.spec?.template.spec?.containers),
    selectorText(spec?.jobTemplate.spec?.selector),
  ],
);

const podTemplates = printer<PodTemplate>(
  [nameColumn, ...texts('Containers', 'Images', 'Pod Labels')],
  ({ metadata, template: pod }) => [
    metadata.name,
    ...containerCells(pod?.spec?.containers),
    labelsText(pod?.metadata?.labels),
  ],
);

const controllerRevisions = printer<ControllerRevision>(
  [nameColumn, ...texts('Controller', 'Revision'), ageColumn],
  ({ metadata, revision }, ages) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    return [metadata.name, ownerText(owner), revision ?? 0, ages.since(metadata.creationTimestamp)];
  },
);

function ownerText(owner: { apiVersion: string; kind: string; name: string } | undefined): string {
  if (owner === undefined) return none;
  const { group } = splitApiVersion(owner.apiVersion);
  return `${`${owner.kind}${group === '' ? '' : `.${group}`}`.toLowerCase()}/${owner.name}`;
}

const disruptionBudgets = printer<PodDisruptionBudget>(
  [nameColumn, ...texts('Min Available', 'Max Unavailable'), ...integers('Allowed Disruptions'), ageColumn],
  ({ metadata, spec, status }, ages) => [
    metadata.name,
    String(spec?.minAvailable ?? 'N/A'),
    String(spec?.maxUnavailable ?? 'N/A'),
    status?.disruptionsAllowed ?? 0,
    ages.since(metadata.creationTimestamp),
  ],
);

/** Tables of workloads, by where the kind is stored. */
export const workloadTables = {
  'apps/deployments': deployments,
  'apps/replicasets': replicaSets,
  'apps/statefulsets': statefulSets,
  'apps/daemonsets': daemonSets,
  'apps/controllerrevisions': controllerRevisions,
  'batch/jobs': jobs,
  'batch/cronjobs': cronJobs,
  '/replicationcontrollers': replicationControllers,
  '/podtemplates': podTemplates,
  'policy/poddisruptionbudgets': disruptionBudgets,
};
