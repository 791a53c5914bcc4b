import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareKubeVersions } from './compare-kube-versions.js';

const preferred = [
  'v11',
  'v10',
  'v2',
  'v1',
  'v11beta2',
  'v10beta3',
  'v3beta1',
  'v1beta2',
  'v1beta1',
  'v12alpha1',
  'v11alpha2',
  'v1alpha1',
  'bar',
  'foo1',
  'foo10',
  'v1beta',
  'v99999999999999999999',
];

test('versions sort by preference', () => {
  const shuffled = [...preferred].sort();
  expect(shuffled.sort((a, b) => compareKubeVersions(b, a))).toEqual(preferred);
});

test('it is an order', () => {
  const version = fc.constantFrom(...preferred, 'v01', 'V1', '', '\u{1f600}', '\uffee');
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      const sign = (x: string, y: string) => Math.sign(compareKubeVersions(x, y));
      expect(sign(a, b) + sign(b, a)).toBe(0);
      expect(sign(a, a)).toBe(0);
      if (sign(a, b) >= 0 && sign(b, c) >= 0) expect(sign(a, c)).toBeGreaterThanOrEqual(0);
    }),
  );
});
