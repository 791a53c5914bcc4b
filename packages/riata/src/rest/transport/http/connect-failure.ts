import type { PeerCertificate } from 'node:tls';
import type { TransportErrorKind } from '../../errors/transport-error.js';
import { errorCode } from '../../errors/transport-error.js';

/** Why no connection could be opened, worded so that a request can put its own method and URL before it. */
export class ConnectFailure extends Error {
  readonly kind: TransportErrorKind;
  readonly code = 'RIATA_CONNECT_FAILURE';

  constructor(kind: TransportErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** What is known about a failed connection beside the error itself. */
export interface ConnectContext {
  /** `host:port` that was dialled. */
  readonly address: string;
  /** The peer's name in the message: `the API server` or `the proxy`. */
  readonly peer: string;
  /** The setting where a wrong address would be corrected. */
  readonly field: string;
  /** The name that the certificate was checked against. */
  readonly verifyName?: string;
  /** The peer's certificate, if the handshake came that far. */
  readonly certificate?: PeerCertificate;
  /** Wall time, to find the expired certificate of a chain. */
  readonly now: number;
}

/** Puts an error of dialling or of the TLS handshake into words. */
export function connectFailure(error: unknown, context: ConnectContext): ConnectFailure {
  const { address, peer, field } = context;
  const code = errorCode(error);
  switch (code) {
    case 'ECONNREFUSED':
      return new ConnectFailure(
        'connect-refused',
        `connection refused by ${address}; is ${peer} running, and is ${field} right?`,
        error,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
    case 'EAI_FAIL':
      return new ConnectFailure(
        'dns',
        `the host of ${address} cannot be resolved (${code}); is ${field} right?`,
        error,
      );
    case 'ETIMEDOUT':
      return new ConnectFailure('connect-timeout', `${address} did not answer in time`, error);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
    case 'EACCES':
    case 'EPERM':
      return new ConnectFailure('unreachable', `${address} cannot be reached from here (${code})`, error);
    case 'ECONNRESET':
    case 'EPIPE':
      return new ConnectFailure('reset', `${peer} at ${address} cut the connection while it was being set up`, error);
  }
  return tlsFailure(error, code ?? '', context) ?? new ConnectFailure('unknown', describeFailure(error), error);
}

function tlsFailure(error: unknown, code: string, context: ConnectContext): ConnectFailure | undefined {
  const text = tlsMessage(code, context);
  if (text) return new ConnectFailure('tls', text, error);
  // OpenSSL's verification results have no common prefix, so anything left that names a certificate is taken for one.
  const isTls =
    /^ERR_(SSL|TLS|OSSL)_/.test(code) || /CERT|CRL|ISSUER|^INVALID_(CA|PURPOSE)$|PATH_LENGTH|HOSTNAME/.test(code);
  if (!isTls) return undefined;
  return new ConnectFailure(
    'tls',
    `TLS with ${context.peer} at ${context.address} failed: ${describeFailure(error)}`,
    error,
  );
}

function tlsMessage(code: string, context: ConnectContext): string | undefined {
  const { address, peer, verifyName, certificate, now } = context;
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return (
        `the certificate of ${peer} at ${address} is not valid for "${verifyName}", only for ${names(certificate)}; ` +
        'connect by one of these, or set tls-server-name to one'
      );
    case 'CERT_HAS_EXPIRED': {
      const bad = findInChain(certificate, (cert) => Date.parse(cert.valid_to) < now);
      return `the certificate ${title(bad)}of ${peer} at ${address} expired${at(bad?.valid_to)}; it must be renewed (or this machine's clock is wrong)`;
    }
    case 'CERT_NOT_YET_VALID': {
      const bad = findInChain(certificate, (cert) => Date.parse(cert.valid_from) > now);
      return `the certificate ${title(bad)}of ${peer} at ${address} is not valid yet, only from${at(bad?.valid_from)}; is this machine's clock right?`;
    }
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'CERT_UNTRUSTED':
    case 'CERT_SIGNATURE_FAILURE':
      return (
        `the certificate of ${peer} at ${address} ${signedBy(code, certificate)}, which is not trusted here (${code}); ` +
        'set certificate-authority or certificate-authority-data to the CA that signed it'
      );
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'ERR_SSL_HTTP_REQUEST':
      return `${peer} at ${address} does not speak TLS on this port; use http:// if it serves plain HTTP`;
  }
  return undefined;
}

const alerts: readonly (readonly [RegExp, string])[] = [
  [
    /ALERT_CERTIFICATE_REQUIRED|ALERT_HANDSHAKE_FAILURE/,
    'it may require a client certificate; set client-certificate and client-key',
  ],
  [/ALERT_CERTIFICATE_EXPIRED/, 'the client certificate has expired; renew it'],
  [/ALERT_CERTIFICATE_REVOKED/, 'the client certificate was revoked; get a new one'],
  [/ALERT_UNKNOWN_CA/, 'it does not know the CA that signed the client certificate'],
  [
    /ALERT_(BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/,
    'it refused the client certificate',
  ],
  [/ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, 'the two sides share no version of TLS'],
];

/** The meaning of a TLS alert from the peer, where it helps the user. */
function explainAlert(code: string): string | undefined {
  return alerts.find(([pattern]) => pattern.test(code))?.[1];
}

/** An error in a few words, with its code and what the code means if it is a TLS alert. */
export function describeFailure(error: unknown): string {
  const code = errorCode(error);
  const hint = code && explainAlert(code);
  // OpenSSL's message has file names and a line break; its reason is the words alone.
  const { reason } = Object(error) as { reason?: unknown };
  const message = typeof reason === 'string' ? reason : error instanceof Error ? error.message : String(error);
  const text = code && !message.includes(code) ? `${message} (${code})` : message;
  return hint ? `${text}; ${hint}` : text;
}

function names(certificate: PeerCertificate | undefined): string {
  return certificate?.subjectaltname || commonName(certificate?.subject) || 'no name at all';
}

function commonName(holder: PeerCertificate['subject'] | undefined): string | undefined {
  return holder?.CN ? String(holder.CN) : undefined;
}

function title(certificate: PeerCertificate | undefined): string {
  const name = commonName(certificate?.subject);
  return name ? `"${name}" ` : '';
}

function at(time: string | undefined): string {
  const ms = time ? Date.parse(time) : Number.NaN;
  return Number.isNaN(ms) ? '' : ` ${new Date(ms).toISOString()}`;
}

function signedBy(code: string, certificate: PeerCertificate | undefined): string {
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT') return `${title(certificate)}is signed by itself`;
  const issuer = commonName(certificate?.issuer);
  return issuer ? `is signed by "${issuer}"` : 'is signed by a CA';
}

/** The certificate that is to blame: the first of the chain that `matches`, else the peer's own. */
function findInChain(
  leaf: PeerCertificate | undefined,
  matches: (certificate: PeerCertificate) => boolean,
): PeerCertificate | undefined {
  const seen = new Set<unknown>();
  let current = leaf as (PeerCertificate & { issuerCertificate?: PeerCertificate }) | undefined;
  while (current?.valid_to && !seen.has(current)) {
    if (matches(current)) return current;
    seen.add(current);
    current = current.issuerCertificate;
  }
  return leaf;
}
