import type { GroupVersionKind, JsonObject } from 'riata/object';
import type { AdmissionAttributes } from '../admission.js';
import type { MatchedResource } from './request-matcher.js';

/** The `AdmissionRequest` of a request, without its objects and UID (`cel.CreateAdmissionRequest`). */
export function admissionRequest(attributes: AdmissionAttributes, matched: MatchedResource): JsonObject {
  const { resource, kind, subresource, name, namespace, operation, user, dryRun, options } = attributes;
  const { username, uid = '', groups = [], extra = {} } = user;
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

function kindOf({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind };
}

function resourceOf({ group, version, plural }: MatchedResource['resource']): JsonObject {
  return { group, version, resource: plural };
}
