import type { JsonObject } from 'riata/object';

/** Who every request is made by, as long as there are no users. */
const administrator = { username: 'riata-admin', groups: ['system:masters', 'system:authenticated'] };

/**
 * Answers to kinds that are asked and not stored (reviews): whoever has the token may do everything. Undefined for
 * other kinds.
 */
const answers: Readonly<Record<string, (review: JsonObject) => JsonObject>> = {
  SelfSubjectReview: () => ({ userInfo: administrator }),
  SelfSubjectAccessReview: () => ({ allowed: true }),
  SubjectAccessReview: () => ({ allowed: true }),
  LocalSubjectAccessReview: () => ({ allowed: true }),
  SelfSubjectRulesReview: () => ({
    resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    incomplete: false,
  }),
  TokenReview: () => ({ authenticated: true, user: administrator }),
};

/** The review with its answer; undefined for a kind that is no review. */
export function reviewed(kind: string, review: JsonObject): JsonObject | undefined {
  const status = answers[kind]?.(review);
  return status === undefined ? undefined : { ...review, status };
}
