import type { ServingCertificate } from '../server/https-listener.js';

/** What a webhook server and its configurations need of certificates. */
export interface ServedCertificates {
  readonly serving: ServingCertificate;
  /** The authorities that API servers have to trust, in PEM; undefined if this program does not write them. */
  readonly authorities: string | undefined;
}

/** Where a webhook server gets its certificates from. */
export interface CertificateSource {
  /** The first ones. Waits for a server that cannot be reached; rejects with the remedy for what waiting does not mend. */
  load(options: { readonly signal: AbortSignal }): Promise<ServedCertificates>;
  /** Calls `use` with new ones until the signal aborts. After `load`. */
  follow(use: (next: ServedCertificates) => void, options: { readonly signal: AbortSignal }): Promise<void>;
  /** Replaces authority and certificate, though they are good. @default they cannot be replaced from here */
  rotate?(): void;
  /** Something may have changed that it waits for: authorities are published. */
  wake?(): void;
}
