import { expect, test } from 'vitest';
import { pullPolicyFor } from './pull-policy-for.js';

test.each([
  ['nginx', 'Always'],
  ['nginx:latest', 'Always'],
  ['registry.example:5000/a/b', 'Always'],
  ['registry.example:5000/a/b:v1', 'IfNotPresent'],
  [`nginx@sha256:${'0'.repeat(64)}`, 'IfNotPresent'],
  [`nginx:latest@sha256:${'0'.repeat(64)}`, 'Always'],
  ['Not An Image', 'IfNotPresent'],
  ['', 'IfNotPresent'],
  [undefined, 'IfNotPresent'],
])('%s is pulled %s', (image, policy) => {
  expect(pullPolicyFor(image)).toBe(policy);
});
