import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { systemClock } from '../index.js';
import { type CertificateData, renewCertificate, trustedAuthorities } from './renew-certificate.js';

const day = 86_400_000;
const times = { leafMs: 90 * day, authorityMs: 3650 * day, overlapMs: day };
const hosts = ['web.shop.svc', 'web.shop'];
const start = Date.parse('2030-01-01T00:00:00Z');

function renewed(data: CertificateData | undefined, at: number, names = hosts): CertificateData {
  const { data: next } = renewCertificate(data, names, at, times);
  if (next === undefined) throw new Error('nothing to do');
  return next;
}

const isTrusted = (data: CertificateData, by: string): boolean => {
  const leaf = new X509Certificate(data['tls.crt']);
  const authorities = by.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n?/g) ?? [];
  return authorities.some(
    (cert) => leaf.checkIssued(new X509Certificate(cert)) && leaf.verify(new X509Certificate(cert).publicKey),
  );
};

test('a new one is good for its names, and is left alone until a third of its life is left', () => {
  const first = renewed(undefined, start);
  const leaf = new X509Certificate(first['tls.crt']);
  expect(leaf.subjectAltName).toBe('DNS:web.shop.svc, DNS:web.shop');
  expect(isTrusted(first, trustedAuthorities(first))).toBe(true);
  const { data, nextMs } = renewCertificate(first, hosts, start, times);
  expect([data, nextMs]).toEqual([undefined, 60 * day]);
  expect(renewCertificate(first, [...hosts].reverse(), start + 59 * day, times).data).toBeUndefined();
});

test('rancher#52097: it is renewed in time, by the same authority: clients notice nothing', () => {
  const first = renewed(undefined, start);
  const second = renewed(first, start + 60 * day);
  expect(second['ca.crt']).toBe(first['ca.crt']);
  expect(second['tls.crt']).not.toBe(first['tls.crt']);
  expect(isTrusted(second, trustedAuthorities(first))).toBe(true);
  expect(new X509Certificate(second['tls.crt']).validTo).toBe('May 31 00:00:00 2030 GMT');
});

test('other names get another certificate at once', () => {
  const first = renewed(undefined, start);
  const second = renewed(first, start + day, ['other.shop.svc']);
  expect(new X509Certificate(second['tls.crt']).subjectAltName).toBe('DNS:other.shop.svc');
  expect(second['ca.crt']).toBe(first['ca.crt']);
});

test('rancher#44584: through the years no client gets a certificate of an authority that it does not trust yet', () => {
  const short = { ...times, authorityMs: 500 * day };
  let data = renewCertificate(undefined, hosts, start, short).data as CertificateData;
  let reported = trustedAuthorities(data);
  let [authorities, turns] = [1, 0];
  for (let now = start; now < start + 3 * 365 * day; turns += 1) {
    const { data: next, nextMs } = renewCertificate(data, hosts, now, short);
    if (next !== undefined) {
      if (next['ca.crt'] !== data['ca.crt']) authorities += 1;
      data = next;
      // Clients still have the last bundle, and read the new one a moment later.
      expect(isTrusted(data, reported)).toBe(true);
      reported = trustedAuthorities(data);
    }
    expect(Date.parse(new X509Certificate(data['tls.crt']).validTo)).toBeGreaterThan(now);
    now += next === undefined ? nextMs : 1000;
  }
  expect(authorities).toBe(4);
  expect(turns).toBeLessThan(100);
});

test('what wrangler has made is kept while it is good, and followed by one of ours', () => {
  const { 'ca.key': _key, 'ca.crt': _crt, ...wrangler } = renewed(undefined, start);
  expect(renewCertificate(wrangler, hosts, start + day, times).data).toBeUndefined();
  const reported = renewed(wrangler, start + 61 * day);
  expect(reported['tls.crt']).toBe(wrangler['tls.crt']);
  expect(reported['next-ca.crt']).toBeDefined();
  const ours = renewed(reported, start + 62 * day);
  expect(isTrusted(ours, trustedAuthorities(reported))).toBe(true);
});

test('a missing, malformed or expired certificate is replaced', () => {
  const first = renewed(undefined, start);
  expect(renewed({ 'tls.crt': 'nonsense', 'tls.key': 'x' }, start)['ca.crt']).toBeDefined();
  expect(renewed({ ...first, 'ca.key': 'x' }, start)['ca.crt']).not.toBe(first['ca.crt']);
  const late = renewed(first, start + 4000 * day);
  expect(Date.parse(new X509Certificate(late['tls.crt']).validTo)).toBeGreaterThan(start + 4000 * day);
});

test('a TLS client that trusts the authorities takes it', async () => {
  const data = renewed(undefined, systemClock.now());
  const { 'tls.crt': cert, 'tls.key': key } = data;
  const server = createServer({ cert, key }, (_, response) => response.end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername: 'web.shop.svc', ca: trustedAuthorities(data) });
  await new Promise((resolve, reject) => socket.once('secureConnect', () => resolve(undefined)).once('error', reject));
  expect(socket.authorized).toBe(true);
  socket.destroy();
  server.close();
});

test('an address is as good as a name', () => {
  const addresses = ['127.0.0.1', '::1', 'localhost'];
  const first = renewed(undefined, start, addresses);
  expect(renewCertificate(first, addresses, start, times).data).toBeUndefined();
  expect(renewCertificate(first, ['127.0.0.2', '::1', 'localhost'], start, times).data).toBeDefined();
});

test('on request the authority changes: published first, then it signs, then the old one is forgotten', () => {
  const first = renewed(undefined, start);
  const { data: second } = renewCertificate(first, hosts, start, times, { rotate: true });
  if (second === undefined) throw new Error('nothing to do');
  expect(second).toMatchObject({ 'tls.crt': first['tls.crt'], 'ca.crt': first['ca.crt'] });
  expect(trustedAuthorities(second)).toBe(`${first['ca.crt']}${second['next-ca.crt']}`);
  // Requested twice, it changes once.
  expect(renewCertificate(second, hosts, start, times, { rotate: true }).data).toBeUndefined();
  const unpublished = renewCertificate(second, hosts, start + 2 * day, times, { isPublished: false });
  expect(unpublished).toEqual({ data: undefined, nextMs: 1000 });
  const third = renewed(second, start + 2 * day);
  expect(third['ca.crt']).toBe(second['next-ca.crt']);
  expect(isTrusted(third, trustedAuthorities(second))).toBe(true);
  // A replica that still has the last certificate is trusted, too.
  expect(isTrusted(second, trustedAuthorities(third))).toBe(true);
  expect(renewCertificate(third, hosts, start + 2 * day, times).nextMs).toBe(day);
  const fourth = renewed(third, start + 3 * day);
  expect(trustedAuthorities(fourth)).toBe(third['ca.crt']);
  expect(fourth['tls.crt']).toBe(third['tls.crt']);
});
