import type { RestConfig } from '../config/rest-config.js';
import { ConnectionPool } from './http/connection-pool.js';
import { RequestHeads } from './http/request-heads.js';
import { type HttpTransport, type HttpTransportOptions, resolveHttpOptions } from './http-transport-options.js';
import { PooledTransport } from './pooled-transport.js';

/**
 * The default transport: Riata's own HTTP/1.1 client over TCP and TLS (`nodeTransport` is the one over `node:http`). It
 * loads what it needs of Node with the first request. Each running stream has a connection of its own; other connections
 * are kept and reused. It asks for gzip unless the config disables compression or the request has its own
 * `Accept-Encoding`, and decodes what it asked for.
 *
 * When `config.credentials.tls()` gives another object, new requests open new connections with it, and running ones are
 * not disturbed. Failures are {@link TransportError}s, except for the reason of an abort and what the credentials threw,
 * which arrive unchanged.
 *
 * Throws only for an invalid config: a `server` or `proxyUrl` that is not a URL, a negative limit, or a `server` with a
 * user name or password in it.
 */
export function httpTransport(config: RestConfig, options: HttpTransportOptions = {}): HttpTransport {
  const resolved = resolveHttpOptions('httpTransport', options);
  const { clock: scheduler, keepAliveMs } = resolved;
  return new PooledTransport(config, resolved, (connector, { prefix, headers }) => {
    return new ConnectionPool({ heads: new RequestHeads(prefix, headers), scheduler, connector, keepAliveMs });
  });
}
