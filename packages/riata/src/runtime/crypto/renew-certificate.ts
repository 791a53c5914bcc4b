import { Buffer } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type Authority, createAuthority, loadAuthority } from './x509.js';

/**
 * The data of a service's certificate in a Secret, as PEM: the certificate with that of its authority behind it, the
 * authority with its key, and, while the authority changes, the next one and then the one before.
 */
export interface CertificateData {
  readonly 'tls.crt': string;
  readonly 'tls.key': string;
  readonly 'ca.crt'?: string;
  readonly 'ca.key'?: string;
  readonly 'next-ca.crt'?: string;
  readonly 'next-ca.key'?: string;
  readonly 'previous-ca.crt'?: string;
}

/** How long things are good, in milliseconds. */
export interface CertificateTimes {
  readonly leafMs: number;
  readonly authorityMs: number;
  /** How long clients trust a new authority before it signs anything, and an old one after its last certificate is replaced. */
  readonly overlapMs: number;
}

/** What to do about a certificate now. */
export interface Renewal {
  /** The data to store; undefined if the present one is fine. */
  readonly data: CertificateData | undefined;
  /** When to check again, in milliseconds from now. */
  readonly nextMs: number;
}

/** What else decides on a renewal. */
export interface RenewalOptions {
  /** Whether all clients trust the next authority already: before, it does not sign. @default true */
  readonly isPublished?: boolean;
  /** Makes a new authority now, though the present one is good. @default false */
  readonly rotate?: boolean;
}

/** When a next authority that is not published yet is looked at again. */
const unpublishedMs = 1000;

/** Clocks of others may be late. */
const backdateMs = 3_600_000;

/**
 * Checks a service's certificate and returns its replacement, if one is due. The certificate is renewed when a third of
 * its life is left, by the same authority, so that clients notice nothing. A new authority is published before it
 * signs, and the old one is trusted for a while after that: no client gets a certificate of an authority that it does
 * not trust yet, or no longer.
 */
export function renewCertificate(
  stored: Partial<CertificateData> | undefined,
  hosts: readonly string[],
  now: number,
  times: CertificateTimes,
  options: RenewalOptions = {},
): Renewal {
  const known = stored === undefined ? undefined : read(stored);
  const state = known ?? fresh(hosts, now, times);
  const renewed = renew(state, hosts, now, times, options);
  const nextMs = Math.max(dueAt(renewed, times) - now, unpublishedMs);
  return { data: renewed === known ? undefined : dataOf(renewed), nextMs };
}

/** The authorities that clients should trust: the one that signs, the one to come, and the one before. */
export function trustedAuthorities(data: Partial<CertificateData>): string {
  const own = data['ca.crt'] ?? pemBlocks(data['tls.crt'] ?? '').at(-1) ?? '';
  return own + (data['next-ca.crt'] ?? '') + (data['previous-ca.crt'] ?? '');
}

/** Whether there is a certificate that belongs to its key and authority; it may have expired. */
export function isCertificateData(data: Partial<CertificateData>): data is CertificateData {
  return read(data) !== undefined;
}

/** As the `data` of a Secret. */
export function encodeCertificateData(data: CertificateData): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, pem]) => [key, Buffer.from(pem).toString('base64')]));
}

/** From the `data` of a Secret. */
export function decodeCertificateData(data: Readonly<Record<string, string>> = {}): Partial<CertificateData> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
}

/** The certificate in a Secret. */
interface State {
  readonly leaf: { readonly cert: string; readonly key: string };
  readonly ca: { readonly cert: string; readonly key?: string | undefined };
  readonly next?: { readonly cert: string; readonly key: string } | undefined;
  /** The authority before this one. */
  readonly previous?: string | undefined;
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
    const previous = data['previous-ca.crt'] || undefined;
    return { leaf: { cert: leaf, key }, ca: { cert: ca, key: data['ca.key'] }, next, previous };
  } catch {
    // Whatever it is: no certificate of ours.
    return undefined;
  }
}

