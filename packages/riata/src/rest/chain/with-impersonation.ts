import type { Impersonation } from '../config/rest-config.js';
import type { Send } from './send.js';

/** Asks the server to act as somebody else, unless the request says so itself (`rest.ImpersonationConfig`). */
export function withImpersonation(send: Send, impersonate: Impersonation | undefined): Send {
  if (!impersonate) return send;
  const added = impersonationHeaders(impersonate);
  return (request) =>
    request.headers['impersonate-user'] !== undefined
      ? send(request)
      : send({ ...request, headers: { ...request.headers, ...added } });
}

/**
 * The headers that ask for an impersonation. Throws a `TypeError` when groups, a UID or extras come without a user:
 * the server refuses that, and dropping the rest would act as the wrong one.
 */
export function impersonationHeaders({
  user,
  uid,
  groups = [],
  extra = {},
}: Impersonation): Record<string, string | readonly string[]> {
  if (user === '') {
    throw new TypeError(
      'impersonation: user wants a name, got an empty string; without a user leave it out as a whole',
    );
  }
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': user };
  if (uid) headers['impersonate-uid'] = uid;
  if (groups.length > 0) headers['impersonate-group'] = groups;
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`impersonate-extra-${escapeHeaderKey(key)}`] = values;
  }
  return headers;
}

/** Percent-encodes what may not stand in a header's name, and `%` itself; the server decodes it. */
function escapeHeaderKey(key: string): string {
  let escaped = '';
  for (const byte of Buffer.from(key.toLowerCase())) {
    const char = String.fromCharCode(byte);
    escaped += /[!#$&'*+.^_`|~0-9a-z-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
