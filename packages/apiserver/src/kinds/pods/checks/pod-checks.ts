import { equal, type JsonObject } from 'riata/object';
import { metaOf, numberOf, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { append } from '../../../status/append.js';
import { type FieldError, forbidden, invalid, required } from '../../../status/field-error.js';
import { checkAppArmorFields } from '../app-armor.js';
import { checkResize } from '../check-resize.js';
import { checkAnnotationChanges, checkPodAnnotations, isMirrored } from '../pod-annotations.js';
import { changedFields, checkGatedChanges } from '../pod-changes.js';
import { checkPodSpec } from './check-pod-spec.js';
import { checkImageBlanks } from './container-checks.js';
import { checkTolerations } from './scheduling-checks.js';

/** The problems of a Pod, new or changed (`validatePodMetadataAndSpec`). */
export function checkPod(pod: JsonObject): FieldError[] {
  const spec = recordOf(pod.spec);
  const meta = metaOf(pod);
  return [
    ...checkPodAnnotations(meta.annotations, spec, 'metadata.annotations'),
    ...checkPodSpec(spec, { pod: textOf(meta.name) }, 'spec'),
    ...(textOf(spec.serviceAccountName) === '' ? checkNoTokens(spec) : []),
    ...['containers', 'initContainers'].flatMap((list) =>
      recordsOf(spec[list]).flatMap((container, i) => checkImageBlanks(container, `spec.${list}[${i}]`)),
    ),
  ];
}

/** The problems that only a new Pod can have. */
export function checkNewPod(pod: JsonObject): FieldError[] {
  const spec = recordOf(pod.spec);
  const annotations = recordOf(metaOf(pod).annotations);
  const errors = [...checkPod(pod), ...checkAppArmorFields(annotations, spec, 'spec')];
  if (recordsOf(spec.ephemeralContainers).length > 0) {
    errors.push(forbidden('spec.ephemeralContainers', 'cannot be set on create'));
  }
  if (textOf(spec.nodeName) !== '' && recordsOf(spec.schedulingGates).length > 0) {
    errors.push(forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  }
  return errors;
}

/** A Pod without an account has no token either. */
function checkNoTokens(spec: JsonObject): FieldError[] {
  return recordsOf(spec.volumes).flatMap((volume, index) =>
    recordsOf(recordOf(volume.projected).sources).flatMap((source, i) => {
      const at = `spec.volumes[${index}].projected.sources[${i}].serviceAccountToken`;
      if (source.serviceAccountToken === undefined) return [];
      return [forbidden(at, 'must not be specified when serviceAccountName is not set')];
    }),
  );
}

/** The problems of a change of a Pod, by subresource. */
export function checkPodChange(pod: JsonObject, before: JsonObject, subresource: string): readonly FieldError[] {
  switch (subresource) {
    case '':
      return checkUpdate(pod, before);
    case 'ephemeralcontainers':
      return checkEphemeralChange(pod, before);
    case 'resize':
      return checkResize(pod, before, checkPod(pod));
    default:
      return [];
  }
}

const updatable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

/** Little of a Pod's spec can change (`ValidatePodUpdate`). */
function checkUpdate(pod: JsonObject, before: JsonObject): FieldError[] {
  const [now, was] = [recordOf(pod.spec), recordOf(before.spec)];
  const errors = [...checkPod(pod), ...checkAnnotationChanges(pod, before)];
  for (const list of ['containers', 'initContainers']) {
    const containers = recordsOf(now[list]);
    if (containers.length !== recordsOf(was[list]).length) {
      return [...errors, forbidden(`spec.${list}`, 'pod updates may not add or remove containers')];
    }
    for (const [i, container] of containers.entries()) {
      if (textOf(container.image) === '') errors.push(required(`spec.${list}[${i}].image`));
      append(errors, checkImageBlanks(container, `spec.${list}[${i}]`));
    }
  }
  const late = checkDeadline(now.activeDeadlineSeconds, was.activeDeadlineSeconds);
  append(errors, late);
  if (late.length > 0 && now.activeDeadlineSeconds !== undefined) return errors;
  errors.push(...checkTolerationChange(now, was), ...checkGateChange(now, was));
  if (equal(now, was)) return errors;
  const gated = recordsOf(was.schedulingGates).length > 0 ? checkGatedChanges(now, was) : undefined;
  append(errors, gated?.errors ?? []);
  const changed = changedFields(gated?.munged ?? now, was);
  if (changed.length === 0) return errors;
  const detail = `pod updates may not change fields other than ${updatable}\n${changed.join('\n')}\n`;
  return [...errors, forbidden('spec', detail)];
}

function checkDeadline(now: JsonObject[string], was: JsonObject[string]): FieldError[] {
  const at = 'spec.activeDeadlineSeconds';
  if (now === undefined) {
    return was === undefined ? [] : [invalid(at, null, 'must not update from a positive integer to nil value')];
  }
  if (numberOf(now) < 0 || numberOf(now) > 2 ** 31 - 1) {
    return [invalid(at, now, 'must be between 0 and 2147483647, inclusive')];
  }
  return was !== undefined && numberOf(was) < numberOf(now)
    ? [invalid(at, now, 'must be less than or equal to previous value')]
    : [];
}

function checkTolerationChange(now: JsonObject, was: JsonObject): FieldError[] {
  const lasting = ({ tolerationSeconds: _, ...rest }: JsonObject) => rest;
  const kept = recordsOf(was.tolerations).every((old) =>
    recordsOf(now.tolerations).some((one) => equal(lasting(one), lasting(old))),
  );
  if (kept) return checkTolerations(now.tolerations, 'spec.tolerations');
  return [forbidden('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function checkGateChange(now: JsonObject, was: JsonObject): FieldError[] {
  const known = new Set(recordsOf(was.schedulingGates).map(({ name }) => textOf(name)));
  return recordsOf(now.schedulingGates).flatMap(({ name }, index) => {
    if (known.has(textOf(name))) return [];
    const detail = `only deletion is allowed, but found new scheduling gate '${textOf(name)}'`;
    return [forbidden(`spec.schedulingGates[${index}].name`, detail)];
  });
}

/** Ephemeral containers are added, and then stay as they are. */
function checkEphemeralChange(pod: JsonObject, before: JsonObject): readonly FieldError[] {
  if (isMirrored(before)) return [forbidden('', 'static pods do not support ephemeral containers')];
  const now = recordsOf(recordOf(pod.spec).ephemeralContainers);
  const changes = recordsOf(recordOf(before.spec).ephemeralContainers).flatMap((old) => {
    const name = JSON.stringify(textOf(old.name));
    const one = now.find((container) => container.name === old.name);
    if (one !== undefined && equal(one, old)) return [];
    const what = one === undefined ? 'removed\n' : `changed\n${changedFields(one, old).join('\n')}\n`;
    return [forbidden('spec.ephemeralContainers', `existing ephemeral containers ${name} may not be ${what}`)];
  });
  return [...checkPod(pod), ...checkAnnotationChanges(pod, before), ...changes];
}
