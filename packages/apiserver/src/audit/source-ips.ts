import { isIP } from 'node:net';
import type { ServerRequest } from '../http/server-request.js';

/** Where a request came from: what proxies say, then the peer itself (`net.SourceIPs`). */
export function sourceIPs({ headers, remoteAddress }: ServerRequest): readonly string[] {
  const found = (headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => plain(part.trim()))
    .filter((ip) => ip !== undefined);
  const real = plain((headers['x-real-ip'] ?? '').trim());
  if (real !== undefined && !found.includes(real)) found.push(real);
  const peer = plain(remoteAddress ?? '');
  if (peer !== undefined && found.at(-1) !== peer) found.push(peer);
  return found;
}

/** An IPv4 address may come as a part of an IPv6 one. */
function plain(address: string): string | undefined {
  const ip = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(ip) === 0 ? undefined : ip.toLowerCase();
}
