import { expect, test } from 'vitest';
import { contains, formatCidr, formatIp, parseCidr, parseIp } from './ip-address.js';

test.each([
  ['1.2.3.4', '1.2.3.4'],
  ['010.2.3.4', '10.2.3.4'],
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['::', '::'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['fe80::1.2.3.4', 'fe80::102:304'],
])('%s is %s', (text, canonical) => {
  expect(formatIp(parseIp(text)!)).toBe(canonical);
});

test.each([
  ...['', 'x', '1.2.3', '1.2.3.256', '1.2.3.4.5', '1.2.3.-4', ':', ':::', '1:2', '1::2::3', 'fe80::1%eth0', '12345::'],
  ...['1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7::8', '1.2.3.4::', '::1.2.3'],
])('%j is no address', (text) => {
  expect(parseIp(text)).toBeUndefined();
});

test.each([
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['10.1.2.3/32', '10.1.2.3/32'],
  ['10.0.0.0/08', '10.0.0.0/8'],
  ['2001:db8::ff/121', '2001:db8::80/121'],
  ['::ffff:1.2.3.4/120', '1.2.3.0/24'],
])('%s is in %s', (text, network) => {
  expect(formatCidr(parseCidr(text)!)).toBe(network);
});

test.each(['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '/8', '10.0.0.0/8/8'])(
  '%s is no network',
  (text) => {
    expect(parseCidr(text)).toBeUndefined();
  },
);

test('a network holds the addresses of its family that begin as it does', () => {
  const network = parseCidr('10.0.0.0/9')!;
  expect(['10.127.0.1', '10.128.0.1', '::a00:1'].map((ip) => contains(network, parseIp(ip)!))).toEqual([
    true,
    false,
    false,
  ]);
});
