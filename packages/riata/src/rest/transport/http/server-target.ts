import type { RestConfig, TlsMaterial } from '../../config/rest-config.js';
import type { ResolvedHttpOptions } from '../http-transport-options.js';
import { serverAddress } from '../server-address.js';
import { type ProxyServer, parseProxy, proxyAuthorization } from './proxy.js';
import { proxyFromEnvironment } from './proxy-environment.js';
import type { SocketConnector } from './socket-connector.js';

type Sockets = typeof import('./socket-connector.js');

/** Where the connections of one transport go: the server, the proxy before it, and what each request has to carry. */
export class ServerTarget {
  /** The server's address for messages: without query and credentials. */
  readonly url: string;
  /** Stands before each path: that of the server, and for a plain server behind an HTTP proxy its whole address. */
  readonly prefix: string;
  /** Headers that every request carries. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #config: RestConfig;
  readonly #options: ResolvedHttpOptions;
  readonly #server: URL;
  readonly #proxy: ProxyServer | undefined;
  /** An HTTP proxy forwards requests for plain servers itself; for all others it is asked for a tunnel. */
  readonly #forwarded: boolean;

  /** Throws a `TypeError` for a `server` or `proxyUrl` that cannot work, without repeating its password. */
  constructor(config: RestConfig, options: ResolvedHttpOptions) {
    this.#config = config;
    this.#options = options;
    this.#server = serverAddress(config.server);
    const { proxyEnvironment } = options;
    const proxyUrl = config.proxyUrl || (proxyEnvironment && proxyFromEnvironment(this.#server.href, proxyEnvironment));
    this.#proxy = proxyUrl ? parseProxy(proxyUrl) : undefined;
    this.#forwarded = this.#proxy !== undefined && this.#proxy.kind !== 'socks5' && this.#server.protocol === 'http:';
    const path = this.#server.pathname.replace(/\/+$/, '');
    this.url = this.#server.origin + path;
    this.prefix = this.#forwarded ? this.url : path;
    const authorization = this.#proxy && this.#forwarded ? proxyAuthorization(this.#proxy) : undefined;
    this.headers = {
      host: this.#server.host,
      ...(authorization && { 'proxy-authorization': authorization }),
    };
  }

  /** Opens connections with this TLS material. Throws a `ConnectFailure` if it cannot be used. */
  connector(material: TlsMaterial, sockets: Sockets): SocketConnector {
    const { clock: scheduler, connectTimeoutMs: timeoutMs } = this.#options;
    const { tlsServerName, insecureSkipTlsVerify: insecure = false } = this.#config;
    const secure = this.#server.protocol === 'https:';
    const host = this.#server.hostname.replace(/^\[|\]$/g, '');
    const port = Number(this.#server.port) || (secure ? 443 : 80);
    const tls = secure && {
      context: sockets.createTlsContext(material),
      insecure,
      ...(tlsServerName && { serverName: tlsServerName }),
    };
    return new sockets.SocketConnector({
      ...{ host, port, scheduler, timeoutMs, forwarded: this.#forwarded },
      ...(this.#proxy && { proxy: this.#proxy }),
      ...(tls && { tls }),
    });
  }
}
