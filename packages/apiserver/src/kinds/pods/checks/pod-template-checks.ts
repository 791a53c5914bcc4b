import { type Json, type JsonObject, type LabelSelector, selectorFrom } from 'riata/object';
import { recordOf, recordsOf } from '../../../resource/metadata.js';
import { checkAnnotations, checkLabels } from '../../../schema/object-meta.js';
import { type FieldError, forbidden, invalid, notSupported } from '../../../status/field-error.js';
import { checkAppArmorFields } from '../app-armor.js';
import { checkPodAnnotations } from '../pod-annotations.js';
import { checkPodSpec } from './check-pod-spec.js';

/** The problems of a template for Pods (`ValidatePodTemplateSpec`). */
export function checkPodTemplate(given: Json | undefined, path: string): FieldError[] {
  const template = recordOf(given);
  const spec = recordOf(template.spec);
  const { labels, annotations } = recordOf(template.metadata);
  const errors = [
    ...checkLabels(recordOf(labels), `${path}.labels`),
    ...checkAnnotations(recordOf(annotations), `${path}.annotations`),
    ...checkPodAnnotations(annotations, spec, `${path}.annotations`),
    ...checkPodSpec(spec, 'template', `${path}.spec`),
    ...checkAppArmorFields(recordOf(annotations), spec, `${path}.spec`),
  ];
  if (recordsOf(spec.ephemeralContainers).length > 0) {
    errors.push(forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'));
  }
  return errors;
}

/** A template whose Pods run for ever, as those of most kinds do. */
export function checkLastingTemplate(given: Json | undefined, kind: string, path: string): FieldError[] {
  const spec = recordOf(recordOf(given).spec);
  const errors = checkPodTemplate(given, path);
  if (spec.restartPolicy !== 'Always') {
    errors.push(notSupported(`${path}.spec.restartPolicy`, spec.restartPolicy, ['Always']));
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbidden(`${path}.spec.activeDeadlineSeconds`, detail));
  }
  return errors;
}

/** A selector must match the labels of its template; a malformed selector is reported elsewhere. */
export function checkTemplateLabels(
  selector: Json | undefined,
  template: Json | undefined,
  path: string,
): FieldError[] {
  const labels = recordOf(recordOf(template).metadata).labels;
  return selectorMatches(selector, recordOf(labels)) === false ? [unmatched(template, path)] : [];
}

/** The complaint about a template that its selector does not mean. */
export function unmatched(template: Json | undefined, path = 'spec.template'): FieldError {
  const labels = recordOf(recordOf(template).metadata).labels;
  return invalid(`${path}.metadata.labels`, labels ?? null, '`selector` does not match template `labels`');
}

/** Undefined if the selector cannot be read. One that is not there matches nothing. */
export function selectorMatches(selector: Json | undefined, labels: JsonObject): boolean | undefined {
  if (selector === undefined || selector === null) return false;
  try {
    return selectorFrom(selector as LabelSelector).matches(labels as Record<string, string>);
  } catch {
    return undefined;
  }
}
