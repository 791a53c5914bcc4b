import { isJsonObject, type JsonObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import { metaOf, recordOf, stringsOf, textOf } from '../resource/metadata.js';
import { type FieldError, invalid } from '../status/field-error.js';
import { badRequest, invalidObject } from '../status/refusal.js';
import { type Attributes, resourceAttributes } from './attributes.js';
import { type Authorizer, aggregate, notThere } from './authorizer.js';
import type { PolicyRule } from './policy-rule.js';
import type { RbacIndex } from './rbac-index.js';
import { selectorErrors, selectorEvaluationErrors } from './review-selectors.js';

/** What reviews of access are answered from. */
export interface AccessReviewParts {
  readonly authorizer: Authorizer;
  readonly rbac: RbacIndex;
}

type Where = 'Self' | 'Anywhere' | { readonly namespace: string };

/** The status of a SelfSubjectAccessReview. Throws 422. */
export function reviewOwnAccess({ authorizer }: AccessReviewParts, review: JsonObject, user: UserInfo): JsonObject {
  return reviewed(authorizer, review, user, 'Self');
}

/** The status of a SubjectAccessReview, or, in a namespace, of a LocalSubjectAccessReview. Throws 422 and 400. */
export function reviewAccess({ authorizer }: AccessReviewParts, review: JsonObject, namespace?: string): JsonObject {
  const { user, groups, uid, extra } = recordOf(review.spec);
  const subject: UserInfo = {
    ...{ username: textOf(user), groups: stringsOf(groups), uid: textOf(uid) },
    extra: (isJsonObject(extra) ? extra : {}) as NonNullable<UserInfo['extra']>,
  };
  return reviewed(authorizer, review, subject, namespace === undefined ? 'Anywhere' : { namespace });
}

/** The status of a SelfSubjectRulesReview. Throws 400. */
export function reviewOwnRules({ rbac }: AccessReviewParts, review: JsonObject, user: UserInfo): JsonObject {
  const namespace = textOf(recordOf(review.spec).namespace);
  if (namespace === '') throw badRequest('no namespace on request');
  const { rules, missing } = rbac.rulesFor(user, namespace);
  const ofResources = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule) => ({
    ...{ verbs, apiGroups, resources },
    ...(resourceNames.length === 0 ? {} : { resourceNames }),
  });
  return {
    resourceRules: rules.filter(({ resources }) => resources.length > 0).map(ofResources),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: false,
    ...(missing.length === 0 ? {} : { evaluationError: aggregate(missing.map(notThere)) }),
  };
}

function reviewed(authorizer: Authorizer, review: JsonObject, user: UserInfo, where: Where): JsonObject {
  const errors = reviewErrors(review, user, where);
  if (errors.length > 0) throw invalidObject({ group: 'authorization.k8s.io', kind: '', plural: '' }, '', errors);
  const { resourceAttributes: ofResource, nonResourceAttributes: ofPath } = recordOf(review.spec);
  const expected = isJsonObject(ofResource) ? resourceOf(user, ofResource) : pathOf(user, recordOf(ofPath));
  const { allowed, reason } = authorizer.decide(expected);
  const evaluationError = isJsonObject(ofResource) ? selectorEvaluationErrors(ofResource).join('; ') : '';
  return {
    allowed,
    ...(reason === '' ? {} : { reason }),
    ...(evaluationError === '' ? {} : { evaluationError }),
  };
}

function resourceOf(user: UserInfo, given: JsonObject): Attributes {
  const [verb, group, resource, subresource, namespace, name] = [
    ...[given.verb, given.group, given.resource, given.subresource, given.namespace, given.name].map(textOf),
  ];
  return resourceAttributes(user, { verb: verb ?? '', resource: resource ?? '', group, subresource, namespace, name });
}

function pathOf(user: UserInfo, given: JsonObject): Attributes {
  const attributes = resourceAttributes(user, { verb: textOf(given.verb), resource: '' });
  return { ...attributes, isResource: false, path: textOf(given.path) };
}

function reviewErrors(review: JsonObject, { username, groups = [] }: UserInfo, where: Where): FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = recordOf(review.spec);
  const [hasResource, hasPath] = [isJsonObject(resourceAttributes), isJsonObject(nonResourceAttributes)];
  const [ofResource, ofPath] = [recordOf(resourceAttributes), recordOf(nonResourceAttributes)];
  const errors: FieldError[] = [];
  if (hasResource && hasPath) {
    const why = 'cannot be specified in combination with resourceAttributes';
    errors.push(invalid('spec.nonResourceAttributes', goPath(ofPath), why));
  }
  if (!hasResource && !hasPath) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(invalid('spec.resourceAttributes', null, why));
  }
  if (where !== 'Self' && username === '' && groups.length === 0) {
    errors.push(invalid('spec.user', username, 'at least one of user or group must be specified'));
  }
  if (hasResource) errors.push(...selectorErrors(ofResource));
  const { managedFields: _, namespace, ...metadata } = metaOf(review);
  const isLocal = typeof where === 'object';
  const rest = isLocal ? metadata : { ...metadata, ...(textOf(namespace) === '' ? {} : { namespace }) };
  if (Object.values(rest).some((value) => value !== undefined && value !== null)) {
    const why = isLocal ? 'must be empty except for namespace' : 'must be empty';
    errors.push(invalid('metadata', metaOf(review), why));
  }
  if (!isLocal) return errors;
  if (hasResource && textOf(ofResource.namespace) !== where.namespace) {
    const why = 'must match metadata.namespace';
    errors.push(invalid('spec.resourceAttributes.namespace', textOf(ofResource.namespace), why));
  }
  if (hasPath) errors.push(invalid('spec.nonResourceAttributes', goPath(ofPath), 'disallowed on this kind of request'));
  return errors;
}

/** As Go prints what has no names for JSON. */
function goPath({ path, verb }: JsonObject): JsonObject {
  return { Path: textOf(path), Verb: textOf(verb) };
}
