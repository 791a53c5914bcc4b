import type { ServerRequest } from '../http/server-request.js';
import { unauthorized } from '../status/refusal.js';
import type { TokenAuthenticator } from './token-authenticator.js';
import { anonymous, authenticated, type UserInfo } from './user-info.js';

/**
 * The user of a request: by a client certificate, by a token, or, with neither, the anonymous user. Throws 401 for an
 * invalid credential.
 */
export function authenticate(
  request: ServerRequest,
  tokens: TokenAuthenticator,
  warn: (text: string) => void,
): UserInfo {
  const { certificate, headers } = request;
  if (certificate !== undefined && 'user' in certificate) return authenticated(certificate.user);
  const token = bearerToken(headers.authorization, warn);
  if (token !== undefined) {
    const verdict = tokens.identify(token);
    if ('user' in verdict) return verdict.user;
    throw unauthorized();
  }
  if (certificate !== undefined) throw unauthorized();
  return anonymous;
}

/** The token of a header; undefined for other schemes and without a header. */
function bearerToken(header: string | undefined, warn: (text: string) => void): string | undefined {
  const [scheme = '', token, ...more] = (header ?? '').trim().split(' ');
  if (token === undefined || scheme.toLowerCase() !== 'bearer') return undefined;
  if (token !== '') return token;
  if (more.length > 0) {
    warn('the provided Authorization header contains extra space before the bearer token, and is ignored');
  }
  return undefined;
}
