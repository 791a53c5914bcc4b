import type { JsonObject } from 'riata/object';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, required } from '../../status/field-error.js';
import { checkNonNegative } from '../checks/basic-checks.js';
import type { KindRules } from '../kind-rules.js';

export const controllerRevisionRules: KindRules = {
  validate: (revision, before) => [
    ...checkNonNegative(revision.revision, 'revision'),
    ...(before === undefined ? checkData(revision) : []),
  ],
  validateUpdate: (now, before) => checkImmutable(now.data ?? null, before.data ?? null, 'data'),
};

function checkData({ data }: JsonObject): FieldError[] {
  if (data === undefined || data === null) return [required('data', 'data is mandatory')];
  return typeof data === 'object' && !Array.isArray(data) ? [] : [required('data', 'data must be a valid JSON object')];
}
