import { expect, test } from 'vitest';
import { anyElement, excludeFields, includeFields } from './field-filter.js';
import { FieldSet } from './field-set.js';
import { formatPath } from './path-element.js';

const fields = FieldSet.of(
  ['f:metadata', 'f:labels', 'f:a'],
  ['f:spec'],
  ['f:spec', 'f:containers', 'k:{"name":"a"}'],
  ['f:spec', 'f:containers', 'k:{"name":"a"}', 'f:image'],
  ['f:spec', 'f:containers', 'k:{"name":"a"}', 'f:resources', 'f:limits'],
  ['f:status', 'f:phase'],
);
const paths = (set: FieldSet) => [...set.paths()].map(formatPath);

test('excluded with all below', () => {
  expect(paths(excludeFields(['spec'], ['metadata', 'labels'])(fields))).toEqual(['.status.phase']);
  expect(excludeFields()(fields)).toBe(fields);
});

test('only what is on or below a path is included', () => {
  const filter = includeFields(['spec', 'containers', anyElement, 'resources'], ['status']);
  expect(paths(filter(fields))).toEqual([
    '.spec',
    '.spec.containers[name="a"]',
    '.spec.containers[name="a"].resources.limits',
    '.status.phase',
  ]);
});
