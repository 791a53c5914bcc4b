import { expect, test } from 'vitest';
import { metadataProblem } from './metadata-problem.js';

const sound = {
  ...{ namespace: 'shop', name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  labels: { app: 'web' },
  annotations: {},
  finalizers: ['example.com/a'],
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p' }],
};

test('what servers send is sound, whatever is left out or null', () => {
  expect(metadataProblem(sound)).toBeUndefined();
  expect(metadataProblem({ name: 'a' })).toBeUndefined();
  expect(
    metadataProblem({ name: 'system:node', namespace: null, labels: null, ownerReferences: null }),
  ).toBeUndefined();
});

test.each<[object, string]>([
  [{ name: 5 }, 'metadata.name must be a string, got a number'],
  [{ name: undefined }, 'metadata.name is missing'],
  [{ name: '' }, 'metadata.name is missing'],
  [{ name: 'a/b' }, 'metadata.name must not contain a slash, got "a/b"'],
  [{ name: '..' }, 'metadata.name must not be ".."'],
  [{ namespace: 7 }, 'metadata.namespace must be a string, got a number'],
  [{ namespace: 'x/y' }, 'metadata.namespace must not contain a slash, got "x/y"'],
  [{ uid: 7 }, 'metadata.uid must be a string, got a number'],
  [{ resourceVersion: 12 }, 'metadata.resourceVersion must be a string, got a number'],
  [{ deletionTimestamp: {} }, 'metadata.deletionTimestamp must be a string, got an object'],
  [{ labels: 'app=web' }, 'metadata.labels must be a map of strings, got a string'],
  [{ labels: { app: 1 } }, 'metadata.labels must be a map of strings, got an object with a number in it'],
  [{ annotations: ['a'] }, 'metadata.annotations must be a map of strings, got an array'],
  [{ finalizers: 'a' }, 'metadata.finalizers must be a list of strings, got a string'],
  [{ finalizers: [1] }, 'metadata.finalizers must be a list of strings, got an array with a number in it'],
  [
    { ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 3 }] },
    'metadata.ownerReferences must be a list of references with apiVersion, kind and name, got an array with an object in it',
  ],
])('%o', (fields, problem) => {
  expect(metadataProblem({ ...sound, ...fields })).toBe(problem);
});
