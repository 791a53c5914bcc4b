import type { Json, JsonObject } from 'riata/object';
import { isGiven, recordOf, stringsOf, textOf } from '../../resource/metadata.js';
import { dnsSubdomainName, pathSegmentName } from '../../schema/name-rules.js';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  pointer,
  required,
} from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import type { KindRules } from '../kind-rules.js';
import { checkChangingOperations, checkMatchResources, matchDefaults } from './match-resources.js';
import { staticNameWarnings } from './static-name-warnings.js';

const defaults = matchDefaults('spec.matchResources');

export const validatingBindingRules: KindRules = {
  defaults,
  validate: (binding) => {
    const spec = recordOf(binding.spec);
    return [...checkBinding(spec), ...checkActions(stringsOf(spec.validationActions), 'spec.validationActions')];
  },
  warnings: staticNameWarnings,
};

export const mutatingBindingRules: KindRules = {
  defaults,
  validate: (binding) => {
    const spec = recordOf(binding.spec);
    return [...checkBinding(spec), ...checkChangingOperations(spec.matchResources, 'spec.matchResources')];
  },
  warnings: staticNameWarnings,
};

function checkBinding(spec: JsonObject): FieldError[] {
  const name = textOf(spec.policyName);
  return [
    ...(name === '' ? [required('spec.policyName')] : checkText(dnsSubdomainName, name, 'spec.policyName')),
    ...checkParamRef(spec.paramRef, 'spec.paramRef'),
    ...checkMatchResources(spec.matchResources, 'spec.matchResources'),
  ];
}

function checkParamRef(given: Json | undefined, path: string): FieldError[] {
  if (!isGiven(given)) return [];
  const { name: givenName, selector, parameterNotFoundAction: action } = recordOf(given);
  const name = textOf(givenName);
  const both = 'name and selector are mutually exclusive';
  const isBoth = name !== '' && isGiven(selector);
  return [
    ...(name === '' ? [] : checkText(pathSegmentName, name, `${path}.name`)),
    ...(isBoth ? [forbidden(`${path}.name`, both)] : []),
    ...checkLabelSelector(selector, `${path}.selector`),
    ...(isBoth ? [forbidden(`${path}.selector`, both)] : []),
    ...(name === '' && !isGiven(selector) ? [required(path, 'one of name or selector must be specified')] : []),
    ...checkNotFoundAction(textOf(action), `${path}.parameterNotFoundAction`),
  ];
}

function checkNotFoundAction(action: string, path: string): FieldError[] {
  if (action === '') return [required(path)];
  return action === 'Deny' || action === 'Allow' ? [] : [notSupported(path, pointer(action), ['Deny', 'Allow'])];
}

function checkActions(actions: readonly string[], path: string): FieldError[] {
  const known = ['Audit', 'Deny', 'Warn'];
  const repeated =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';
  return [
    ...actions.flatMap((action, i) => [
      ...(known.includes(action) ? [] : [notSupported(`${path}[${i}]`, action, known)]),
      ...(actions.indexOf(action) < i ? [duplicate(`${path}[${i}]`, action)] : []),
    ]),
    ...(actions.includes('Deny') && actions.includes('Warn') ? [invalid(path, actions, repeated)] : []),
    ...(actions.length === 0 ? [required(path, 'at least one validation action is required')] : []),
  ];
}
