import type { RestConfig } from '../config/rest-config.js';
import { httpTransport } from './http-transport.js';
import type { HttpTransport, HttpTransportOptions } from './http-transport-options.js';
import { nodeTransport } from './node-transport.js';

/**
 * The transport that clients use unless they are given one: {@link httpTransport}, or {@link nodeTransport} where the
 * environment sets `RIATA_TRANSPORT=node`.
 */
export function defaultTransport(config: RestConfig, options?: HttpTransportOptions): HttpTransport {
  const name = process.env.RIATA_TRANSPORT || 'own';
  if (name === 'own') return httpTransport(config, options);
  if (name === 'node') return nodeTransport(config, options);
  throw new TypeError(`RIATA_TRANSPORT must be "own" or "node", got "${name}"`);
}
