import { type Duration, durationMs } from '../../object/duration.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import {
  type ReviewContext,
  type Reviewed,
  type ReviewOptions,
  reviewOptionNames,
  reviewWebhook,
} from './review-webhook.js';
import { TokenCache } from './token-cache.js';

/** A token to check. */
export interface TokenContext extends ReviewContext {
  /** Opaque, and a secret: don't log it. */
  readonly token: string;
  /** Of the API server; the token must be meant for one of them. Empty: the API server does not check. */
  readonly audiences: readonly string[];
}

/** Who a token belongs to (`authentication.UserInfo`). */
export interface AuthenticatedUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  /** Those of the requested audiences that the token is meant for. @default the token is not bound to an audience */
  readonly audiences?: readonly string[];
}

/** The user of a token; or the reason for refusing it, which the API server logs; or undefined. */
export type Authenticated = AuthenticatedUser | string | undefined;

/** Options of {@link authenticates}. */
export interface AuthenticatesOptions extends ReviewOptions {
  /**
   * How long an answer is used again for the same token and audiences, whether it is a user or not. Failures are not kept.
   * Tokens are kept as hashes, 10,000 at most. @default '0s': every review calls the function
   */
  readonly cache?: Duration;
}

const authenticatesOptionNames = reviewOptionNames.and<AuthenticatesOptions>({ cache: true });

/**
 * Answers API servers that ask whose a bearer token is, by `TokenReview` (`webhook/authentication`). They get to know it
 * by `--authentication-token-webhook-config-file`.
 *
 * @example
 * export const tokens = authenticates(async ({ token, signal }) => {
 *   const account = await provider.check(token, { signal });
 *   return account ? { name: account.email, groups: account.teams } : 'unknown token';
 * }, { cache: '2m' });
 */
export function authenticates(
  check: (context: TokenContext) => Authenticated | PromiseLike<Authenticated>,
  options: AuthenticatesOptions = {},
): WebhookDefinition {
  refuseUnknownOptions('authenticates', options, authenticatesOptionNames);
  if (typeof check !== 'function') throw new TypeError(`authenticates: expects a function, got ${typeof check}`);
  const { name = 'authentication', path = '/authenticate', reads = [], cache = '0s' } = options;
  const keptMs = durationMs(cache, 'authenticates: cache');
  return reviewWebhook(
    {
      kind: 'TokenReview',
      group: 'authentication.k8s.io',
      operation: 'authenticate',
      failed: (error) => ({ user: {}, error }),
      secretsOf: ({ token }) => (typeof token === 'string' ? [token] : []),
      begin: ({ runtime }) => {
        const known = keptMs > 0 ? new TokenCache<Authenticated>(runtime.clock, keptMs) : undefined;
        return async (spec, _, { context, wait }) => {
          const { token, audiences } = readSpec(spec);
          if (token === '') return refused('token is empty');
          const kept = known?.get(token, audiences);
          if (kept !== undefined) return reviewed(kept.answer);
          const answer = await wait(check(withToken(context, token, audiences)));
          known?.set(token, audiences, answer);
          return reviewed(answer);
        };
      },
    },
    { name, path, reads },
  );
}

function readSpec({ token, audiences }: Readonly<Record<string, unknown>>) {
  return {
    token: typeof token === 'string' ? token : '',
    audiences: Array.isArray(audiences) ? (audiences as readonly string[]) : [],
  };
}

function withToken(context: ReviewContext, token: string, audiences: readonly string[]): TokenContext {
  // Getters of the context stay getters.
  return Object.defineProperties({ token, audiences } as TokenContext, Object.getOwnPropertyDescriptors(context));
}

function refused(error: string): Reviewed {
  const status = { user: {}, ...(error === '' ? {} : { error }) };
  return { status, outcome: 'denied', ...(error === '' ? {} : { details: [error] }) };
}

function reviewed(answer: Authenticated): Reviewed {
  if (answer === undefined || typeof answer === 'string') return refused(answer ?? '');
  const { name, uid, groups, extra, audiences } = answer;
  if (typeof name !== 'string') throw new TypeError('authenticates: the function returned a user without a name');
  const user = {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  };
  const status = { authenticated: true, user, ...(audiences === undefined ? {} : { audiences }) };
  return { status, outcome: 'allowed', user: name };
}
