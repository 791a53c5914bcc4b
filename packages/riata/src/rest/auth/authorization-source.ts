import { ConfigError, type ConfigPlace } from '../config/config-error.js';

/** A client certificate and its key, PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface RefreshOptions {
  readonly signal?: AbortSignal;
  readonly rejected?: string;
}

/** Who we are, by header or by client certificate. The trust in the server comes from elsewhere. */
export interface AuthorizationSource {
  authorization(options?: { readonly signal?: AbortSignal }): Promise<string | undefined>;
  /** The same object as last time means that nothing changed. */
  clientCertificate?(options?: { readonly signal?: AbortSignal }): Promise<ClientCertificate | undefined>;
  /** The value of `authorization`, if it is loaded and known to be current. Not for a source with certificates of its own. */
  tryCached?(): { readonly authorization: string } | undefined;
  /** Fetches again; true if the result differs from the cached one. */
  refresh(options?: RefreshOptions): Promise<boolean>;
  /** The part of it that may be shown. */
  describe(): string;
}

/** The header for a bearer token. A token that no header can carry is refused without being quoted. */
export function bearer(token: string, place: Partial<ConfigPlace> = {}): string {
  const trimmed = token.trim();
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new ConfigError('the token is empty or holds characters that an HTTP header cannot carry', place);
  }
  return `Bearer ${trimmed}`;
}

/** The header for a user name and password. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}`;
}

/** A header that never changes. */
export function fixedAuthorization(header: string, description: string): AuthorizationSource {
  const hand = { authorization: header };
  return {
    authorization: async () => header,
    tryCached: () => hand,
    refresh: async () => false,
    describe: () => description,
  };
}
