import type { JsonObject } from 'riata/object';
import { stringsOf, textOf, valueAt } from '../resource/metadata.js';
import { badRequest } from '../status/refusal.js';
import { type TokenAuthenticator, tokenIssuer } from './token-authenticator.js';

/** Who a token belongs to, and for whom it is: the status of a TokenReview. */
export function reviewToken(tokens: TokenAuthenticator, review: JsonObject): JsonObject {
  const token = textOf(valueAt(review, 'spec.token'));
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const asked = stringsOf(valueAt(review, 'spec.audiences'));
  const verdict = tokens.identify(token, asked.length === 0 ? [tokenIssuer] : asked);
  if ('problem' in verdict) return { user: {}, error: verdict.problem };
  return { authenticated: true, user: verdict.user, audiences: [...verdict.audiences] };
}
