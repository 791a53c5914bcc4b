import type { FieldSelectorAttributes, LabelSelectorAttributes } from '../../kinds/generated/types/authorization-v1.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import {
  type ReviewContext,
  type Reviewed,
  type ReviewOptions,
  type ReviewSpec,
  reviewOptionNames,
  reviewWebhook,
} from './review-webhook.js';

/** An access to decide about: of a resource, or of another URL (`path`). What does not apply is `''`. */
export interface AccessContext extends ReviewContext {
  /** The user's name. */
  readonly user: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
  /** `get`, `list`, `create`…; for a `path` the HTTP method in lower case. */
  readonly verb: string;
  /** The API group: `''` is the core group, `*` all. */
  readonly group: string;
  readonly version: string;
  /** In the plural: `pods`. */
  readonly resource: string;
  readonly subresource: string;
  /** `''`: the collection. */
  readonly name: string;
  /** `''`: cluster-scoped, or all namespaces. */
  readonly namespace: string;
  /** Of a URL that is not a resource's: `/healthz`. */
  readonly path: string;
  /** Of a list or watch: what the request is limited to. */
  readonly fieldSelector: FieldSelectorAttributes | undefined;
  readonly labelSelector: LabelSelectorAttributes | undefined;
}

/**
 * Whether an access is allowed. `'deny'` is final; with `'no opinion'` the API server asks its next authorizer. A reason is
 * shown to the user.
 */
export type AccessDecision = 'allow' | 'deny' | 'no opinion';

type Decided = AccessDecision | { readonly decision: AccessDecision; readonly reason?: string };

/**
 * Answers API servers that ask whether a user may do something, by `SubjectAccessReview`. They get to know it by their
 * authorization configuration, or `--authorization-webhook-config-file`. A function that throws has no opinion.
 *
 * @example
 * export const rights = authorizes(({ user, namespace }) => (teamOf(user) === ownerOf(namespace) ? 'allow' : 'no opinion'));
 */
export function authorizes(
  decide: (context: AccessContext) => Decided | PromiseLike<Decided>,
  options: ReviewOptions = {},
): WebhookDefinition {
  refuseUnknownOptions('authorizes', options, reviewOptionNames);
  if (typeof decide !== 'function') throw new TypeError(`authorizes: expects a function, got ${typeof decide}`);
  const { name = 'authorization', path = '/authorize', reads = [] } = options;
  return reviewWebhook(
    {
      kind: 'SubjectAccessReview',
      group: 'authorization.k8s.io',
      operation: 'authorize',
      failed: (evaluationError) => ({ allowed: false, evaluationError }),
      secretsOf: () => [],
      begin:
        () =>
        async (spec, version, { context, wait }) => {
          const access = accessOf(spec, version);
          const asked = Object.defineProperties(access as AccessContext, Object.getOwnPropertyDescriptors(context));
          return reviewed(await wait(decide(asked)), asked);
        },
    },
    { name, path, reads },
  );
}

function accessOf(spec: ReviewSpec, version: string): Omit<AccessContext, keyof ReviewContext> {
  const { user = '', uid = '', extra = {} } = spec as Partial<AccessContext>;
  // `v1beta1` has the groups by another name.
  const groups = (version === 'v1' ? spec.groups : spec.group) as readonly string[] | undefined;
  const resource = spec.resourceAttributes as Partial<AccessContext> | undefined;
  const other = spec.nonResourceAttributes as Partial<AccessContext> | undefined;
  return {
    ...{ user, groups: groups ?? [], uid, extra, verb: resource?.verb ?? other?.verb ?? '', path: other?.path ?? '' },
    ...{ group: resource?.group ?? '', version: resource?.version ?? '', resource: resource?.resource ?? '' },
    ...{ subresource: resource?.subresource ?? '', name: resource?.name ?? '', namespace: resource?.namespace ?? '' },
    ...{ fieldSelector: resource?.fieldSelector, labelSelector: resource?.labelSelector },
  };
}

function reviewed(decided: Decided, { user, verb, resource, path }: AccessContext): Reviewed {
  const { decision, reason } = typeof decided === 'string' ? { decision: decided, reason: undefined } : decided;
  if (!['allow', 'deny', 'no opinion'].includes(decision)) {
    throw new TypeError(`authorizes: expects 'allow', 'deny' or 'no opinion', got ${JSON.stringify(decision)}`);
  }
  const status = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === undefined ? {} : { reason }),
  };
  const details = [`${decision}: ${verb} ${resource || path}`];
  return { status, outcome: decision === 'allow' ? 'allowed' : 'denied', user, details };
}
