import { equal, type Json, type JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf } from '../../resource/metadata.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, invalid } from '../../status/field-error.js';

/** The immutable fields of a Job (`ValidateJobSpecUpdate`). */
export function checkJobUpdate(job: JsonObject, before: JsonObject): FieldError[] {
  const [spec, old] = [recordOf(job.spec), recordOf(before.spec)];
  const fixed = [
    'selector',
    'completionMode',
    'podFailurePolicy',
    'backoffLimitPerIndex',
    'managedBy',
    'successPolicy',
  ];
  return [
    ...checkCompletions(spec, old),
    ...fixed.flatMap((field) => checkImmutable(spec[field] ?? null, old[field] ?? null, `spec.${field}`)),
    ...checkTemplate(spec, old, recordOf(before.status)),
  ];
}

function checkCompletions(spec: JsonObject, old: JsonObject): FieldError[] {
  const { completions } = spec;
  if (spec.completionMode !== 'Indexed') {
    return checkImmutable(completions ?? null, old.completions ?? null, 'spec.completions');
  }
  if (completions === undefined || completions === old.completions || completions === spec.parallelism) return [];
  return [invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

/** The template of a Job that is suspended and has no Pods can be adapted to where they are to run. */
function checkTemplate(spec: JsonObject, old: JsonObject, status: JsonObject): FieldError[] {
  const [now, was] = [recordOf(spec.template), recordOf(old.template)];
  const conditions = recordsOf(status.conditions);
  const paused = conditions.some(({ type, status: state }) => type === 'Suspended' && state === 'True');
  const idle = (status.startTime === undefined || paused) && numberOf(status.active) === 0;
  if (old.suspend !== true || !idle)
    return equal(now, was) ? [] : [invalid('spec.template', now, 'field is immutable')];
  const [pod, oldPod] = [recordOf(now.spec), recordOf(was.spec)];
  return equal(fixedPart(pod), fixedPart(oldPod)) ? [] : [invalid('spec.template.spec', pod, 'field is immutable')];
}

function fixedPart(pod: JsonObject): JsonObject {
  const { nodeSelector: _, tolerations: __, schedulingGates: ___, affinity, ...rest } = pod;
  const { nodeAffinity: ____, ...others } = recordOf(affinity);
  const bare = (list: Json | undefined) => recordsOf(list).map(({ resources: _____, ...one }) => one);
  return {
    ...rest,
    affinity: others,
    containers: bare(pod.containers),
    initContainers: bare(pod.initContainers),
  };
}
