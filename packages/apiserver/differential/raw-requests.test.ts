import { expect, test } from 'vitest';
import { serverPair } from './pair.js';
import { sendRaw } from './raw-wire.js';

const pair = serverPair();
const maps = '/api/v1/namespaces/default/configmaps';

/** A request of the administrator. */
const head = (line: string, ...fields: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: x', 'Authorization: Bearer $TOKEN', ...fields, '', ''].join('\r\n');
const manyFields = (count: number) => Array.from({ length: count }, (_, n) => `X-${n}: y`);

const requests: Readonly<Record<string, string>> = {
  'a head of less than a mebibyte': head('GET /livez', `X-Long: ${'a'.repeat(1_045_000)}`),
  'a head of little more than a mebibyte': head('GET /livez', `X-Long: ${'a'.repeat(1_050_000)}`),
  'a head that is too long': head('GET /livez', `X-Long: ${'a'.repeat(1_060_000)}`),
  'a path that is too long': head(`GET /${'a'.repeat(1_060_000)}`),
  'a long query': head(`GET /livez?x=${'a'.repeat(100_000)}`),
  'very many headers': head(`GET ${maps}/none`, ...manyFields(3_000)),
  'a user to act as behind very many headers': head(
    `GET ${maps}`,
    ...manyFields(3_000),
    'Impersonate-User: nobody-special',
  ),
  'a token behind very many headers': `GET ${maps}/none HTTP/1.1\r\nHost: x\r\n${manyFields(3_000).join('\r\n')}\r\nAuthorization: Bearer $TOKEN\r\n\r\n`,
  'two tokens, the second of them right': `GET ${maps}/none HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\nAuthorization: Bearer $TOKEN\r\n\r\n`,
  'two tokens, the first of them right': `GET ${maps}/none HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer $TOKEN\r\nAuthorization: Bearer wrong\r\n\r\n`,
  'no HTTP': '\x00\x01\x02 nothing\r\n\r\n',
  'no path': 'GET  HTTP/1.1\r\nHost: x\r\n\r\n',
  'no Host': 'GET /livez HTTP/1.1\r\n\r\n',
  'two Hosts': 'GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
  'a Host with a space': 'GET /livez HTTP/1.1\r\nHost: a b\r\n\r\n',
  'a Host with a slash': 'GET /livez HTTP/1.1\r\nHost: a/b\r\n\r\n',
  'a relative path': 'GET livez HTTP/1.1\r\nHost: x\r\n\r\n',
  'another server in the path': 'GET http://other.example.com/livez HTTP/1.1\r\nHost: x\r\n\r\n',
  'two lengths': head(`POST ${maps}`, 'Content-Length: 5', 'Content-Length: 6'),
  'a negative length': head(`POST ${maps}`, 'Content-Length: -5'),
  'a length that is no number': head(`POST ${maps}`, 'Content-Length: 0x10'),
  'a header with a NUL': head('GET /livez', 'X-Odd: a\0b'),
};

for (const [title, text] of Object.entries(requests)) {
  test(title, async () => {
    const [real, embedded] = await Promise.all(pair().places.map((place) => sendRaw(place, text)));
    expect(embedded).toEqual(real);
  });
}
