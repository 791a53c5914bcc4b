import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import type { Credentials, RestConfig, TlsMaterial } from 'riata/rest';
import { defaultTransport, isTlsError, isTransportError, type TransportError } from 'riata/rest';
import { describe, expect, test } from 'vitest';
import { createAuthority, issueCertificate } from '../../../tools/control-plane/x509.mjs';
import { startFaultServer } from './fault-server.js';
import { startExchange } from './start-exchange.js';

const authority = createAuthority('fault-ca');
const good = issueCertificate({ commonName: 'apiserver', ipAddresses: ['127.0.0.1'], issuer: authority });
const ca = authority.cert;

const hello = startFaultServer.bind(undefined, (request, reply) => reply.send(200, `hello ${request.user}`));

function credentials(material: () => TlsMaterial): Credentials {
  return { authorization: async () => undefined, tls: async () => material(), refresh: async () => false };
}

function trusting(server: string, material: TlsMaterial = { ca }): RestConfig {
  return { server, credentials: credentials(() => material) };
}

async function failureOf(config: RestConfig): Promise<TransportError> {
  await using transport = defaultTransport(config);
  const error = await startExchange(transport, { path: '/api' }).failure;
  if (!isTransportError(error)) throw error;
  expect(isTlsError(error)).toBe(true);
  expect(error.requestSent).toBe(false);
  return error;
}

