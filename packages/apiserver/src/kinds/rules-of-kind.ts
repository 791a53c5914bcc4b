import type { JsonObject } from 'riata/object';
import type { ResourceRules } from '../resource/resource.js';
import { type ApplyDefaults, compileDefaults } from './defaults-table.js';
import type { KindRules } from './kind-rules.js';
import { plumbingKinds } from './plumbing-kinds.js';
import { podRules } from './pods/pod.js';
import { podTemplateRules } from './pods/pod-template.js';
import { autoscalerRules } from './workloads/autoscaler.js';
import { autoscalerV1Rules } from './workloads/autoscaler-v1.js';
import { controllerRevisionRules } from './workloads/controller-revision.js';
import { cronJobRules } from './workloads/cron-job.js';
import { daemonSetRules } from './workloads/daemon-set.js';
import { deploymentRules } from './workloads/deployment.js';
import { disruptionBudgetRules } from './workloads/disruption-budget.js';
import { jobRules } from './workloads/job.js';
import { priorityClassRules } from './workloads/priority-class.js';
import { replicaSetRules } from './workloads/replica-set.js';
import { replicationControllerRules } from './workloads/replication-controller.js';
import { statefulSetRules } from './workloads/stateful-set.js';

/** The kinds that are more than storage, by `group/plural` and, where versions differ, `group/version/plural`. */
const kinds: Readonly<Record<string, () => KindRules>> = {
  ...plumbingKinds,
  '/pods': () => podRules,
  '/podtemplates': () => podTemplateRules,
  '/replicationcontrollers': () => replicationControllerRules,
  'apps/controllerrevisions': () => controllerRevisionRules,
  'apps/daemonsets': () => daemonSetRules,
  'apps/deployments': () => deploymentRules,
  'apps/replicasets': () => replicaSetRules,
  'apps/statefulsets': () => statefulSetRules,
  'autoscaling/v1/horizontalpodautoscalers': () => autoscalerV1Rules,
  'autoscaling/v2/horizontalpodautoscalers': () => autoscalerRules,
  'batch/cronjobs': () => cronJobRules,
  'batch/jobs': () => jobRules,
  'policy/poddisruptionbudgets': () => disruptionBudgetRules,
  'scheduling.k8s.io/priorityclasses': () => priorityClassRules,
};

/** The {@link KindRules} of a resource, in the form that the server uses. */
export function rulesOfKind(group: string, version: string, plural: string): Partial<ResourceRules> {
  const find = kinds[`${group}/${version}/${plural}`] ?? kinds[`${group}/${plural}`];
  return find === undefined ? {} : asResourceRules(find);
}

/** Nothing is made of the tables before the first object of the kind is written: a server starts in no time. */
function asResourceRules(find: () => KindRules): Partial<ResourceRules> {
  let fill: ApplyDefaults | undefined;
  const { validate, validateUpdate, validateStatus, defaults, ...others } = find();
  return {
    ...others,
    ...(defaults === undefined
      ? {}
      : {
          defaults: (object: JsonObject) => {
            fill ??= typeof defaults === 'function' ? defaults : compileDefaults(defaults);
            return fill(object);
          },
        }),
    check: (object, before, subresource) => {
      if (before === undefined) return validate?.(object, undefined, '') ?? [];
      if (subresource === 'status') return validateStatus?.(object, before) ?? [];
      return [
        ...(validate?.(object, before, subresource) ?? []),
        ...(validateUpdate?.(object, before, subresource) ?? []),
      ];
    },
  };
}
