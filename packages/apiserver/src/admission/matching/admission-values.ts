import type { JsonObject } from 'riata/object';
import { jsonValue } from '../../cel/language/json-value.js';
import type { Value } from '../../cel/language/value.js';
import { AuthorizerValue, type DecideAccess, ResourceCheckValue } from '../../cel/library/authorization.js';
import { metaOf } from '../../resource/metadata.js';
import type { AdmissionAttributes } from '../admission.js';
import { admissionRequest } from './admission-request.js';
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
  const { attributes, matched, object, oldObject, params, namespace, decide } = input;
  const values = new Map<string, Value>([
    ['object', jsonValue(object ?? null)],
    ['oldObject', jsonValue(oldObject ?? null)],
    ['params', jsonValue(params ?? null)],
    ['request', jsonValue(admissionRequest(attributes, matched))],
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
