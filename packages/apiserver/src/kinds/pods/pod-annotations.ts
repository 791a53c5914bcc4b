import type { Json, JsonObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { type FieldError, forbidden, invalid } from '../../status/field-error.js';
import { goQuote } from '../../status/go-quote.js';
import { appArmorPrefix } from './app-armor.js';
import { checkDescending } from './checks/path-checks.js';

const mirror = 'kubernetes.io/config.mirror';
const cost = 'controller.kubernetes.io/pod-deletion-cost';
export const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod';
export const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/';

/** Whether a Pod is run by its node alone, and the server only shows it. */
export function isMirrored(pod: JsonObject): boolean {
  return recordOf(recordOf(pod.metadata).annotations)[mirror] !== undefined;
}

/** The problems of annotations that mean something to Pods (`ValidatePodSpecificAnnotations`). */
export function checkPodAnnotations(given: Json | undefined, spec: JsonObject, path: string): FieldError[] {
  if (given === undefined) return [];
  const annotations = recordOf(given);
  const errors: FieldError[] = [];
  if (annotations[mirror] !== undefined && textOf(spec.nodeName) === '') {
    const detail = 'must set spec.nodeName if mirror pod annotation is set';
    errors.push(invalid(`${path}[${mirror}]`, annotations[mirror], detail));
  }
  if (annotations[cost] !== undefined && !isCost(textOf(annotations[cost]))) {
    errors.push(invalid(`${path}[${cost}]`, annotations[cost], 'must be a 32bit integer'));
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key === seccompPod || key.startsWith(seccompContainer)) {
      append(errors, checkSeccomp(textOf(value), `${path}.${key}`));
    } else if (key.startsWith(appArmorPrefix)) append(errors, checkAppArmor(key, textOf(value), spec, path));
  }
  return errors;
}

/** Some annotations cannot be changed once the Pod is there. */
export function checkAnnotationChanges(pod: JsonObject, before: JsonObject): FieldError[] {
  const [now, was] = [pod, before].map((one) => recordOf(recordOf(one.metadata).annotations)) as [
    JsonObject,
    JsonObject,
  ];
  const fixed = [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(
    (key) => (key === mirror || key.startsWith(appArmorPrefix)) && now[key] !== was[key],
  );
  return fixed.map((key) => {
    const verb = was[key] === undefined ? 'add' : 'remove or update';
    const what = key === mirror ? 'mirror pod annotation' : 'AppArmor annotations';
    return forbidden(`metadata.annotations[${key}]`, `may not ${verb} ${what}`);
  });
}

function isCost(text: string): boolean {
  if (!/^-?(0|[1-9][0-9]*)$/.test(text) || text === '-0') return false;
  return Math.abs(Number(text) + 0.5) < 2 ** 31;
}

function checkSeccomp(profile: string, path: string): FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return [];
  if (profile.startsWith('localhost/')) return checkDescending(profile.slice('localhost/'.length), path);
  return [invalid(path, profile, 'must be a valid seccomp profile')];
}

function checkAppArmor(key: string, profile: string, spec: JsonObject, path: string): FieldError[] {
  const name = key.slice(appArmorPrefix.length);
  const names = ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => recordsOf(spec[list]));
  const known = names.some((container) => textOf(container.name) === name);
  const fine =
    profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/');
  return [
    ...(known ? [] : [invalid(`${path}[${key}]`, name, 'container not found')]),
    ...(fine ? [] : [invalid(`${path}[${key}]`, profile, `invalid AppArmor profile name: ${goQuote(profile)}`)]),
  ];
}