describe("the server's certificate", () => {
  test('is accepted by address, and by tls-server-name', async () => {
    await using server = await hello({ tls: good });
    await using transport = defaultTransport(trusting(server.url));
    expect(`${await startExchange(transport).completed}`).toBe('hello undefined');
    const named = issueCertificate({ commonName: 'x', dnsNames: ['kubernetes.default'], issuer: authority });
    await using other = await hello({ tls: named });
    await using byName = defaultTransport({ ...trusting(other.url), tlsServerName: 'kubernetes.default' });
    expect(`${await startExchange(byName).completed}`).toBe('hello undefined');
    const address = issueCertificate({ commonName: 'x', ipAddresses: ['10.0.0.1'], issuer: authority });
    await using third = await hello({ tls: address });
    await using byAddress = defaultTransport({ ...trusting(third.url), tlsServerName: '10.0.0.1' });
    expect(`${await startExchange(byAddress).completed}`).toBe('hello undefined');
  });

  test('is asked for by name without the dot that ends a full one', async () => {
    const named = issueCertificate({ commonName: 'x', dnsNames: ['kubernetes.default.svc'], issuer: authority });
    const asked: unknown[] = [];
    const server = createServer(named, (socket) => {
      // Not among what TLSSocket declares.
      asked.push((socket as { servername?: unknown }).servername);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const config = { ...trusting(`https://127.0.0.1:${port}`), tlsServerName: 'kubernetes.default.svc.' };
    await using transport = defaultTransport(config);
    expect(`${await startExchange(transport).completed}`).toBe('ok');
    expect(asked).toEqual(['kubernetes.default.svc']);
    server.close();
  });

  test('for another name is refused with the names it has', async () => {
    const named = issueCertificate({
      commonName: 'apiserver',
      dnsNames: ['kubernetes', 'kubernetes.default.svc'],
      issuer: authority,
    });
    await using server = await hello({ tls: named });
    const error = await failureOf(trusting(server.url));
    expect(error.code).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(error.message).toBe(
      `GET ${server.url}/api: the certificate of the API server at 127.0.0.1:${server.port} is not valid for ` +
        '"127.0.0.1", only for DNS:kubernetes, DNS:kubernetes.default.svc; ' +
        'connect by one of these, or set tls-server-name to one',
    );
    expect(server.requests).toHaveLength(0);
  });

  test('that has expired, or is not valid yet, is refused with the time', async () => {
    const issue = (notBefore: string, notAfter: string) =>
      issueCertificate({
        commonName: 'apiserver',
        ipAddresses: ['127.0.0.1'],
        issuer: authority,
        notBefore: new Date(notBefore),
        notAfter: new Date(notAfter),
      });
    await using old = await hello({ tls: issue('2020-01-01T00:00:00Z', '2021-02-03T04:05:06Z') });
    const expired = await failureOf(trusting(old.url));
    expect(expired.code).toBe('CERT_HAS_EXPIRED');
    expect(expired.message).toMatch(
      /certificate "apiserver" of the API server .* expired 2021-02-03T04:05:06\.000Z; it/,
    );
    await using young = await hello({ tls: issue('2096-01-01T00:00:00Z', '2098-01-01T00:00:00Z') });
    const early = await failureOf(trusting(young.url));
    expect(early.message).toMatch(
      /is not valid yet, only from 2096-01-01T00:00:00\.000Z; is this machine's clock right/,
    );
  });

  test('of an untrusted authority, or self-signed, is refused with the issuer', async () => {
    await using server = await hello({ tls: good });
    const unknown = await failureOf(trusting(server.url, { ca: createAuthority('another-ca').cert }));
    expect(unknown.message).toMatch(/is signed by "fault-ca", which is not trusted here .*; set certificate-authority/);
    const nothing = await failureOf({ server: server.url });
    expect(nothing.message).toMatch(/is signed by "fault-ca", which is not trusted here/);
    const alone = issueCertificate({ commonName: 'alone', ipAddresses: ['127.0.0.1'] });
    await using selfSigned = await hello({ tls: alone });
    expect((await failureOf(trusting(selfSigned.url))).message).toMatch(
      /"alone" is signed by itself, which is not trusted/,
    );
  });

  test('is not looked at with insecureSkipTlsVerify', async () => {
    await using server = await hello({ tls: issueCertificate({ commonName: 'alone', dnsNames: ['elsewhere'] }) });
    await using transport = defaultTransport({ server: server.url, insecureSkipTlsVerify: true });
    expect(`${await startExchange(transport).completed}`).toBe('hello undefined');
  });

  test('does not come from a server that speaks plain HTTP', async () => {
    await using server = await startFaultServer((_, reply) => reply.status(400));
    const error = await failureOf(trusting(`https://127.0.0.1:${server.port}`));
    expect(error.message).toMatch(/does not speak TLS on this port; use http:\/\/ if it serves plain HTTP/);
  });

  test('is not asked for again in a resumed session, which lives as long as the credentials', async () => {
    await using server = await hello({ tls: good });
    let material: TlsMaterial = { ca };
    await using transport = defaultTransport({ server: server.url, credentials: credentials(() => material) });
    await startExchange(transport).completed;
    await Promise.all([startExchange(transport).completed, startExchange(transport).completed]);
    material = { ca };
    await startExchange(transport).completed;
    const first = new Map(server.requests.map(({ connection, resumed }) => [connection, resumed]));
    expect([...first.values()]).toEqual([false, true, false]);
  });

  test('says nothing about what comes later: a reset within TLS is a reset', async () => {
    let go = () => {};
    const arrived = new Promise<void>((resolve) => {
      go = resolve;
    });
    await using server = await startFaultServer(
      async (_, reply) => {
        reply.head(200);
        reply.chunk('part');
        await arrived;
        reply.reset();
      },
      { tls: good },
    );
    await using transport = defaultTransport(trusting(server.url));
    const exchange = startExchange(transport);
    await exchange.received(4);
    go();
    expect(await exchange.failure).toMatchObject({ kind: 'reset', requestSent: true });
  });
});

describe('the client certificate', () => {
  const issue = (commonName: string) => issueCertificate({ commonName, usages: ['client'], issuer: authority });
  const asking = { ...good, ca, requestCert: true };

  test('is shown, and after a rotation the new one is, while a running watch continues', async () => {
    let write = (_: string) => {};
    await using server = await startFaultServer(
      (request, reply) => {
        if (request.path !== '/watch') return reply.send(200, `hello ${request.user}`);
        reply.head(200);
        reply.chunk(`hello ${request.user}`);
        write = (text) => reply.chunk(text);
        return reply.hang();
      },
      { tls: asking },
    );
    let material: TlsMaterial = { ca, ...issue('alice') };
    await using transport = defaultTransport({ server: server.url, credentials: credentials(() => material) });
    const watch = startExchange(transport, { path: '/watch' });
    await watch.received(11);
    expect(`${await startExchange(transport).completed}`).toBe('hello alice');
    expect(`${await startExchange(transport).completed}`).toBe('hello alice');
    expect(server.connections).toBe(2);
    material = { ca, ...issue('bob') };
    expect(`${await startExchange(transport).completed}`).toBe('hello bob');
    expect(transport.stats().pools).toBe(2);
    write(' still here');
    await watch.received(22);
    expect(`${Buffer.concat(watch.chunks)}`).toBe('hello alice still here');
    (await watch.answered).flow.abort('done');
    while (transport.stats().pools > 1) await new Promise(setImmediate);
    expect(`${await startExchange(transport).completed}`).toBe('hello bob');
    expect(server.connections).toBe(3);
  });

  test('or key or authority that cannot be used is named, not shown', async () => {
    const { cert } = issue('alice');
    const { key } = issue('bob');
    const at = 'https://127.0.0.1:1';
    const cases: [TlsMaterial, RegExp][] = [
      [{ ca: 'rubbish' }, /the certificate authority \(certificate-authority-data\) is not a PEM certificate/],
      [{ ca, cert: 'rubbish', key }, /the client certificate \(client-certificate-data\) is not a PEM certificate/],
      [{ ca, cert, key: 'rubbish' }, /the client key \(client-key-data\) is not a PEM private key/],
      [{ ca, cert, key }, /the client certificate and key cannot be used; do they belong together\?/],
    ];
    for (const [material, message] of cases) {
      const error = await failureOf(trusting(at, material));
      expect(error.message).toMatch(message);
      expect(error.message).not.toMatch(/rubbish|PRIVATE/);
    }
  });
});
