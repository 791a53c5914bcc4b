import { expect, test } from 'vitest';
import { writtenRef } from './written.js';

const kinds = [
  { group: 'apps', version: 'v1', kind: 'Deployment' },
  { group: '', version: 'v1', kind: 'Node' },
  { group: 'a.example.com', version: 'v1', kind: 'Site' },
  { group: 'b.example.com', version: 'v1', kind: 'Site' },
];

test('the object of a write is found by its kind, with and without namespace and subresource', () => {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'cart' };
  expect(writtenRef('Deployment shop/cart', kinds, undefined)).toEqual(deployment);
  expect(writtenRef('Deployment shop/cart/status', kinds, 'north')).toEqual({ ...deployment, cluster: 'north' });
  expect(writtenRef('Node a/status', kinds, undefined)).toEqual({ apiVersion: 'v1', kind: 'Node', name: 'a' });
});

test('a kind that is not known, or is the name of two, leads nowhere', () => {
  expect(writtenRef('Secret shop/login', kinds, undefined)).toBeUndefined();
  expect(writtenRef('Site shop/web', kinds, undefined)).toBeUndefined();
  expect(writtenRef('', kinds, undefined)).toBeUndefined();
});
