import { OptionNames, optionNames } from '../../runtime/option-names.js';
import type { Transport } from '../transport/transport.js';

/** PEM text or bytes. */
export type Pem = string | Uint8Array;

/** How to trust the server and be trusted by it over TLS. */
export interface TlsMaterial {
  readonly ca?: Pem;
  readonly cert?: Pem;
  readonly key?: Pem;
}

/** Who a request is made as, once the server has authenticated us (`rest.ImpersonationConfig`). */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The TLS material of {@link Credentials}. */
export interface CachedCredentials {
  /** The value for the `Authorization` header, or undefined for none. */
  readonly authorization: string | undefined;
  readonly tls: TlsMaterial;
}

/**
 * Where credentials come from. Both questions are asked before each request and must be cheap when nothing changed:
 * caching, re-reading of files and single-flight are the provider's business.
 */
export interface Credentials {
  /** The value for the `Authorization` header, or undefined for none. */
  authorization(options?: { readonly signal?: AbortSignal }): Promise<string | undefined>;
  /** CA, client certificate and key in force now. The same object as last time means that nothing changed. */
  tls(options?: { readonly signal?: AbortSignal }): Promise<TlsMaterial>;
  /**
   * Called after a 401: drops what is cached. Resolves to true if another try may succeed. `rejected` is the
   * `Authorization` value that the server refused, so that of many requests refused at once only the first fetches
   * again.
   */
  refresh(options?: { readonly signal?: AbortSignal; readonly rejected?: string }): Promise<boolean>;
  /**
   * Header and TLS material if both are loaded and known to be current; undefined where a file or plugin has to be asked
   * first: then the methods above are called. @default undefined
   */
  tryCached?(): CachedCredentials | undefined;
  /** A known problem of them, for the message of a 401 and without a secret: a certificate has expired. */
  problem?(): Promise<string | undefined>;
}

/** The address and credentials of one API server (`rest.Config`). Printing it shows no secret. */
export interface RestConfig {
  /** Base URL of the server, with the path prefix if it has one. */
  readonly server: string;
  readonly credentials?: Credentials;
  /** Accept any certificate. For tests only. @default false */
  readonly insecureSkipTlsVerify?: boolean;
  /** Name to verify the server's certificate against (and to send as SNI) instead of the host. */
  readonly tlsServerName?: string;
  /** `http://`, `https://` or `socks5://` proxy for all requests. @default none, whatever the environment says */
  readonly proxyUrl?: string;
  /** Switches response compression off (`disable-compression` in a kubeconfig). @default false */
  readonly disableCompression?: boolean;
  readonly impersonate?: Impersonation;
  /** The namespace that the context names. @default 'default' */
  readonly namespace?: string;
  /** @default `riata/<version> (<os>/<arch>)` */
  readonly userAgent?: string;
  /** Requests per second on average, and at once; off unless given, as the server's priority and fairness does the job. */
  readonly qps?: number;
  readonly burst?: number;
  /** Takes the place of HTTP: a server in the same process, or a wrapper for tests. */
  readonly transport?: Transport;
}

const configNames = optionNames<RestConfig>({
  server: true,
  credentials: true,
  insecureSkipTlsVerify: true,
  tlsServerName: true,
  proxyUrl: true,
  disableCompression: true,
  impersonate: true,
  namespace: true,
  userAgent: true,
  qps: true,
  burst: true,
  transport: true,
});

/** A config that was loaded prints itself without secrets, and so does what is spread from it. */
export const restConfigOptionNames = new OptionNames([...configNames, 'toJSON', 'toString']);
