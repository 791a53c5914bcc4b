import { expect, test } from 'vitest';
import { finalizerWarnings } from './finalizer-warnings.js';

test.each([
  ['example.com/a', []],
  ['orphan', []],
  [
    'a',
    [
      'metadata.finalizers: "a": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ],
  ],
  [
    'example.com',
    [
      'metadata.finalizers: "example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    ],
  ],
])('%s', (finalizer, warnings) => {
  expect(finalizerWarnings({ finalizers: [finalizer] }, undefined)).toEqual(warnings);
  expect(finalizerWarnings({ finalizers: [finalizer] }, { finalizers: [finalizer] })).toEqual([]);
});
