import type { JsonObject } from 'riata/object';
import { reviewToken } from '../authentication/review-token.js';
import type { TokenAuthenticator } from '../authentication/token-authenticator.js';
import type { UserInfo } from '../authentication/user-info.js';
import {
  type AccessReviewParts,
  reviewAccess,
  reviewOwnAccess,
  reviewOwnRules,
} from '../authorization/access-review.js';
import { withMeta } from '../resource/metadata.js';

/** What reviews need. */
export interface ReviewParts extends AccessReviewParts {
  readonly tokens: TokenAuthenticator;
}

/** A review, its user, namespace and time. */
export interface Review {
  readonly body: JsonObject;
  readonly user: UserInfo;
  readonly namespace: string;
  /** RFC 3339. */
  readonly now: string;
}

type Answer = (review: Review, parts: ReviewParts) => JsonObject;

/** Most reviews come back with a status. */
const withStatus =
  (statusOf: Answer): Answer =>
  (review, parts) => ({ ...review.body, status: statusOf(review, parts) });

const answers: Readonly<Record<string, Answer>> = {
  SelfSubjectReview: ({ body, user, now }) => ({
    ...withMeta(body, { creationTimestamp: now }),
    status: { userInfo: user },
  }),
  SelfSubjectAccessReview: withStatus(({ body, user }, parts) => reviewOwnAccess(parts, body, user)),
  SubjectAccessReview: withStatus(({ body }, parts) => reviewAccess(parts, body)),
  LocalSubjectAccessReview: withStatus(({ body, namespace }, parts) => reviewAccess(parts, body, namespace)),
  // The spec is not part of the answer.
  SelfSubjectRulesReview: ({ body, user }, parts) => ({
    ...{ kind: body.kind, apiVersion: body.apiVersion, metadata: {}, spec: {} },
    status: reviewOwnRules(parts, body, user),
  }),
  TokenReview: withStatus(({ body }, { tokens }) => reviewToken(tokens, body)),
};

/** Whether a built-in kind is answered and not stored. */
export function isReview(kind: string): boolean {
  return Object.hasOwn(answers, kind);
}

/** The answer to a review. Throws for one that asks nothing. */
export function answerReview(kind: string, review: Review, parts: ReviewParts): JsonObject {
  const answer = answers[kind];
  if (answer === undefined) throw new Error(`${kind} is not a review`);
  return answer(review, parts);
}
