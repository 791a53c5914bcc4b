import { type Authority, createAuthority, systemClock, type Validity } from 'riata/runtime';

const certificateDays = 365;
const dayMs = 24 * 60 * 60 * 1000;

/** The names and addresses of servers on this machine, and in a cluster. */
const certificateHosts: readonly string[] = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];

/** Everything that the certificate of a server on a host is for. */
export function certificateNames(host: string): readonly string[] {
  return [...new Set([host, ...certificateHosts])].filter((name) => name !== '0.0.0.0' && name !== '::');
}

/** Makes the authority of a server. */
export function newAuthority(days: number = certificateDays): Authority {
  return createAuthority('riata-apiserver authority', validFor(days));
}

/** How long the certificate of a server is valid: some clients refuse those that are good for many years. */
export function serverValidity(): Validity {
  return validFor(certificateDays);
}

/** Clients verify certificates by real time, whatever the clock of the server says. */
function validFor(days: number): Validity {
  const now = systemClock.now();
  return { notBefore: new Date(now - dayMs), notAfter: new Date(now + days * dayMs) };
}
