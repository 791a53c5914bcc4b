import { X509Certificate } from 'node:crypto';
import { type Finding, problem, warning } from './finding.js';

const dayMs = 86_400_000;
const soonMs = 14 * dayMs;

/** What is wrong with certificates that expire at these times; the newest one counts. */
export function certificateFindings(
  subject: string,
  expiries: readonly Date[],
  nowMs: number,
  remedy = 'renew it',
): Finding[] {
  const latest = Math.max(...expiries.map((each) => each.getTime()));
  const date = new Date(latest).toISOString().slice(0, 10);
  if (latest < nowMs) return [problem(`${subject} expired on ${date}`, remedy)];
  if (latest - nowMs < soonMs) return [warning(`${subject} expires on ${date}`, remedy)];
  return [];
}

/** When the certificates of a bundle expire. Throws if one is malformed. */
export function bundleExpiries(pem: string): Date[] {
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return certificates.map((each) => new Date(new X509Certificate(each).validTo));
}