function renew(
  state: State,
  hosts: readonly string[],
  now: number,
  times: CertificateTimes,
  options: RenewalOptions,
): State {
  const { leaf, ca, next, previous } = state;
  const { isPublished = true, rotate = false } = options;
  const isUseless = endOf(leaf.cert) <= now || !hasHosts(leaf.cert, hosts);
  const mayNextSign = next !== undefined && isPublished && now >= madeAt(next.cert) + times.overlapMs;
  if (next !== undefined && (mayNextSign || (isUseless && ca.key === undefined))) {
    return { leaf: issue(loadAuthority(next), hosts, now, times), ca: next, previous: ca.cert };
  }
  const isDue = isUseless || now >= renewalOf(leaf.cert);
  if (isDue && ca.key !== undefined && endOf(ca.cert) > now) {
    const authority = loadAuthority({ cert: ca.cert, key: ca.key });
    return renew({ ...state, leaf: issue(authority, hosts, now, times) }, hosts, now, times, options);
  }
  if (isUseless) return fresh(hosts, now, times);
  if (previous !== undefined && now >= madeAt(leaf.cert) + times.overlapMs) {
    return renew({ ...state, previous: undefined }, hosts, now, times, options);
  }
  const isEnding = now >= endOf(ca.cert) - 2 * times.leafMs || (isDue && ca.key === undefined);
  const needsNext = next === undefined && (isEnding || (rotate && previous === undefined));
  return needsNext ? { ...state, next: identityOf(newAuthority(hosts, now, times)) } : state;
}

function dueAt({ leaf, ca, next, previous }: State, times: CertificateTimes): number {
  const forgotten = previous === undefined ? Number.POSITIVE_INFINITY : madeAt(leaf.cert) + times.overlapMs;
  if (next !== undefined) return Math.min(madeAt(next.cert) + times.overlapMs, endOf(leaf.cert), forgotten);
  return Math.min(renewalOf(leaf.cert), endOf(ca.cert) - 2 * times.leafMs, forgotten);
}

function fresh(hosts: readonly string[], now: number, times: CertificateTimes): State {
  const authority = newAuthority(hosts, now, times);
  return { leaf: issue(authority, hosts, now, times), ca: identityOf(authority) };
}

function newAuthority(hosts: readonly string[], now: number, { authorityMs }: CertificateTimes): Authority {
  // The time in the name keeps the authorities of one service distinct: clients find them in a chain by name.
  const name = `${hosts[0] ?? 'riata'}-ca@${Math.floor(now / 1000)}`;
  return createAuthority(name.slice(-64), {
    notBefore: backdated(now),
    notAfter: new Date(now + authorityMs),
  });
}

function issue(authority: Authority, hosts: readonly string[], now: number, { leafMs }: CertificateTimes) {
  const notAfter = new Date(Math.min(now + leafMs, endOf(authority.cert)));
  return authority.issue((hosts[0] ?? 'riata').slice(0, 64), hosts, { notBefore: backdated(now), notAfter });
}

/** Certificates have whole seconds: the next one, so that an overlap is never shorter than it should be. */
const backdated = (now: number): Date => new Date(Math.ceil((now - backdateMs) / 1000) * 1000);

function identityOf({ cert, key }: Authority) {
  return { cert, key };
}

function dataOf({ leaf, ca, next, previous }: State): CertificateData {
  return {
    'tls.crt': leaf.cert + ca.cert,
    'tls.key': leaf.key,
    'ca.crt': ca.cert,
    ...(ca.key === undefined ? {} : { 'ca.key': ca.key }),
    ...(next === undefined ? {} : { 'next-ca.crt': next.cert, 'next-ca.key': next.key }),
    ...(previous === undefined ? {} : { 'previous-ca.crt': previous }),
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
  const own = new X509Certificate(cert);
  const names = (own.subjectAltName ?? '').split(', ').filter((name) => name !== '');
  const isFor = (host: string) => (isIP(host) ? own.checkIP(host) : own.checkHost(host)) !== undefined;
  return names.length === hosts.length && hosts.every(isFor);
}
