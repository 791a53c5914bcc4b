import { type Authority, createAuthority, systemClock } from 'riata/runtime';

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

/** Makes the authority of a server. Clients verify certificates by real time, whatever the clock of the server says. */
export function newAuthority(): Authority {
  const now = systemClock.now();
  return createAuthority('riata-apiserver authority', {
    notBefore: new Date(now - dayMs),
    notAfter: new Date(now + certificateDays * dayMs),
  });
}
