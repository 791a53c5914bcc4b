import { describe, expect, test } from 'vitest';
import { AnswerFailure } from './answer-failure.js';
import { connectFailure } from './connect-failure.js';
import { explainFailure } from './explain-failure.js';

const coded = (code: string, message = 'it failed', more: object = {}) =>
  Object.assign(new Error(message), { code, ...more });
const exchange = { what: 'GET https://host:6443/api', requestSent: true, answered: false };
const context = { address: 'host:6443', peer: 'the API server', field: '"server"', now: Date.UTC(2026, 0, 1) };

describe('a failure after sending', () => {
  test.each([
    ['ECONNRESET', 'reset', /cut before a response came \(ECONNRESET\)/],
    ['EPIPE', 'reset', /cut before a response came \(EPIPE\)/],
    ['ETIMEDOUT', 'reset', /lost before a response came \(ETIMEDOUT\): the other end has stopped answering/],
    ['Z_DATA_ERROR', 'decompress', /broken \(it failed\)/],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'tls', /it may require a client certificate; set client-certificate/],
    ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'tls', /client certificate has expired; renew it/],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'tls', /does not know the CA that signed the client certificate/],
    ['EWHATEVER', 'unknown', /it failed \(EWHATEVER\)/],
  ])('%s is %s', (code, kind, message) => {
    const cause = coded(code);
    const error = explainFailure(cause, exchange);
    expect(error).toMatchObject({ kind, requestSent: true, code, cause });
    expect(error.message).toMatch(/^GET https:\/\/host:6443\/api: /);
    expect(error.message).toMatch(message);
  });

  test('of OpenSSL is reported by its reason alone', () => {
    const message =
      '80BC26:error:0A000438:SSL routines:ssl3_read_bytes:tlsv1 alert internal error:rec_layer_s3.c:1601:\n';
    const error = explainFailure(coded('ERR_SSL_X', message, { reason: 'tlsv1 alert internal error' }), exchange);
    expect(error.message).toBe('GET https://host:6443/api: TLS failed: tlsv1 alert internal error (ERR_SSL_X)');
  });

  test("of Node's own client is put into the same kinds", () => {
    const hangUp = explainFailure(coded('ECONNRESET', 'socket hang up'), { ...exchange, answered: false });
    expect([hangUp.kind, hangUp.message]).toEqual([
      'eof',
      'GET https://host:6443/api: the server closed the connection before a response came',
    ]);
    expect(explainFailure(coded('ECONNRESET', 'aborted'), { ...exchange, answered: true }).kind).toBe('eof');
    expect(explainFailure(coded('HPE_INVALID_CONSTANT', 'Parse Error'), exchange).kind).toBe('protocol');
  });

  test('of the answer itself is an early end, or no HTTP', () => {
    const early = explainFailure(new AnswerFailure('eof', 'it stopped'), exchange);
    expect(early).toMatchObject({ kind: 'eof', requestSent: true, message: 'GET https://host:6443/api: it stopped' });
    const odd = explainFailure(new AnswerFailure('protocol', 'odd'), exchange);
    expect(odd).toMatchObject({ kind: 'protocol', requestSent: true });
    expect(odd.message).toMatch(/the response is not valid HTTP\/1.1 \(odd\); is the server's address right\?$/);
  });

  test('that is not an error object is reported as it is', () => {
    expect(explainFailure('odd', exchange).message).toBe('GET https://host:6443/api: odd');
    expect(explainFailure(undefined, exchange).kind).toBe('unknown');
  });
});

describe('a failure to connect', () => {
  test.each([
    ['ENOTFOUND', 'dns', /cannot be resolved \(ENOTFOUND\); is "server" right\?/],
    ['EHOSTUNREACH', 'unreachable', /cannot be reached from here \(EHOSTUNREACH\)/],
    ['ETIMEDOUT', 'connect-timeout', /did not answer in time/],
    ['ECONNRESET', 'reset', /cut the connection while it was being set up/],
    ['INVALID_CA', 'tls', /TLS with the API server at host:6443 failed/],
    ['EWHATEVER', 'unknown', /it failed \(EWHATEVER\)/],
  ])('%s is %s', (code, kind, message) => {
    const failure = connectFailure(coded(code), context);
    expect(failure.kind).toBe(kind);
    expect(failure.message).toMatch(message);
    expect(explainFailure(failure, exchange)).toMatchObject({ kind, requestSent: false, code });
  });

  test('blames the certificate of the chain that has expired, not always the last', () => {
    const root = {
      subject: { CN: 'root' },
      valid_from: 'Jan  1 00:00:00 2010 GMT',
      valid_to: 'Jan  1 00:00:00 2020 GMT',
    };
    const self = Object.assign(root, { issuerCertificate: root });
    const leaf = {
      subject: { CN: 'leaf' },
      valid_from: 'Jan  1 00:00:00 2010 GMT',
      valid_to: 'Jan  1 00:00:00 2040 GMT',
      issuerCertificate: self,
    };
    const failure = connectFailure(coded('CERT_HAS_EXPIRED'), { ...context, certificate: leaf as never });
    expect(failure.message).toMatch(
      /certificate "root" of the API server at host:6443 expired 2020-01-01T00:00:00\.000Z/,
    );
    expect(connectFailure(coded('CERT_HAS_EXPIRED'), context).message).toMatch(
      /the certificate of the API server .* expired;/,
    );
  });
});
