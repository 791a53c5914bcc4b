import type { EndpointGuard } from '../probes/http-endpoint.js';
import { isLoopback } from './dashboard-options.js';

/**
 * Refuses requests whose header `Host` is not of this machine: a page of another site whose name leads to 127.0.0.1 (DNS
 * rebinding) would read everything otherwise.
 */
export const localGuard: EndpointGuard = async ({ headers }) => {
  const host = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(headers?.host ?? '');
  if (isLoopback(host?.[1] ?? host?.[2])) return undefined;
  return { status: 421, body: 'expects localhost or a loopback address in the header Host\n' };
};
