import { equal, type JsonObject } from 'riata/object';
import { matchConditionProblem } from '../../cel/admission/match-condition-problem.js';
import { isGiven, numberOf, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import { qualifiedName } from '../../schema/name-rules.js';
import { checkReviewVersions, checkWebhookClient, type WebhookClient } from '../../schema/webhook-client.js';
import { append } from '../../status/append.js';
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from '../../status/field-error.js';
import { checkEnum, checkText } from '../checks/basic-checks.js';
import { checkQualifiedDomain } from '../checks/domain-names.js';
import { checkLabelSelector } from '../checks/label-selector.js';
import type { DefaultsTable } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const sideEffects = ['None', 'NoneOnDryRun'];

const defaults: DefaultsTable = {
  'webhooks[].failurePolicy': 'Fail',
  'webhooks[].matchPolicy': 'Equivalent',
  'webhooks[].namespaceSelector': {},
  'webhooks[].objectSelector': {},
  'webhooks[].timeoutSeconds': 10,
  'webhooks[].rules[].scope': '*',
  'webhooks[].clientConfig.service.port': 443,
};

export const validatingWebhookRules: KindRules = { defaults, validate: checkWebhooks };

export const mutatingWebhookRules: KindRules = {
  defaults: { ...defaults, 'webhooks[].reinvocationPolicy': 'Never' },
  validate: checkWebhooks,
};

function checkWebhooks(configuration: JsonObject, before: JsonObject | undefined): FieldError[] {
  const webhooks = recordsOf(configuration.webhooks);
  // Conditions that stay are not looked at again, unless one of them changes.
  const old = before && recordsOf(before.webhooks);
  const sameConditions =
    old?.length === webhooks.length &&
    webhooks.every(({ matchConditions }, i) => equal(matchConditions ?? null, old[i]?.matchConditions ?? null));
  const names = webhooks.map(({ name }) => textOf(name));
  return webhooks.flatMap((webhook, i) => [
    ...checkWebhook(webhook, `webhooks[${i}]`),
    ...(sameConditions
      ? []
      : checkMatchConditions(recordsOf(webhook.matchConditions), `webhooks[${i}].matchConditions`)),
    ...(names[i] !== '' && names.indexOf(names[i] as string) < i ? [duplicate(`webhooks[${i}].name`, names[i])] : []),
  ]);
}

function checkWebhook(webhook: JsonObject, path: string): FieldError[] {
  const seconds = numberOf(webhook.timeoutSeconds);
  const timeout = 'the timeout value must be between 1 and 30 seconds';
  return [
    ...checkQualifiedDomain(textOf(webhook.name), `${path}.name`),
    ...recordsOf(webhook.rules).flatMap((rule, i) => checkRule(rule, `${path}.rules[${i}]`)),
    ...checkEnum(webhook.failurePolicy, ['Fail', 'Ignore'], `${path}.failurePolicy`),
    ...checkEnum(webhook.matchPolicy, ['Equivalent', 'Exact'], `${path}.matchPolicy`),
    ...checkEnum(webhook.reinvocationPolicy, ['IfNeeded', 'Never'], `${path}.reinvocationPolicy`),
    ...(isGiven(webhook.sideEffects)
      ? checkEnum(webhook.sideEffects, sideEffects, `${path}.sideEffects`)
      : [required(`${path}.sideEffects`, `must specify one of ${sideEffects.join(', ')}`)]),
    ...(seconds < 1 || seconds > 30 ? [invalid(`${path}.timeoutSeconds`, seconds, timeout)] : []),
    ...checkLabelSelector(webhook.namespaceSelector, `${path}.namespaceSelector`),
    ...checkLabelSelector(webhook.objectSelector, `${path}.objectSelector`),
    ...checkWebhookClient(recordOf(webhook.clientConfig) as WebhookClient, `${path}.clientConfig`),
    ...checkReviewVersions(
      stringsOf(webhook.admissionReviewVersions),
      `${path}.admissionReviewVersions`,
      'must specify one of v1, v1beta1',
    ),
  ];
}

/** The problems of the match conditions of a webhook, or of a policy, whose conditions may use `params`. */
export function checkMatchConditions(conditions: readonly JsonObject[], path: string, params = false): FieldError[] {
  const names = conditions.map(({ name }) => textOf(name));
  const errors = conditions.length > 64 ? [tooMany(path, conditions.length, 64)] : [];
  for (const [i, { expression }] of conditions.entries()) {
    const name = names[i] ?? '';
    const source = textOf(expression).trim();
    const problem = source === '' ? undefined : matchConditionProblem(source, params);
    if (source === '') errors.push(required(`${path}[${i}].expression`));
    if (problem !== undefined) errors.push(invalid(`${path}[${i}].expression`, source, problem));
    if (name === '') errors.push(required(`${path}[${i}].name`));
    else append(errors, checkText(qualifiedName, name, `${path}[${i}].name`));
    if (name !== '' && names.indexOf(name) < i) errors.push(duplicate(`${path}[${i}].name`, name));
  }
  return errors;
}

/** The problems of a rule that selects requests. */
export function checkRule(rule: JsonObject, path: string): FieldError[] {
  const list = (field: string) => stringsOf(rule[field]);
  const alone = (field: string, what: string) =>
    list(field).length > 1 && list(field).includes('*')
      ? [invalid(`${path}.${field}`, list(field), `if '*' is present, must not specify other ${what}`)]
      : [];
  const some = (field: string) => (list(field).length === 0 ? [required(`${path}.${field}`)] : []);
  return [
    ...some('operations'),
    ...alone('operations', 'operations'),
    ...list('operations').flatMap((operation, i) =>
      operations.includes(operation) ? [] : [notSupported(`${path}.operations[${i}]`, operation, operations)],
    ),
    ...some('apiGroups'),
    ...alone('apiGroups', 'API groups'),
    ...some('apiVersions'),
    ...alone('apiVersions', 'API versions'),
    ...list('apiVersions').flatMap((version, i) => (version === '' ? [required(`${path}.apiVersions[${i}]`)] : [])),
    ...checkResources(list('resources'), `${path}.resources`),
    ...checkEnum(rule.scope, ['*', 'Cluster', 'Namespaced'], `${path}.scope`),
  ];
}

/** `x`, `x/y`, and either of the two may be `*`, as long as nothing is said twice by that. */
function checkResources(resources: readonly string[], path: string): FieldError[] {
  const errors = resources.length === 0 ? [required(path)] : [];
  const [wholes, everywhere] = [new Set<string>(), new Set<string>()];
  let lastIsPlain = false;
  for (const [i, text] of resources.entries()) {
    const at = `${path}[${i}]`;
    if (text === '') {
      errors.push(required(at));
      continue;
    }
    const slash = text.indexOf('/');
    if (slash < 0) {
      lastIsPlain = text !== '*';
      continue;
    }
    const [resource, below] = [text.slice(0, slash), text.slice(slash + 1)];
    if (wholes.has(resource)) errors.push(invalid(at, text, `if '${resource}/*' is present, must not specify ${text}`));
    if (everywhere.has(below)) errors.push(invalid(at, text, `if '*/${below}' is present, must not specify ${text}`));
    if (below === '*') wholes.add(resource);
    if (resource === '*') everywhere.add(below);
  }
  if (resources.length > 1 && resources.includes('*/*')) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (resources.includes('*') && lastIsPlain) {
    errors.push(invalid(path, resources, "if '*' is present, must not specify other resources without subresources"));
  }
  return errors;
}
