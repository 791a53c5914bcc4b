import { equal, type JsonObject } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsSubdomain, pathSegmentName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import { withoutEmptyList } from '../checks/without-empty-list.js';
import { computed, type DefaultsTable } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';

const group = 'rbac.authorization.k8s.io';

const bindingDefaults: DefaultsTable = {
  'roleRef.apiGroup': computed((value) => (textOf(value) === '' ? group : value)),
  'subjects[].apiGroup': ({ kind }) => (kind === 'User' || kind === 'Group' ? group : undefined),
};

export const roleRules: KindRules = {
  nameRule: pathSegmentName,
  prepare: (object) => withoutEmptyList(object, 'rules'),
  validate: (object) => checkRules(object, true),
};

export const clusterRoleRules: KindRules = {
  nameRule: pathSegmentName,
  prepare: (object) => withoutEmptyList(object, 'rules'),
  validate: (object) => [...checkRules(object, false), ...checkAggregation(object)],
};

export const roleBindingRules: KindRules = bindingRules(true, ['Role', 'ClusterRole']);

export const clusterRoleBindingRules: KindRules = bindingRules(false, ['ClusterRole']);

function checkRules(object: JsonObject, namespaced: boolean): FieldError[] {
  return recordsOf(object.rules).flatMap((rule, index) => checkRule(rule, namespaced, `rules[${index}]`));
}

function checkRule(rule: JsonObject, namespaced: boolean, path: string): FieldError[] {
  const count = (field: string) => stringsOf(rule[field]).length;
  const errors: FieldError[] = [];
  if (count('verbs') === 0) errors.push(required(`${path}.verbs`, 'verbs must contain at least one value'));
  const urls = stringsOf(rule.nonResourceURLs);
  if (urls.length > 0) {
    const refuse = (detail: string) => errors.push(invalid(`${path}.nonResourceURLs`, urls, detail));
    if (namespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (count('apiGroups') + count('resources') + count('resourceNames') > 0) {
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    }
    return errors;
  }
  if (count('apiGroups') === 0) {
    errors.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'));
  }
  if (count('resources') === 0) {
    errors.push(required(`${path}.resources`, 'resource rules must supply at least one resource'));
  }
  return errors;
}

function checkAggregation({ aggregationRule }: JsonObject): FieldError[] {
  if (aggregationRule === undefined) return [];
  const path = 'aggregationRule.clusterRoleSelectors';
  const selectors = recordsOf(recordOf(aggregationRule).clusterRoleSelectors);
  if (selectors.length === 0) {
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  }
  return selectors.flatMap((selector, index) => {
    const errors = checkLabelSelector(selector, `${path}[${index}]`);
    return errors.length === 0 ? [] : [...errors, invalid(`${path}[${index}]`, null, 'invalid label selector.')];
  });
}

function bindingRules(namespaced: boolean, kinds: readonly string[]): KindRules {
  return {
    nameRule: pathSegmentName,
    defaults: bindingDefaults,
    validate: (object) => [
      ...checkRoleRef(recordOf(object.roleRef), kinds),
      ...recordsOf(object.subjects).flatMap((subject, i) => checkSubject(subject, namespaced, `subjects[${i}]`)),
    ],
    validateUpdate(object, before) {
      if (equal(recordOf(object.roleRef), recordOf(before.roleRef))) return [];
      const { apiGroup, kind, name } = recordOf(object.roleRef);
      // As Go prints what has no names for JSON.
      const shown = { APIGroup: textOf(apiGroup), Kind: textOf(kind), Name: textOf(name) };
      return [invalid('roleRef', shown, 'cannot change roleRef')];
    },
  };
}

function checkRoleRef(ref: JsonObject, kinds: readonly string[]): FieldError[] {
  const [apiGroup, kind, name] = [textOf(ref.apiGroup), textOf(ref.kind), textOf(ref.name)];
  return [
    ...(apiGroup === group ? [] : [notSupported('roleRef.apiGroup', apiGroup, [group])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : checkText(pathSegmentName, name, 'roleRef.name')),
  ];
}

function checkSubject(subject: JsonObject, namespaced: boolean, path: string): FieldError[] {
  const [kind, name, apiGroup] = [textOf(subject.kind), textOf(subject.name), textOf(subject.apiGroup)];
  const errors: FieldError[] = name === '' ? [required(`${path}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') append(errors, checkText(dnsSubdomain, name, `${path}.name`));
    if (apiGroup !== '') errors.push(notSupported(`${path}.apiGroup`, apiGroup, ['']));
    if (!namespaced && textOf(subject.namespace) === '') errors.push(required(`${path}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== group) errors.push(notSupported(`${path}.apiGroup`, apiGroup, [group]));
  } else errors.push(notSupported(`${path}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  return errors;
}
