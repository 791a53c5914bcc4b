import { formatTime } from '../../object/time.js';
import type { Pem } from '../config/rest-config.js';

/** The problem of a bundle of CA certificates, or undefined. A bundle that was cut off while being written has one. */
export async function bundleProblem(pem: string): Promise<string | undefined> {
  const { X509Certificate } = await import('node:crypto');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) return 'holds no PEM certificate';
  if (blocks.length < pem.split('-----BEGIN CERTIFICATE-----').length - 1) return 'ends in the middle of a certificate';
  for (const [i, block] of blocks.entries()) {
    try {
      new X509Certificate(block);
    } catch {
      return `certificate ${i + 1} of ${blocks.length} cannot be parsed`;
    }
  }
  return undefined;
}

/** The problem of a private key, or of the pair with its certificate, or undefined. */
export async function pairProblem(cert: string, key: string): Promise<string | undefined> {
  const { createPrivateKey, X509Certificate } = await import('node:crypto');
  const problem = await bundleProblem(cert);
  if (problem !== undefined) return `the client certificate ${problem}`;
  if (/^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(key)) {
    return 'the client key is encrypted; give it without a passphrase';
  }
  try {
    // The first certificate is ours; those after it lead to the root.
    const matches = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    return matches ? undefined : 'the client key does not belong to the client certificate';
  } catch {
    return 'the client key holds no PEM private key';
  }
}

/** The problem of the validity period of a client certificate, or undefined. `now` is wall time. */
export async function validityProblem(cert: Pem, now: number): Promise<string | undefined> {
  const { X509Certificate } = await import('node:crypto');
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  if (now > to) return `the client certificate expired on ${formatTime(to)}; renew it`;
  if (now < from) return `the client certificate is valid only from ${formatTime(from)}; is the clock here right?`;
  return undefined;
}
