import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { readCertificateRequest } from './certificate-request.js';
import { createAuthority } from './x509.js';

/** O=system:nodes, CN=system:node:worker, with the names worker.example.com and 10.1.2.3; made by openssl. */
const text = `-----BEGIN CERTIFICATE REQUEST-----
MIIBJDCBzAIBADA0MRUwEwYDVQQKDAxzeXN0ZW06bm9kZXMxGzAZBgNVBAMMEnN5
c3RlbTpub2RlOndvcmtlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABET8Oj43
zgI2Cy3JoRugDm1Trr0e84dlRuHgnE1X7i0RpENzwZAcGD9mOJGkQZX364iRR5uf
PdjRRXw9qX/X9B6gNjA0BgkqhkiG9w0BCQ4xJzAlMCMGA1UdEQQcMBqCEndvcmtl
ci5leGFtcGxlLmNvbYcECgECAzAKBggqhkjOPQQDAgNHADBEAiAlLq8UUjg/Wzps
eZSym4sSOX3PVjaaT5bGobjRw8I95gIgVXynv11V8JVch3X+4UKNbIPUvcGsBCfx
+vexwlUVIPE=
-----END CERTIFICATE REQUEST-----
`;

test('reads the subject, the names and the key of a request', () => {
  expect(readCertificateRequest(text)).toMatchObject({
    ...{ commonName: 'system:node:worker', organizations: ['system:nodes'] },
    ...{ dnsNames: ['worker.example.com'], ipAddresses: 1, emailAddresses: [], uris: [] },
  });
});

test('an authority signs a request: subject, names, usages and validity, no longer than its own', () => {
  const validity = { notBefore: new Date('2030-01-01T00:00:00Z'), notAfter: new Date('2040-01-01T00:00:00Z') };
  const authority = createAuthority('riata test', validity);
  const request = readCertificateRequest(text);
  const usages = ['digital signature', 'decipher only', 'server auth', 'client auth'];
  const sign = (notAfter: string) =>
    new X509Certificate(
      authority.sign(request, { usages, notBefore: validity.notBefore, notAfter: new Date(notAfter) }),
    );
  const own = new X509Certificate(authority.cert);
  const [made, late] = [sign('2031-01-01T00:00:00Z'), sign('2050-01-01T00:00:00Z')];
  expect([made.ca, made.checkIssued(own), made.verify(own.publicKey)]).toEqual([false, true, true]);
  expect(made.subject).toBe('O=system:nodes\nCN=system:node:worker');
  expect(made.subjectAltName).toBe('DNS:worker.example.com, IP Address:10.1.2.3');
  expect(made.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
  expect([made.validTo, late.validTo]).toEqual(['Jan  1 00:00:00 2031 GMT', 'Jan  1 00:00:00 2040 GMT']);
  expect(made.serialNumber).not.toBe(late.serialNumber);
});

test('a malformed request is refused with a SyntaxError, cut anywhere or changed', () => {
  expect(() => readCertificateRequest('')).toThrow('PEM block type must be CERTIFICATE REQUEST');
  const [, base64 = ''] = /REQUEST-----([^-]*)-----END/.exec(text) ?? [];
  const der = Buffer.from(base64, 'base64');
  const pem = (bytes: Buffer) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  for (let length = 0; length < der.length; length += 1) {
    expect(() => readCertificateRequest(pem(der.subarray(0, length)))).toThrow(SyntaxError);
  }
  for (let at = 0; at < der.length; at += 1) {
    const changed = Buffer.from(der);
    changed[at] = (changed[at] ?? 0) ^ 0xff;
    try {
      readCertificateRequest(pem(changed));
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
    }
  }
});
