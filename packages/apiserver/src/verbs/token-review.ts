import { isJsonObject, type JsonObject } from 'riata/object';
import { metaOf, stringsOf, textOf, valueAt } from '../resource/metadata.js';
import { badRequest } from '../status/refusal.js';
import { type TokenParts, tokenIssuer } from './token-request.js';

/** What reviews of tokens look at. */
export interface TokenReviewParts extends TokenParts {
  /** The token that the administrator has. */
  readonly token: string;
  now(): number;
}

/** Clocks of servers may differ by so much. */
const leewaySeconds = 60;

/** Who a token belongs to, and for whom it is: the status of a TokenReview. */
export function reviewToken(parts: TokenReviewParts, review: JsonObject, administrator: JsonObject): JsonObject {
  const token = textOf(valueAt(review, 'spec.token'));
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const asked = stringsOf(valueAt(review, 'spec.audiences'));
  const audiences = asked.length === 0 ? [tokenIssuer] : asked;
  if (token === parts.token) {
    return { authenticated: true, user: administrator, audiences: [...audiences] };
  }
  const claims = parts.signer.read(token);
  if (claims === undefined) return { user: {}, error: 'invalid bearer token' };
  const own = stringsOf(claims.aud);
  const shared = own.filter((audience) => audiences.includes(audience));
  const quoted = (list: readonly string[]) => `[${list.map((text) => JSON.stringify(text)).join(' ')}]`;
  if (shared.length === 0) {
    return refused(`token audiences ${quoted(own)} is invalid for the target audiences ${quoted(audiences)}`);
  }
  const problem = outdated(parts, claims);
  if (problem !== undefined) return refused(problem);
  return { authenticated: true, user: userOf(claims), audiences: shared };
}

function refused(error: string): JsonObject {
  return { user: {}, error: `[invalid bearer token, ${error}]` };
}

/** Why a token counts no more; undefined if it does. */
function outdated({ store, core, now }: TokenReviewParts, claims: JsonObject): string | undefined {
  const seconds = now() / 1000;
  if (seconds - leewaySeconds > Number(claims.exp)) return 'service account token has expired';
  if (seconds + leewaySeconds < Number(claims.nbf)) return 'service account token is not valid yet';
  const own = isJsonObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
  const namespace = textOf(own.namespace);
  const { name, uid } = isJsonObject(own.serviceaccount) ? own.serviceaccount : {};
  const account = store.find(core('serviceaccounts'), namespace, textOf(name))?.object;
  if (account === undefined) return `serviceaccounts "${textOf(name)}" not found`;
  if (account.metadata.uid !== uid) {
    return `service account UID (${account.metadata.uid}) does not match claim (${textOf(uid)})`;
  }
  for (const [claim, plural] of [
    ['secret', 'secrets'] as const,
    ['pod', 'pods'] as const,
    ['node', 'nodes'] as const,
  ]) {
    const bound = own[claim];
    // The node of a Pod is told, and binds nothing.
    if (!isJsonObject(bound) || (claim === 'node' && own.pod !== undefined)) continue;
    const place = claim === 'node' ? '' : namespace;
    const object = store.find(core(plural), place, textOf(bound.name))?.object as JsonObject | undefined;
    if (object === undefined) return 'service account token has been invalidated';
    if (metaOf(object).uid !== bound.uid) {
      const is = textOf(metaOf(object).uid);
      return `${claim} UID (${is}) does not match service account ${claim} ref claim (${textOf(bound.uid)})`;
    }
  }
  return undefined;
}

function userOf(claims: JsonObject): JsonObject {
  const own = isJsonObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
  const [account, pod, node] = [own.serviceaccount, own.pod, own.node].map((o) => (isJsonObject(o) ? o : {}));
  const extra = {
    'authentication.kubernetes.io/credential-id': `JTI=${textOf(claims.jti)}`,
    'authentication.kubernetes.io/node-name': textOf(node?.name),
    'authentication.kubernetes.io/node-uid': textOf(node?.uid),
    'authentication.kubernetes.io/pod-name': textOf(pod?.name),
    'authentication.kubernetes.io/pod-uid': textOf(pod?.uid),
  };
  const told = Object.entries(extra).flatMap(([key, value]) => (value === '' ? [] : [[key, [value]]]));
  return {
    username: textOf(claims.sub),
    uid: textOf(account?.uid),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${textOf(own.namespace)}`, 'system:authenticated'],
    extra: Object.fromEntries(told),
  };
}
