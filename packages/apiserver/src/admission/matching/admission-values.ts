import type { GroupVersionKind, JsonObject } from 'riata/object';
import { jsonValue } from '../../cel/language/json-value.js';
import type { Value } from '../../cel/language/value.js';
import { AuthorizerValue, type DecideAccess, ResourceCheckValue } from '../../cel/library/authorization.js';
import { metaOf } from '../../resource/metadata.js';
import type { AdmissionAttributes } from '../admission.js';
import type { MatchedResource } from './request-matcher.js';

/** The input of an admission expression. */
export interface AdmissionInput {
  readonly attributes: AdmissionAttributes;
  /** The version in which the policy or webhook gets the objects. */
  readonly matched: MatchedResource;
  /** The objects in that version. */
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  readonly params?: JsonObject | undefined;
  /** The namespace of the request. @default none, as for cluster-scoped objects */
  readonly namespace?: JsonObject | undefined;
  /** Evaluates `authorizer` in expressions. @default expressions have no `authorizer` */
  readonly decide?: DecideAccess | undefined;
}

/** The variables of admission expressions. */
export function admissionValues(input: AdmissionInput): ReadonlyMap<string, Value> {
  const { attributes, object, oldObject, params, namespace, decide } = input;
  const values = new Map<string, Value>([
    ['object', jsonValue(object ?? null)],
    ['oldObject', jsonValue(oldObject ?? null)],
    ['params', jsonValue(params ?? null)],
    ['request', jsonValue(admissionRequest(input))],
    ['namespaceObject', jsonValue(namespace === undefined ? null : shownNamespace(namespace))],
  ]);
  if (decide === undefined) return values;
  const { resource, subresource, name, user } = attributes;
  const authorizer = new AuthorizerValue(user, decide);
  const place = {
    group: resource.group,
    resource: resource.plural,
    subresource,
    namespace: attributes.namespace,
    name,
  };
  return values
    .set('authorizer', authorizer)
    .set('authorizer.requestResource', new ResourceCheckValue(authorizer, place));
}

/** The `AdmissionRequest` of a request, without its objects (`cel.CreateAdmissionRequest`). */
function admissionRequest({ attributes, matched }: AdmissionInput): JsonObject {
  const { resource, kind, subresource, name, namespace, operation, user, dryRun, options } = attributes;
  const { username, uid = '', groups = [], extra = {} } = user;
  const kindOf = ({ group, version, kind: of }: GroupVersionKind) => ({ group, version, kind: of });
  const resourceOf = ({ group, version, plural }: MatchedResource['resource']) => ({
    group,
    version,
    resource: plural,
  });
  return {
    uid: '',
    kind: kindOf(matched.kind),
    resource: resourceOf(matched.resource),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindOf(kind),
    requestResource: resourceOf(resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      ...(username === '' ? {} : { username }),
      ...(uid === '' ? {} : { uid }),
      ...(groups.length === 0 ? {} : { groups: [...groups] }),
      ...(Object.keys(extra).length === 0 ? {} : { extra: extra as JsonObject }),
    },
    object: null,
    oldObject: null,
    dryRun,
    options,
  };
}

const shownMetadata = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
];

/** The part of a namespace that expressions see (`cel.CreateNamespaceObject`). */
function shownNamespace({ metadata: _, spec = {}, status = {}, ...namespace }: JsonObject): JsonObject {
  const meta = metaOf({ ...namespace, metadata: _ ?? {} });
  const metadata = Object.fromEntries(
    shownMetadata.flatMap((field) => (meta[field] === undefined ? [] : [[field, meta[field]]])),
  ) as JsonObject;
  return { metadata, spec, status };
}
