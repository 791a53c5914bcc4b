import type { JsonObject } from 'riata/object';
import { administrator, type User } from '../http/auth.js';
import { reviewToken, type TokenReviewParts } from './token-review.js';

type Answer = (review: JsonObject, parts: TokenReviewParts, user: User) => JsonObject;

/** Answers to kinds that are asked and not stored: whoever has a token may do everything. */
const answers: Readonly<Record<string, Answer>> = {
  SelfSubjectReview: (_review, _parts, user) => ({ userInfo: user }),
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
export function reviewed(
  kind: string,
  review: JsonObject,
  parts: TokenReviewParts,
  user: User,
): JsonObject | undefined {
  return Object.hasOwn(answers, kind) ? answers[kind]?.(review, parts, user) : undefined;
}
