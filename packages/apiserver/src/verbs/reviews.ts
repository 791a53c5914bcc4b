import type { JsonObject } from 'riata/object';
import { reviewToken, type TokenReviewParts } from './token-review.js';

/** Who every request is made by, as long as there are no users. */
const administrator = { username: 'riata-admin', groups: ['system:masters', 'system:authenticated'] };

/** Answers to kinds that are asked and not stored: whoever has the token may do everything. */
const answers: Readonly<Record<string, (review: JsonObject, parts: TokenReviewParts) => JsonObject>> = {
  SelfSubjectReview: () => ({ userInfo: administrator }),
  SelfSubjectAccessReview: () => ({ allowed: true }),
  SubjectAccessReview: () => ({ allowed: true }),
  LocalSubjectAccessReview: () => ({ allowed: true }),
  SelfSubjectRulesReview: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  }),
  TokenReview: (review, parts) => reviewToken(parts, review, administrator),
};

/** The status that answers a review; undefined for a kind that is no review. Throws 400 for one that asks nothing. */
export function reviewed(kind: string, review: JsonObject, parts: TokenReviewParts): JsonObject | undefined {
  return Object.hasOwn(answers, kind) ? answers[kind]?.(review, parts) : undefined;
}
