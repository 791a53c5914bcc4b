import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import type { JsonObject } from 'riata/object';
import { unauthorized } from '../status/refusal.js';
import type { RequestInfo } from './request-info.js';
import type { ServerRequest } from './server-request.js';

/** What anybody may ask, as probes do. */
const open = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

/** Who a request comes from, as reviews tell it (`authentication.k8s.io/v1` `UserInfo`). */
export type User = JsonObject;

/** Whoever shows the server's own token. */
export const administrator: User = { username: 'riata-admin', groups: ['system:masters', 'system:authenticated'] };

const anonymous: User = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

/**
 * Who asks: the administrator, or whoever `issued` knows the token of. Throws 401 if nobody does, unless there is no token
 * at all and it is about what anybody may see.
 */
export function authenticate(
  request: ServerRequest,
  info: RequestInfo,
  token: string,
  issued?: (token: string) => User | undefined,
): User {
  const sent = bearerToken(request.headers.authorization);
  if (sent === undefined && open.includes(info.path)) return anonymous;
  const user = sent === undefined ? undefined : same(sent, token) ? administrator : issued?.(sent);
  if (user === undefined) throw unauthorized();
  return user;
}

function bearerToken(header: string | undefined): string | undefined {
  const match = /^bearer ([^ ]+) *$/i.exec(header ?? '');
  return match?.[1];
}

/** Takes as long for a wrong token as for the right one of the same length. */
function same(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
