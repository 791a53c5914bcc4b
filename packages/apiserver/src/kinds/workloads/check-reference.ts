import type { JsonObject } from 'riata/object';
import { textOf } from '../../resource/metadata.js';
import { pathSegmentName } from '../../schema/name-rules.js';
import { type FieldError, invalid, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';

/** The problems of a reference to another object (`ValidateCrossVersionObjectReference`). */
export function checkReference(
  ref: JsonObject,
  path: string,
  allows: { readonly anyVersion?: boolean; readonly coreGroup?: boolean },
): FieldError[] {
  const errors = ['kind', 'name'].flatMap((field) => {
    const value = textOf(ref[field]);
    return value === '' ? [required(`${path}.${field}`)] : checkText(pathSegmentName, value, `${path}.${field}`);
  });
  if (allows.anyVersion) return errors;
  const apiVersion = textOf(ref.apiVersion);
  const slashes = apiVersion.split('/').length - 1;
  if (slashes > 1) {
    const detail = `unexpected GroupVersion string: ${apiVersion}`;
    errors.push(invalid(`${path}.apiVersion`, apiVersion, detail));
  } else if (!allows.coreGroup && !/^[^/]+\//.test(apiVersion)) {
    errors.push(invalid(`${path}.apiVersion`, apiVersion, 'apiVersion must specify API group'));
  }
  return errors;
}
