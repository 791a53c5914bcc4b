import { dns1123SubdomainProblems, type JsonObject } from 'riata/object';
import { type FieldError, invalid } from '../status/field-error.js';
import { metaOf, textOf } from './metadata.js';
import type { Resource } from './resource.js';

/** What is wrong with an object's metadata. */
export function checkMetadata(
  resource: Resource,
  object: JsonObject,
  _before: JsonObject | undefined,
): readonly FieldError[] {
  const name = textOf(metaOf(object).name);
  const problems = (resource.rules.nameProblems ?? dns1123SubdomainProblems)(name);
  return problems.map((problem) => invalid('metadata.name', name, problem));
}
