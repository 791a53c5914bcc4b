import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { type ConnectionOptions, connect, createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { createAuthority, issueCertificate } from './x509.mjs';

const authority = createAuthority('test authority');

describe('what node:crypto reads', () => {
  test('an authority is a CA that signed itself', () => {
    const ca = new X509Certificate(authority.cert);
    expect(ca.ca).toBe(true);
    expect(ca.subject).toBe('CN=test authority');
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(ca.checkIssued(ca)).toBe(true);
  });

  test('a leaf names its issuer, and the key is its own', () => {
    const leaf = issueCertificate({
      commonName: 'admin',
      organizations: ['system:masters', 'équipe'],
      issuer: authority,
    });
    const certificate = new X509Certificate(leaf.cert);
    const ca = new X509Certificate(authority.cert);
    expect(certificate.ca).toBe(false);
    expect(certificate.toLegacyObject().subject).toMatchObject({ CN: 'admin', O: ['system:masters', 'équipe'] });
    expect(certificate.checkIssued(ca)).toBe(true);
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(leaf.key))).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(authority.key))).toBe(false);
  });

  test('names and addresses', () => {
    const ipAddresses = ['127.0.0.1', '::1', '2001:DB8::a:0:0:1', '::ffff:10.0.0.1', '1:2:3:4:5:6:7:8'];
    const { cert } = issueCertificate({ commonName: 'server', dnsNames: ['localhost', '*.example.test'], ipAddresses });
    const certificate = new X509Certificate(cert);
    for (const address of ipAddresses) expect(certificate.checkIP(address), address).toBe(address);
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkHost('a.example.test')).toBe('*.example.test');
    expect(certificate.checkHost('example.test')).toBeUndefined();
    expect(() => issueCertificate({ commonName: 'x', ipAddresses: ['localhost'] })).toThrow('got "localhost"');
  });

  test.each([
    '1970-01-02T03:04:05.000Z',
    '2026-02-28T23:59:59.000Z',
    '2049-12-31T23:59:59.000Z',
    '2050-01-01T00:00:00.000Z',
  ])('a validity that ends at %s', (end) => {
    const { cert } = issueCertificate({ commonName: 'x', notBefore: new Date(1000), notAfter: new Date(end) });
    const certificate = new X509Certificate(cert);
    expect(new Date(certificate.validFrom)).toEqual(new Date(1000));
    expect(new Date(certificate.validTo).toISOString()).toBe(end);
  });

  test('serial numbers differ', () => {
    const serials = Array.from({ length: 20 }, () => {
      return new X509Certificate(issueCertificate({ commonName: 'x', issuer: authority }).cert).serialNumber;
    });
    expect(new Set(serials).size).toBe(20);
  });
});

describe('a real TLS handshake', () => {
  const server = issueCertificate({
    commonName: 'server',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    issuer: authority,
  });

  test('a server under our authority is trusted by name and by address', async () => {
    expect(await handshake(server, { ca: authority.cert, servername: 'localhost' })).toMatchObject({ ok: true });
    expect(await handshake(server, { ca: authority.cert })).toMatchObject({ ok: true });
  });

  test('through an intermediate authority', async () => {
    const middle = createAuthority('middle', { issuer: authority });
    const leaf = issueCertificate({ commonName: 'server', ipAddresses: ['127.0.0.1'], issuer: middle });
    const chained = { ...leaf, cert: leaf.cert + middle.cert };
    expect(await handshake(chained, { ca: authority.cert })).toMatchObject({ ok: true });
    expect(await handshake(leaf, { ca: authority.cert })).toMatchObject({ error: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  });

  test.each([
    ['another name', server, { servername: 'example.test' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [
      'another authority of the same name',
      server,
      { ca: createAuthority('test authority').cert },
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    ['an expired certificate', leafOf({ notAfter: new Date(Date.now() - 1000) }), {}, 'CERT_HAS_EXPIRED'],
    ['a certificate of tomorrow', leafOf({ notBefore: new Date(Date.now() + 3_600_000) }), {}, 'CERT_NOT_YET_VALID'],
    ['a client certificate as server', leafOf({ usages: ['client'] }), {}, 'INVALID_PURPOSE'],
  ])('%s is refused', async (_, identity, options, error) => {
    expect(await handshake(identity, { ca: authority.cert, ...options })).toMatchObject({ error });
  });

  test('a client certificate arrives with user and groups', async () => {
    const client = issueCertificate({
      commonName: 'jane',
      organizations: ['developers'],
      usages: ['client'],
      issuer: authority,
    });
    const asked = { requestCert: true, rejectUnauthorized: true, ca: authority.cert };
    const result = await handshake(server, { ca: authority.cert, ...client }, asked);
    expect(result).toMatchObject({ ok: true, clientSubject: { CN: 'jane', O: 'developers' } });
  });
});

function leafOf(options: Partial<Parameters<typeof issueCertificate>[0]>) {
  return issueCertificate({ commonName: 'leaf', ipAddresses: ['127.0.0.1'], issuer: authority, ...options });
}

async function handshake(
  identity: { cert: string; key: string },
  clientOptions: ConnectionOptions,
  serverOptions: TlsOptions = {},
) {
  let clientSubject: unknown;
  const server = createServer({ ...identity, ...serverOptions }, (socket: TLSSocket) => {
    clientSubject = { ...socket.getPeerCertificate().subject };
    socket.end('hello');
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port, ...clientOptions });
      socket.on('error', (error: NodeJS.ErrnoException) => resolve({ error: error.code }));
      socket.on('data', () => resolve({ ok: true, clientSubject }));
      socket.on('close', () => resolve({ error: 'closed' }));
    });
  } finally {
    server.close();
  }
}
