import type { Json, JsonObject } from 'riata/object';
import { isGiven, recordOf, recordsOf, stringsOf } from '../../resource/metadata.js';
import { pathSegmentName } from '../../schema/name-rules.js';
import { duplicate, type FieldError, notSupported, required } from '../../status/field-error.js';
import { checkEnum, checkText } from '../checks/basic-checks.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import { checkRule } from '../cluster/webhook-configuration.js';
import type { DefaultsTable } from '../defaults-table.js';

/** The defaults of the match rules of a policy or a binding. */
export function matchDefaults(at: string): DefaultsTable {
  return {
    [`${at}.matchPolicy`]: 'Equivalent',
    [`${at}.namespaceSelector`]: {},
    [`${at}.objectSelector`]: {},
    [`${at}.resourceRules[].scope`]: '*',
    [`${at}.excludeResourceRules[].scope`]: '*',
  };
}

/** The problems of the match rules of a policy or a binding; missing ones are fine. */
export function checkMatchResources(given: Json | undefined, path: string): FieldError[] {
  if (!isGiven(given)) return [];
  const match = recordOf(given);
  const selector = (field: string) =>
    isGiven(match[field]) ? checkLabelSelector(match[field], `${path}.${field}`) : [required(`${path}.${field}`)];
  const rules = (field: string) =>
    recordsOf(match[field]).flatMap((rule, i) => checkNamedRule(rule, `${path}.${field}[${i}]`));
  return [
    ...(isGiven(match.matchPolicy)
      ? checkEnum(match.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`)
      : [required(`${path}.matchPolicy`)]),
    ...selector('namespaceSelector'),
    ...selector('objectSelector'),
    ...rules('resourceRules'),
    ...rules('excludeResourceRules'),
  ];
}

function checkNamedRule(rule: JsonObject, path: string): FieldError[] {
  const names = stringsOf(rule.resourceNames);
  return [
    ...names.flatMap((name, i) => [
      ...checkText(pathSegmentName, name, `${path}.resourceNames[${i}]`),
      ...(names.indexOf(name) < i ? [duplicate(`${path}.resourceNames[${i}]`, name)] : []),
    ]),
    ...checkRule(rule, path),
  ];
}

const changing = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** A deleted object cannot be changed. */
export function checkChangingOperations(given: Json | undefined, path: string): FieldError[] {
  return recordsOf(recordOf(given).resourceRules).flatMap((rule) =>
    stringsOf(rule.operations)
      .filter((operation) => !changing.includes(operation))
      .map((operation) => notSupported(`${path}.resourceRules.operations`, operation, changing)),
  );
}
