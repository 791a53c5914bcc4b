import { expect, test } from 'vitest';
import type { TransportRequest } from '../transport.js';
import { RequestHeads } from './request-heads.js';

const heads = new RequestHeads('/prefix', { host: 'server:6443' });

test('a head is request line, own headers, those of the request, and the length in bytes', () => {
  const request = { method: 'PATCH', path: '/a?b=c', headers: { Accept: 'x', 'X-Many': ['1', '2'] }, body: 'ü' };
  const text =
    'PATCH /prefix/a?b=c HTTP/1.1\r\nhost: server:6443\r\naccept-encoding: gzip\r\n' +
    'Accept: x\r\nX-Many: 1\r\nX-Many: 2\r\ncontent-length: 2\r\n\r\n';
  expect(heads.of(request, true)).toBe(text);
  // The second time, lines are known.
  expect(heads.of(request, true)).toBe(text);
  expect(heads.of({ ...request, body: new Uint8Array(7) }, false)).toMatch(/2\r\ncontent-length: 7\r\n\r\n$/);
});

test('a write without a body says so, a read does not', () => {
  expect(heads.of({ method: 'POST', path: '/', headers: {} }, false)).toMatch(/\r\ncontent-length: 0\r\n\r\n$/);
  expect(heads.of({ method: 'GET', path: '/', headers: {} }, false)).not.toMatch(/content-length/);
});

test('values beyond ASCII go out as UTF-8, a character per byte', () => {
  expect(heads.of({ method: 'GET', path: '/', headers: { 'impersonate-user': 'jä' } }, false)).toMatch(
    /: j\xc3\xa4\r\n/,
  );
});

test('a malformed request is refused, and no value is quoted', () => {
  const cases: Partial<TransportRequest>[] = [
    { method: 'G T' },
    { path: '/a b' },
    { path: '/a\r\nx: y' },
    { path: '/ü' },
    { headers: { 'a b': 'x' } },
    { headers: { a: 'secret\r\nx: y' } },
    { headers: { a: 'secret\0' } },
    { headers: { a: ['fine', 'secret\n'] } },
    { headers: { 'Transfer-Encoding': 'chunked' } },
    { headers: { 'Content-Length': '5' } },
    { headers: { connection: 'upgrade' } },
    { headers: { Host: 'other' } },
  ];
  for (const part of cases) {
    const refused = () => heads.of({ method: 'GET', path: '/', headers: {}, ...part }, false);
    expect(refused).toThrow(expect.objectContaining({ kind: 'invalid-request' }));
    expect(refused).not.toThrow(/secret/);
  }
});

test('only so many lines are remembered', () => {
  for (let at = 0; at < 500; at++) {
    const headers = { [`x-${at}`]: '1', same: `${at}` };
    expect(heads.of({ method: 'GET', path: '/', headers }, false)).toContain(`x-${at}: 1\r\nsame: ${at}\r\n`);
  }
});
