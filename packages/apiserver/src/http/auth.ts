import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { unauthorized } from '../status/refusal.js';
import type { RequestInfo } from './request-info.js';
import type { ServerRequest } from './server-request.js';

/** What anybody may ask, as probes do. */
const open = ['/healthz', '/livez', '/readyz', '/version', '/version/'];

/** Throws 401 unless the request carries the token, or no token at all and asks for what anybody may see. */
export function authenticate(request: ServerRequest, info: RequestInfo, token: string): void {
  const sent = bearerToken(request.headers.authorization);
  if (sent === undefined && open.includes(info.path)) return;
  if (sent === undefined || !same(sent, token)) throw unauthorized();
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
