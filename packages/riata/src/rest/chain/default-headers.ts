import { version } from '../../version.js';
import type { Impersonation } from '../config/rest-config.js';
import type { TransportRequest } from '../transport/transport.js';

type Headers = TransportRequest['headers'];

/** Riata's own user agent (`rest.DefaultKubernetesUserAgent`): `riata/0.1.0 (linux/x64)`. */
export function defaultUserAgent(): string {
  return `riata/${version} (${process.platform}/${process.arch})`;
}

/** Adds the headers of a client, its user agent and impersonation, to requests that don't bring their own. */
export function defaultHeaders(userAgent: string, impersonate: Impersonation | undefined): (own: Headers) => Headers {
  const impersonation = impersonate && impersonationHeaders(impersonate);
  return (own) =>
    impersonation === undefined || own['impersonate-user'] !== undefined
      ? { 'user-agent': userAgent, ...own }
      : { 'user-agent': userAgent, ...own, ...impersonation };
}

/**
 * The headers of an impersonation (`rest.ImpersonationConfig`). Throws a `TypeError` when groups, a UID or extras come
 * without a user: the server refuses that, and dropping the rest would act as the wrong user.
 */
export function impersonationHeaders({
  user,
  uid,
  groups = [],
  extra = {},
}: Impersonation): Record<string, string | readonly string[]> {
  if (user === '') {
    throw new TypeError('impersonation: user must not be empty; omit the impersonation altogether to act as yourself');
  }
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': user };
  if (uid) headers['impersonate-uid'] = uid;
  if (groups.length > 0) headers['impersonate-group'] = groups;
  for (const [key, values] of Object.entries(extra)) {
    if (values.length > 0) headers[`impersonate-extra-${escapeHeaderKey(key)}`] = values;
  }
  return headers;
}

/** Percent-encodes characters that a header's name cannot have, and `%` itself; the server decodes it. */
function escapeHeaderKey(key: string): string {
  let escaped = '';
  for (const byte of Buffer.from(key.toLowerCase())) {
    const char = String.fromCharCode(byte);
    escaped += /[!#$&'*+.^_`|~0-9a-z-]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
