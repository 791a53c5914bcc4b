import type { Buffer } from 'node:buffer';
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Why a certificate and a key do not go together, in the words of Go's `tls.X509KeyPair`; undefined if they do. */
export function tlsPairProblem(certificate: Buffer, key: Buffer): string | undefined {
  const certificates = blocksOf(certificate);
  const found = certificates.find(({ type }) => type === 'CERTIFICATE');
  if (found === undefined) return missing(certificates, 'certificate', '"CERTIFICATE" PEM block');
  const keys = blocksOf(key);
  const privateKey = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'));
  if (privateKey === undefined) return missing(keys, 'key', 'PEM block with type ending in "PRIVATE KEY"');
  try {
    const matches = new X509Certificate(found.text).checkPrivateKey(createPrivateKey(privateKey.text));
    return matches ? undefined : 'tls: private key does not match public key';
  } catch {
    return 'tls: failed to parse private key';
  }
}

function missing(blocks: readonly { readonly type: string }[], what: string, expected: string): string {
  if (blocks.length === 0) return `tls: failed to find any PEM data in ${what} input`;
  const types = blocks.map(({ type }) => type).join(' ');
  return `tls: failed to find ${expected} in ${what} input after skipping PEM blocks of the following types: [${types}]`;
}

function blocksOf(bytes: Buffer): { readonly type: string; readonly text: string }[] {
  const blocks = bytes.toString('latin1').matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g);
  return [...blocks].map(([text, type = '']) => ({ type, text }));
}
