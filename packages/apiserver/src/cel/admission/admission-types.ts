import {
  boolType,
  type CelType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  timestampType,
} from '../language/cel-type.js';

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

/** The type of `request`. */
export const requestType = objectType('AdmissionRequest', {
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

/** The type of `namespaceObject`. */
export const namespaceType = objectType('Namespace', {
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
