import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { anonymous, staticCredentials } from './static-credentials.js';

test('a token becomes a bearer header and never changes', async () => {
  const credentials = staticCredentials({ token: ' abc123\n' });
  expect(await credentials.authorization()).toBe('Bearer abc123');
  expect(await credentials.refresh()).toBe(false);
});

test('user name and password become a basic header, in UTF-8', async () => {
  const credentials = staticCredentials({ basic: { username: 'jörg', password: 'pä:ss' } });
  expect(await credentials.authorization()).toBe(`Basic ${Buffer.from('jörg:pä:ss').toString('base64')}`);
});

test('TLS material is the same object each time and spreads into options', async () => {
  const credentials = staticCredentials({ ca: 'CA', cert: 'CERT', key: 'KEY' });
  const material = await credentials.tls();
  expect(await credentials.tls()).toBe(material);
  expect({ ...material }).toEqual({ ca: 'CA', cert: 'CERT', key: 'KEY' });
});

test('what does not go together is refused', () => {
  expect(() => staticCredentials({ token: 'a', basic: { username: 'b', password: 'c' } })).toThrow('got both');
  expect(() => staticCredentials({ cert: 'x' })).toThrow('key is missing');
  expect(() => staticCredentials({ key: 'x' })).toThrow('cert is missing');
});

test('a token that would break the header is refused without being quoted', () => {
  expect(() => staticCredentials({ token: 'top\r\nsecret: 1' })).toThrow(
    /characters that an HTTP header cannot carry$/,
  );
});

test('anonymous says nothing', async () => {
  expect(await anonymous.authorization()).toBeUndefined();
  expect(await anonymous.tls()).toEqual({});
});

test('printing shows no secret', async () => {
  const credentials = staticCredentials({ token: 'sesame', ca: 'CAPEM', cert: 'CERTPEM', key: 'KEYPEM' });
  const material = await credentials.tls();
  for (const value of [credentials, material]) {
    const printed = [JSON.stringify(value), inspect(value, { depth: 99, showHidden: true }), `${value}`].join();
    expect(printed).not.toMatch(/sesame|KEYPEM|CERTPEM/);
  }
  expect(JSON.stringify(credentials)).toBe(
    '{"ca":"[inline]","cert":"[inline]","key":"[inline]","authorization":"token"}',
  );
});
