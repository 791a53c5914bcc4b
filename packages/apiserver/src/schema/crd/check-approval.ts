import { isJsonObject } from 'riata/object';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import type { CrdObject } from './crd-object.js';

const annotation = 'api-approved.kubernetes.io';
const see = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Groups of the Kubernetes community need an annotation that says who approved the API. */
export function checkApproval(crd: CrdObject, before: CrdObject | undefined): FieldError[] {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(crd.spec?.group ?? '')) return [];
  const given = approvalOf(crd);
  if (before !== undefined && stateOf(approvalOf(before)) === stateOf(given)) return [];
  const path = `metadata.annotations[${annotation}]`;
  const words = `protected groups must have approval annotation "${annotation}"`;
  switch (stateOf(given)) {
    case 'missing':
      return [required(path, `${words}, ${see}`)];
    case 'invalid':
      return [invalid(path, given, `${words} with either a URL or a reason starting with "unapproved", ${see}`)];
    default:
      return [];
  }
}

function approvalOf({ metadata }: CrdObject): string {
  const annotations = metadata?.annotations;
  const given = isJsonObject(annotations) ? annotations[annotation] : undefined;
  return typeof given === 'string' ? given : '';
}

function stateOf(given: string): 'missing' | 'invalid' | 'bypassed' | 'approved' {
  if (given === '') return 'missing';
  if (given.startsWith('unapproved')) return 'bypassed';
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#]+/.test(given) ? 'approved' : 'invalid';
}
