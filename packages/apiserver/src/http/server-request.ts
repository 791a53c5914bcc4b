import type { Duplex } from 'node:stream';
import type { ClientCertificate } from '../authentication/client-certificate.js';

/** A request as the server sees it, whichever way it came. */
export interface ServerRequest {
  /** In capitals, as sent. */
  readonly method: string;
  /** Path and query as sent, starting with `/`; nothing is decoded. */
  readonly path: string;
  /** Names in lower case; a header that came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The headers that name another user to act as, `impersonate-…`, line by line; undefined without any. */
  readonly impersonation?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The certificate that the client has shown in the TLS handshake; undefined without one. */
  readonly certificate?: ClientCertificate | undefined;
  /**
   * Takes over the connection of a client that asks for another protocol (`Connection: Upgrade`): the server sends no
   * answer any more. Undefined where a connection cannot be taken over.
   */
  readonly upgrade?: (() => Duplex) | undefined;
  /** Whether it came over HTTP/2. @default false */
  readonly http2?: boolean;
  /** The address of the peer; undefined within the process. */
  readonly remoteAddress?: string | undefined;
  /** Empty without a body. A body longer than {@link maxBodyBytes} may be cut one byte behind that. */
  readonly body: Uint8Array;
  /** The body as it comes, where it is handed on: `body` is empty then. */
  readonly bodyStream?: AsyncIterable<Uint8Array> | undefined;
  /** Aborts when the client has disconnected, or the server stops: the answer has no reader any more. */
  readonly signal: AbortSignal;
}

/** The longest body that is taken: 3 MiB, as kube-apiserver has it. */
export const maxBodyBytes = 3 * 1024 * 1024;

/** Whether a request goes through the proxy of a Pod, a Service or a Node: its body is not read here. */
export function isProxied(path: string): boolean {
  return /^\/api\/v1\/(namespaces\/[^/]+\/(pods|services)|nodes)\/[^/]+\/proxy(?=[/?]|$)/.test(path);
}
