import { expect, test } from 'vitest';
import { maskText } from './mask-text.js';

const yaml = `apiVersion: v1
kind: Secret
data:
  user: cm9vdA==
  password: hunter22
type: Opaque`;

test.each([
  ['401: authorization: Bearer abcdef123456', '401: authorization: Bearer ••••••'],
  ['cannot reach https://root:hunter22@db:5432/a', 'cannot reach https://••••••@db:5432/a'],
  ['dial with password=hunter22, user=root', 'dial with password=••••••, user=root'],
  ['refused {"dbPassword": "hunter22", "port": 1}', 'refused {"dbPassword": "••••••", "port": 1}'],
  ['bad {"kind":"Secret","data":{"a":"aHVudGVyMjI="}}', 'bad {"kind":"Secret","data":{••••••}}'],
  ['bad {\\"data\\":{\\"a\\":\\"aHVudGVyMjI=\\"}} end', 'bad {\\"data\\":{••••••}} end'],
  [`expected another one:\n${yaml}`, 'expected another one:\napiVersion: v1\nkind: Secret\ndata: ••••••\ntype: Opaque'],
  ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----', '••••••'],
  ['{"password":"hunter22 and more…', '{"password":"••••••"'],
  ['token eyJhbGciOi.eyJzdWIiOiJ.c2lnbmF0dXJl expired', 'token •••••• expired'],
])('%s', (text, masked) => {
  expect(maskText(text)).toBe(masked);
});

test.each([
  'secret "db" not found',
  'Secret shop/db: not found; create it',
  'token: must be a string, got 3',
  'connect ECONNREFUSED 127.0.0.1:5432',
  'https://example.com/a?b=c@d',
  'ConfigMap data: too long: must have at most 1048576 bytes',
])('%s stays', (text) => {
  expect(maskText(text)).toBe(text);
});
