import { expect, test } from 'vitest';
import { ConfigMap } from '../../kinds/index.js';
import { patchTypes } from '../../rest/rest-client.js';
import type { Operation, Verb } from './operation.js';
import { preconditionedBody } from './preconditioned-body.js';

const preconditions = { uid: 'u', resourceVersion: '7' };

const body = (verb: Verb, given: unknown, more: Partial<Operation> = {}) =>
  preconditionedBody({ verb, kind: ConfigMap, params: {}, body: given, preconditions, ...more });

test('an update says which object and which version it means; what it says itself stays', () => {
  expect(body('update', { metadata: { name: 'a' } })).toEqual({ metadata: { name: 'a', ...preconditions } });
  const own = { metadata: { name: 'a', uid: 'own', resourceVersion: '1' } };
  expect(body('update', own)).toEqual(own);
  expect(body('update', { spec: 1 }, { preconditions: { uid: 'u' } })).toEqual({ spec: 1, metadata: { uid: 'u' } });
});

test.each(['merge', 'strategic', 'apply'] as const)('so does a %s patch', (type) => {
  const contentType = patchTypes[type];
  expect(body('patch', { data: {} }, { contentType })).toEqual({ data: {}, metadata: preconditions });
  expect(body('patch', 'text', { contentType })).toBe('text');
});

test('a JSON patch sets the resourceVersion, unless it speaks of it', () => {
  const contentType = patchTypes.json;
  const step = { op: 'replace', path: '/data/a', value: '1' };
  const version = { op: 'replace', path: '/metadata/resourceVersion', value: '7' };
  expect(body('patch', [step], { contentType })).toEqual([step, version]);
  const own = [step, { ...version, op: 'test', value: '1' }];
  expect(body('patch', own, { contentType })).toEqual(own);
  expect(body('patch', [step], { contentType, preconditions: { uid: 'u' } })).toEqual([step]);
});

test('a deletion has them among its options', () => {
  const options = { apiVersion: 'v1', kind: 'DeleteOptions' };
  expect(body('delete', undefined)).toEqual({ ...options, preconditions });
  const own = { ...options, gracePeriodSeconds: 0, preconditions: { uid: 'own' } };
  expect(body('delete', own)).toEqual({ ...own, preconditions: { uid: 'own', resourceVersion: '7' } });
});

test('others, and operations without any, stay as they are', () => {
  const given = { metadata: {} };
  expect(body('create', given)).toBe(given);
  expect(body('update', given, { preconditions: undefined })).toBe(given);
});
