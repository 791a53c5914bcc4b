import { isJsonObject, type JsonObject, parseFieldSelector, parseSelector } from 'riata/object';
import { recordsOf, stringsOf, textOf } from '../resource/metadata.js';
import { type FieldError, invalid, required } from '../status/field-error.js';

const kinds = ['fieldSelector', 'labelSelector'] as const;

/** What is wrong with the selectors of a review. */
export function selectorErrors(attributes: JsonObject): FieldError[] {
  return kinds.flatMap((kind) => {
    const selector = attributes[kind];
    if (!isJsonObject(selector)) return [];
    const path = `spec.resourceAttributes.${kind}`;
    const requirements = recordsOf(selector.requirements);
    const raw = textOf(selector.rawSelector);
    const errors: FieldError[] = [];
    if (raw !== '' && requirements.length > 0) {
      errors.push(invalid(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements'));
    }
    if (raw === '' && requirements.length === 0) {
      const why = `when ${path} is specified, requirements or rawSelector is required`;
      errors.push(required(`${path}.requirements`, why));
    }
    requirements.forEach((requirement, index) => {
      errors.push(...requirementErrors(requirement, `${path}.requirements[${index}]`));
    });
    return errors;
  });
}

/** RBAC looks at no selector; those that cannot be read are named all the same. */
export function selectorEvaluationErrors(attributes: JsonObject): string[] {
  return kinds.flatMap((kind) => {
    const selector = attributes[kind];
    if (!isJsonObject(selector)) return [];
    const requirements = recordsOf(selector.requirements);
    const isReadable = requirements.length === 0 ? canRead(kind, textOf(selector.rawSelector)) : undefined;
    const bad = requirements.filter((requirement) => !isKnown(kind, requirement));
    if (isReadable ?? bad.length === 0) return [];
    const isPart = requirements.length > 0 && bad.length < requirements.length;
    return [`spec.resourceAttributes.${kind} ${isPart ? 'partially ' : ''}ignored due to parse error`];
  });
}

function canRead(kind: (typeof kinds)[number], raw: string): boolean {
  try {
    if (kind === 'fieldSelector') parseFieldSelector(raw);
    else parseSelector(raw);
    return true;
  } catch {
    return false;
  }
}

function isKnown(kind: (typeof kinds)[number], { operator, values }: JsonObject): boolean {
  const count = stringsOf(values).length;
  if (kind === 'fieldSelector') return (operator === 'In' || operator === 'NotIn') && count === 1;
  if (operator === 'In' || operator === 'NotIn') return count > 0;
  return (operator === 'Exists' || operator === 'DoesNotExist') && count === 0;
}

function requirementErrors({ key, operator, values }: JsonObject, path: string): FieldError[] {
  const count = stringsOf(values).length;
  const errors: FieldError[] = [];
  if ((operator === 'In' || operator === 'NotIn') && count === 0) {
    errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  }
  if (textOf(key) === '') errors.push(required(`${path}.key`, 'must be specified'));
  return errors;
}
