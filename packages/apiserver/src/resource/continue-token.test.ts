import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { Refusal } from '../status/refusal.js';
import { readContinueToken, writeContinueToken } from './continue-token.js';

const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const v = 'meta.k8s.io/v1';

test('a token decodes to the end of its page', () => {
  expect(readContinueToken(writeContinueToken({ revision: 7, after: 'ns/name' }))).toEqual({
    revision: 7,
    after: 'ns/name',
  });
});

test('a token of kube-apiserver starts with its key', () => {
  const { after } = readContinueToken(token({ v, rv: -1, start: 'b' }));
  expect(['a', 'az', 'b', 'c'].filter((key) => key > after)).toEqual(['b', 'c']);
});

test.each([
  ['!', 'illegal base64 data at input byte 0'],
  [token([]), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
  [token({ v, rv: 'x' }), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
  [token({ v, rv: 1, start: '../a' }), '../a'],
  [token({ v, rv: 1 }), 'encoded start key empty (version meta.k8s.io/v1)'],
  [token({ v: 'v2', rv: 1, start: 'a' }), 'server does not recognize this encoded version v2'],
])('%s is refused', (text, why) => {
  expect(() => readContinueToken(text)).toThrow(Refusal);
  expect(() => readContinueToken(text)).toThrow(`invalid continue token: continue key is not valid: ${why}`);
});
