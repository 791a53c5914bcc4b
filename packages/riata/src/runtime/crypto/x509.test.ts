import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuthority, loadAuthority } from './x509.js';

const validity = { notBefore: new Date('2030-01-01T00:00:00Z'), notAfter: new Date('2060-01-01T00:00:00Z') };

test('an authority and what it signs are certificates that Node takes', () => {
  const authority = createAuthority('riata test', validity);
  const own = new X509Certificate(authority.cert);
  expect([own.ca, own.subject, own.verify(own.publicKey)]).toEqual([true, 'CN=riata test', true]);
  expect([own.validFrom, own.validTo]).toEqual(['Jan  1 00:00:00 2030 GMT', 'Jan  1 00:00:00 2060 GMT']);
  const short = { notBefore: validity.notBefore, notAfter: new Date('2031-01-01T00:00:00Z') };
  const made = new X509Certificate(authority.issue('web', ['web.shop.svc', '10.0.0.1', '::1'], short).cert);
  expect([made.ca, made.checkIssued(own), made.verify(own.publicKey)]).toEqual([false, true, true]);
  expect(made.subjectAltName).toBe('DNS:web.shop.svc, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1');
  expect(made.validTo).toBe('Jan  1 00:00:00 2031 GMT');
});

test('an authority that was kept as text signs as before', () => {
  const authority = createAuthority('riata test', validity);
  const again = loadAuthority({ cert: authority.cert, key: authority.key });
  const made = new X509Certificate(again.issue('web', ['web']).cert);
  const own = new X509Certificate(authority.cert);
  expect([made.checkIssued(own), made.verify(own.publicKey), made.validTo]).toEqual([true, true, own.validTo]);
});

test('a key of another certificate is refused', () => {
  const [one, two] = [createAuthority('one', validity), createAuthority('two', validity)];
  expect(() => loadAuthority({ cert: one.cert, key: two.key })).toThrow('the key does not match the certificate');
});
