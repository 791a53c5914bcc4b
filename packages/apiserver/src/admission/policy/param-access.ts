import { equal, type JsonObject, splitApiVersion } from 'riata/object';
import type { UserInfo } from '../../authentication/user-info.js';
import { resourceAttributes } from '../../authorization/attributes.js';
import { isPrivileged } from '../../authorization/authorizer.js';
import { isGiven, metaOf, recordOf, textOf } from '../../resource/metadata.js';
import { homeOf } from '../../resource/resource.js';
import { forbidden } from '../../status/field-error.js';
import { invalidObject } from '../../status/refusal.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';

const group = 'admissionregistration.k8s.io';
const kinds = /^(validating|mutating)admissionpolic(y|ies)(bindings)?$/;

/**
 * Keeps users from reading through a policy what they may not read themselves: writing a policy with a `paramKind`
 * requires permission to get all objects of that kind, and a binding requires permission to get or list its params.
 * Upstream checks this as part of validation, so it cannot be switched off.
 */
export function paramAccess(parts: AdmissionParts): AdmissionPlugin {
  return {
    name: 'ParamAccess',
    handles: ({ resource, subresource, operation, user }) =>
      resource.group === group &&
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      kinds.test(resource.plural) &&
      !isPrivileged(user),
    // biome-ignore lint/correctness/useYield: it waits for nothing.
    *validate(attributes) {
      const { resource, object = {}, oldObject } = attributes;
      const isBinding = resource.plural.endsWith('bindings');
      const problem = isBinding
        ? bindingProblem(recordOf(object.spec), attributes, parts)
        : policyProblem(recordOf(object.spec), recordOf(oldObject?.spec), attributes, parts);
      if (problem === undefined) return;
      const error = forbidden(isBinding ? 'spec.paramRef' : 'spec.paramKind', problem);
      throw invalidObject(homeOf(resource), textOf(metaOf(object).name), [error]);
    },
  };
}

function policyProblem(
  { paramKind }: JsonObject,
  { paramKind: before }: JsonObject,
  { user }: AdmissionAttributes,
  parts: AdmissionParts,
): string | undefined {
  if (!isGiven(paramKind) || equal(paramKind as JsonObject, before ?? null)) return undefined;
  const { apiVersion, kind } = recordOf(paramKind);
  const { resource, ...place } = paramsAt(recordOf(paramKind), parts);
  const asked = { verb: 'get', name: '*', namespace: '*', ...place, resource: resource ?? '*' };
  if (parts.authorizer.isAllowed(resourceAttributes(user, asked))) return undefined;
  const which = `(kind=${textOf(kind)}, apiVersion=${textOf(apiVersion)})`;
  return `user ${goUser(user)} must have "get" permission on all objects of the referenced paramKind ${which}`;
}

function bindingProblem(
  { paramRef, policyName }: JsonObject,
  { user, resource: { plural } }: AdmissionAttributes,
  parts: AdmissionParts,
): string | undefined {
  if (!isGiven(paramRef)) return undefined;
  const { name, namespace } = recordOf(paramRef);
  const table = `${group}/${plural.replace('policybindings', 'policies')}`;
  const policy = parts.storage.get(table, textOf(policyName))?.object as unknown as JsonObject | undefined;
  const { paramKind } = recordOf(policy?.spec);
  const place = isGiven(paramKind) ? paramsAt(recordOf(paramKind), parts) : { group: '*', resource: '*' };
  const verb = textOf(name) === '' ? 'list' : 'get';
  const asked = { ...place, resource: place.resource ?? '*', verb, name: textOf(name), namespace: textOf(namespace) };
  if (parts.authorizer.isAllowed(resourceAttributes(user, asked))) return undefined;
  const lacks = `user ${goUser(user)} does not have "${verb}" permission`;
  const needed = `to determine minimum required permissions and ${lacks} for all groups, versions and resources`;
  if (policy === undefined) return `unable to get policy ${textOf(policyName)} ${needed}`;
  if (place.resource !== undefined) {
    // Upstream confuses the two for mutating policies.
    const [who, what] = plural.startsWith('mutating') ? [verb, goUser(user)] : [goUser(user), verb];
    return `user ${who} does not have "${what}" permission on the object referenced by paramRef`;
  }
  const { apiVersion, kind } = recordOf(paramKind);
  return `unable to resolve paramKind &{${textOf(apiVersion)} ${textOf(kind)}} ${needed}`;
}

/** The resource of a param kind; none for a kind that is not served. */
function paramsAt({ apiVersion, kind }: JsonObject, { served }: AdmissionParts) {
  const { group: ofParams, version } = splitApiVersion(textOf(apiVersion));
  const found = served.resources(ofParams, version).find((resource) => resource.kind === kind);
  return { group: ofParams, resource: found?.plural };
}

/** A user as Go prints it. */
function goUser({ username, uid = '', groups = [], extra = {} }: UserInfo): string {
  const members = Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = members.map(([key, values]) => `${key}:[${values.join(' ')}]`).join(' ');
  return `&{${username} ${uid} [${groups.join(' ')}] map[${shown}]}`;
}
