import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clusterKey, equalKeys, formatKey, keyId, keyOf, objectKey, parseKeyId, splitKey } from './key.js';

describe('keyOf and splitKey', () => {
  test.each([
    ['shop/cart', { namespace: 'shop', name: 'cart' }],
    ['node-1', { name: 'node-1' }],
    ['constructor/__proto__', { namespace: 'constructor', name: '__proto__' }],
  ])('%j both ways', (text, key) => {
    expect(keyOf({ metadata: key })).toBe(text);
    expect(splitKey(text)).toEqual(key);
    expect(formatKey(key)).toBe(text);
  });

  test('an empty namespace counts as none', () => {
    expect(keyOf({ metadata: { namespace: '', name: 'a' } })).toBe('a');
    expect(splitKey('/a')).toEqual({ name: 'a' });
  });

  test.each(['a/b/c', '//', 'a//b'])('%j is no key', (text) => {
    expect(() => splitKey(text)).toThrow(`key "${text}" has more than one slash`);
  });

  test('an object without a name has none', () => {
    expect(() => keyOf({ kind: 'Pod', metadata: { generateName: 'cart-' } })).toThrow('Pod "cart-…" has no key');
    expect(() => keyOf({})).toThrow('object without a name has no key');
    expect(() => objectKey({ kind: 'Pod', metadata: {} })).toThrow('Pod without a name has no key');
  });
});

test('keys are frozen and hold only what is there', () => {
  const key = objectKey({ metadata: { name: 'a', namespace: '' } });
  expect(key).toStrictEqual({ name: 'a' });
  expect(Object.isFrozen(key)).toBe(true);
  expect(objectKey({ metadata: { name: 'a', namespace: 'b' } })).toStrictEqual({ namespace: 'b', name: 'a' });
  expect(clusterKey({ cluster: '', namespace: undefined, name: 'a' })).toStrictEqual({ name: 'a' });
  expect(Object.isFrozen(clusterKey({ cluster: 'east', name: 'a' }))).toBe(true);
});

describe('ids', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '-', '.', ':'), minLength: 1, maxLength: 3 });
  const cluster = fc.string({ unit: fc.constantFrom('a', '/', '-', ':'), maxLength: 4 });
  const key = fc.record({ cluster, namespace: fc.option(part, { nil: undefined }), name: part }).map(clusterKey);

  test('are read back', () => {
    fc.assert(
      fc.property(key, (k) => {
        expect(parseKeyId(keyId(k))).toStrictEqual(k);
      }),
    );
  });

  test('are equal only for equal keys', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(keyId(a) === keyId(b)).toBe(equalKeys(a, b));
      }),
    );
  });

  test('without a cluster are the plain key', () => {
    expect(keyId({ namespace: 'shop', name: 'cart' })).toBe('shop/cart');
    expect(keyId({ cluster: 'east', namespace: 'shop', name: 'cart' })).toBe('east//shop/cart');
  });

  test('a slash in a name is refused', () => {
    expect(() => clusterKey({ name: 'a/b' })).toThrow('must not contain a slash');
    expect(() => clusterKey({ namespace: 'x/', name: 'a' })).toThrow('must not contain a slash');
  });
});
