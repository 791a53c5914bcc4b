import { atOnce } from '../../steps.js';
import { CompileError } from '../language/cel-error.js';
import {
  boolType,
  type CelType,
  dynType,
  formatType,
  intType,
  listOf,
  mapOf,
  opaque,
  stringType,
  timestampType,
} from '../language/cel-type.js';
import { type Functions, member } from '../language/overload.js';
import { library, typeNames } from '../library/library.js';
import { checkedExpression, constantProblem } from './checked-expression.js';

/** Why an expression cannot say which requests a webhook is for, in upstream's words; undefined if it can. */
export function matchConditionProblem(source: string): string | undefined {
  try {
    const { expression, type } = atOnce(checkedExpression(source, { variables, functions }));
    if (type.kind !== 'bool') return `must evaluate to bool but got ${formatType(type)}`;
    const hopeless = constantProblem(expression);
    return hopeless === undefined ? undefined : `program instantiation failed: ${hopeless}`;
  } catch (error) {
    if (error instanceof CompileError) return `compilation failed: ${error.message}`;
    throw error;
  }
}

const objectType = (name: string, fields: Readonly<Record<string, CelType>>): CelType => ({
  kind: 'object',
  name: `kubernetes.${name}`,
  fields: new Map(Object.entries(fields)),
});
const texts = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, stringType]));
const ofTexts = mapOf(stringType, stringType);

const kind = objectType('GroupVersionKind', texts('group', 'version', 'kind'));
const resource = objectType('GroupVersionResource', texts('group', 'version', 'resource'));
const user = objectType('UserInfo', {
  ...texts('username', 'uid'),
  groups: listOf(stringType),
  extra: mapOf(stringType, listOf(stringType)),
});
const request = objectType('AdmissionRequest', {
  ...texts('subResource', 'requestSubResource', 'name', 'namespace', 'operation'),
  kind,
  resource,
  requestKind: kind,
  requestResource: resource,
  userInfo: user,
  dryRun: boolType,
  options: dynType,
});
const condition = objectType('NamespaceCondition', {
  ...texts('status', 'type', 'message', 'reason'),
  lastTransitionTime: timestampType,
});
const namespace = objectType('Namespace', {
  metadata: objectType('NamespaceMetadata', {
    ...texts('name', 'generateName', 'namespace', 'UID', 'resourceVersion'),
    labels: ofTexts,
    annotations: ofTexts,
    creationTimestamp: timestampType,
    deletionTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    generation: intType,
    finalizers: listOf(stringType),
  }),
  spec: objectType('NamespaceSpec', { finalizers: listOf(stringType) }),
  status: objectType('NamespaceStatus', { conditions: listOf(condition), phase: stringType }),
});

const authorizer = opaque('kubernetes.authorization.Authorizer');
const pathCheck = opaque('kubernetes.authorization.PathCheck');
const groupCheck = opaque('kubernetes.authorization.GroupCheck');
const resourceCheck = opaque('kubernetes.authorization.ResourceCheck');
const decision = opaque('kubernetes.authorization.Decision');

const variables: ReadonlyMap<string, CelType> = new Map([
  ...typeNames,
  ['object', dynType],
  ['oldObject', dynType],
  ['request', request],
  ['namespaceObject', namespace],
  ['authorizer', authorizer],
  ['authorizer.requestResource', resourceCheck],
]);

/** Nobody is asked: no webhook is called. */
const uncalled = (): never => {
  throw new Error('conditions of webhooks are checked, not computed');
};
const on = (id: string, self: CelType, result: CelType, ...args: readonly CelType[]) =>
  member(id, [self, ...args], result, uncalled);

const authorization: Functions = {
  path: [on('authorizer_path', authorizer, pathCheck, stringType)],
  group: [on('authorizer_group', authorizer, groupCheck, stringType)],
  serviceAccount: [on('authorizer_serviceaccount', authorizer, authorizer, stringType, stringType)],
  resource: [on('groupcheck_resource', groupCheck, resourceCheck, stringType)],
  subresource: [on('resourcecheck_subresource', resourceCheck, resourceCheck, stringType)],
  namespace: [on('resourcecheck_namespace', resourceCheck, resourceCheck, stringType)],
  name: [on('resourcecheck_name', resourceCheck, resourceCheck, stringType)],
  fieldSelector: [on('authorizer_fieldselector', resourceCheck, resourceCheck, stringType)],
  labelSelector: [on('authorizer_labelselector', resourceCheck, resourceCheck, stringType)],
  check: [
    on('pathcheck_check', pathCheck, decision, stringType),
    on('resourcecheck_check', resourceCheck, decision, stringType),
  ],
  errored: [on('decision_errored', decision, boolType)],
  error: [on('decision_error', decision, stringType)],
  allowed: [on('decision_allowed', decision, boolType)],
  reason: [on('decision_reason', decision, stringType)],
};

const functions: Functions = Object.assign(
  Object.create(null) as Record<string, never>,
  library,
  Object.fromEntries(
    Object.entries(authorization).map(([name, forms]) => [name, [...(library[name] ?? []), ...forms]]),
  ),
);
