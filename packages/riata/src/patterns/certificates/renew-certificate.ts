import { X509Certificate } from 'node:crypto';
import { type Authority, createAuthority, loadAuthority } from '../../runtime/crypto/x509.js';

/**
 * The data of a service's certificate in a Secret, as PEM: the certificate with that of its authority behind it, the
 * authority with its key, and, while the authority changes, the next one.
 */
export interface CertificateData {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  readonly 'ca.crt'?: string;
  readonly 'ca.key'?: string;
  readonly 'next-ca.crt'?: string;
  readonly 'next-ca.key'?: string;
}

/** How long things are good, in milliseconds. */
export interface CertificateTimes {
  readonly leafMs: number;
  readonly authorityMs: number;
  /** How long clients trust a new authority before it signs anything. */
  readonly overlapMs: number;
}

/** What to do about a certificate now. */
export interface Renewal {
  /** The data to store; undefined if the present one is fine. */
  readonly data: CertificateData | undefined;
  /** When to check again, in milliseconds from now. */
  readonly nextMs: number;
}

/** Clocks of others may be late. */
const backdateMs = 3_600_000;

/**
 * Checks a service's certificate and returns its replacement, if one is due. The certificate is renewed when a third of
 * its life is left, by the same authority, so that clients notice nothing. A new authority is published before it
 * signs: no client gets a certificate of an authority that it does not trust yet.
 */
export function renewCertificate(
  stored: Partial<CertificateData> | undefined,
  hosts: readonly string[],
  now: number,
  times: CertificateTimes,
): Renewal {
  const known = stored === undefined ? undefined : read(stored);
  const state = known ?? fresh(hosts, now, times);
  const renewed = renew(state, hosts, now, times);
  const nextMs = Math.max(dueAt(renewed, times) - now, 1000);
  return { data: renewed === known ? undefined : dataOf(renewed), nextMs };
}

/** The authorities that clients should trust: the one that signs, and the one to come. */
export function trustedAuthorities(data: Partial<CertificateData>): string {
  const own = data['ca.crt'] ?? pemBlocks(data['tls.crt'] ?? '').at(-1) ?? '';
  return own + (data['next-ca.crt'] ?? '');
}

/** The certificate in a Secret. */
interface State {
  readonly leaf: { readonly cert: string; readonly key: string };
  readonly ca: { readonly cert: string; readonly key?: string | undefined };
  readonly next?: { readonly cert: string; readonly key: string } | undefined;
}

function read(data: Partial<CertificateData>): State | undefined {
  const [leaf, ...chain] = pemBlocks(data['tls.crt'] ?? '');
  const ca = data['ca.crt'] ?? chain.at(-1) ?? leaf;
  const key = data['tls.key'];
  if (leaf === undefined || ca === undefined || !key) return undefined;
  try {
    if (!new X509Certificate(leaf).verify(new X509Certificate(ca).publicKey)) return undefined;
    const [cert, nextKey] = [data['next-ca.crt'], data['next-ca.key']];
    if (data['ca.key']) loadAuthority({ cert: ca, key: data['ca.key'] });
    const next = cert && nextKey ? { cert, key: nextKey } : undefined;
    if (next !== undefined) loadAuthority(next);
    return { leaf: { cert: leaf, key }, ca: { cert: ca, key: data['ca.key'] }, next };
  } catch {
    // Whatever it is: no certificate of ours.
    return undefined;
  }
}

function renew(state: State, hosts: readonly string[], now: number, times: CertificateTimes): State {
  const { leaf, ca, next } = state;
  const isUseless = endOf(leaf.cert) <= now || !hasHosts(leaf.cert, hosts);
  if (next !== undefined && (now >= madeAt(next.cert) + times.overlapMs || (isUseless && ca.key === undefined))) {
    return { leaf: issue(loadAuthority(next), hosts, now, times), ca: next };
  }
  const isDue = isUseless || now >= renewalOf(leaf.cert);
  if (isDue && ca.key !== undefined && endOf(ca.cert) > now) {
    const authority = loadAuthority({ cert: ca.cert, key: ca.key });
    return renew({ ...state, leaf: issue(authority, hosts, now, times) }, hosts, now, times);
  }
  if (isUseless) return fresh(hosts, now, times);
  const needsNext = next === undefined && (now >= endOf(ca.cert) - 2 * times.leafMs || (isDue && ca.key === undefined));
  return needsNext ? { ...state, next: identityOf(newAuthority(hosts, now, times)) } : state;
}

function dueAt({ leaf, ca, next }: State, times: CertificateTimes): number {
  if (next !== undefined) return Math.min(madeAt(next.cert) + times.overlapMs, endOf(leaf.cert));
  return Math.min(renewalOf(leaf.cert), endOf(ca.cert) - 2 * times.leafMs);
}

function fresh(hosts: readonly string[], now: number, times: CertificateTimes): State {
  const authority = newAuthority(hosts, now, times);
  return { leaf: issue(authority, hosts, now, times), ca: identityOf(authority) };
}

function newAuthority(hosts: readonly string[], now: number, { authorityMs }: CertificateTimes): Authority {
  // The time in the name keeps the authorities of one service distinct: clients find them in a chain by name.
  const name = `${hosts[0] ?? 'riata'}-ca@${Math.floor(now / 1000)}`;
  return createAuthority(name.slice(-64), {
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + authorityMs),
  });
}

function issue(authority: Authority, hosts: readonly string[], now: number, { leafMs }: CertificateTimes) {
  const notAfter = new Date(Math.min(now + leafMs, endOf(authority.cert)));
  return authority.issue((hosts[0] ?? 'riata').slice(0, 64), hosts, {
    notBefore: new Date(now - backdateMs),
    notAfter,
  });
}

function identityOf({ cert, key }: Authority) {
  return { cert, key };
}

function dataOf({ leaf, ca, next }: State): CertificateData {
  return {
    'tls.crt': leaf.cert + ca.cert,
    'tls.key': leaf.key,
    'ca.crt': ca.cert,
    ...(ca.key === undefined ? {} : { 'ca.key': ca.key }),
    ...(next === undefined ? {} : { 'next-ca.crt': next.cert, 'next-ca.key': next.key }),
  };
}

function pemBlocks(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
}

const endOf = (cert: string): number => Date.parse(new X509Certificate(cert).validTo);
const madeAt = (cert: string): number => Date.parse(new X509Certificate(cert).validFrom) + backdateMs;

/** When two thirds of its life are over. */
function renewalOf(cert: string): number {
  const end = endOf(cert);
  return end - (end - madeAt(cert)) / 3;
}

function hasHosts(cert: string, hosts: readonly string[]): boolean {
  const names = (new X509Certificate(cert).subjectAltName ?? '').split(', ').map((name) => name.replace(/^DNS:/, ''));
  return names.length === hosts.length && hosts.every((host) => names.includes(host));
}
