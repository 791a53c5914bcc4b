import { expect, test } from 'vitest';
import { FieldSet } from './fields/field-set.js';
import { formatPath, type Path } from './fields/path-element.js';
import { reconcileFields } from './reconcile-fields.js';
import { widgetType } from './widget.fixture.js';

const reconciled = (...paths: readonly Path[]) =>
  [...reconcileFields(FieldSet.of(...paths), widgetType).paths()].map(formatPath);

test('parts of what is atomic become the whole', () => {
  expect(reconciled(['f:spec', 'f:list', 'v:"a"'], ['f:spec', 'f:selector'], ['f:spec', 'f:selector', 'f:a'])).toEqual([
    '.spec.list',
    '.spec.selector',
  ]);
});

test('all else stays as it is', () => {
  const set = FieldSet.of(
    ['f:spec'],
    ['f:spec', 'f:list'],
    ['f:spec', 'f:selector'],
    ['f:spec', 'f:labels', 'f:a'],
    ['f:spec', 'f:ports', 'k:{"port":1}', 'f:tags', 'v:"t"'],
    ['f:spec', 'f:free', 'f:a', 'f:b'],
    ['f:spec', 'f:gone', 'f:x'],
    ['f:status', 'f:x', 'i:0'],
  );
  expect(reconcileFields(set, widgetType)).toBe(set);
});
