import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../json.js';
import { configSpec, liveSpec, widget, widgetType } from '../widget.fixture.js';
import { deducedType } from './merge-type.js';
import { mergeTypeFromSchema } from './merge-type-from-schema.js';
import { formatProblems, validateTyped } from './validate-typed.js';

test('what may be applied has no problems; what may be stored has none but duplicates', () => {
  fc.assert(
    fc.property(configSpec, liveSpec, (config, live) => {
      expect(validateTyped(widget(config), widgetType)).toEqual([]);
      expect(validateTyped(widget(live), widgetType, { allowDuplicates: true })).toEqual([]);
      const strict = validateTyped(widget(live), widgetType);
      expect(strict.every(({ message }) => message.startsWith('duplicate entries for key '))).toBe(true);
    }),
  );
});

test.each<[Json, string]>([
  [{ replicas: 'x' }, '.spec.replicas: expected numeric (int or float), got string'],
  [{ paused: 'x' }, '.spec.paused: expected boolean, got &{x}'],
  [{ set: [1] }, '.spec.set[=1]: expected string, got &value.valueUnstructured{Value:1}'],
  [{ set: ['a', 'b', 'a'] }, '.spec.set: duplicate entries for key [="a"]'],
  [{ set: [null] }, ".spec.set: element 0: associative list without keys has an element that's an explicit null"],
  [{ set: [{}] }, ".spec.set: element 0: associative list without keys has an element that's a map type"],
  [{ set: [[]] }, '.spec.set: element 0: not supported: associative list with lists as elements'],
  [{ set: 'a' }, '.spec.set: expected list, got &{a}'],
  [{ list: [{}] }, '.spec.list[0]: expected string, got &value.valueUnstructured{Value:map[string]interface {}{}}'],
  [{ labels: ['a', 1] }, '.spec.labels: expected map, got &{[a 1]}'],
  [{ other: 1 }, '.spec.other: field not declared in schema'],
  [
    { ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] },
    '.spec.ports: duplicate entries for key [port=1,protocol="TCP"]',
  ],
  [{ ports: [null] }, '.spec.ports: element 0: associative list with keys may not have a null element'],
  [{ ports: [1] }, '.spec.ports: element 0: associative list with keys may not have non-map elements'],
  [
    { ports: [{ port: 1, name: 2 }] },
    '.spec.ports[port=1,protocol="TCP"].name: expected string, got &value.valueUnstructured{Value:2}',
  ],
  [
    { replicas: 'x', paused: 1 },
    'errors:\n  .spec.replicas: expected numeric (int or float), got string\n  .spec.paused: expected boolean, got &{1}',
  ],
])('%j', (spec, message) => {
  expect(formatProblems(validateTyped({ spec }, widgetType))).toBe(message);
});

test('null is a value of every type', () => {
  const spec = { replicas: null, set: null, list: null, ports: null, labels: null, selector: null, free: null };
  expect(validateTyped({ spec }, widgetType)).toEqual([]);
  expect(validateTyped(null, widgetType)).toEqual([]);
  expect(validateTyped({ a: [1, { b: null }] }, deducedType)).toEqual([]);
});

test('items that leave out all of their keys', () => {
  const items = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };
  const type = mergeTypeFromSchema({
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a', 'b'],
  });
  expect(validateTyped([{ a: 'x' }, { b: 'x' }, { a: 'x', b: 'x' }], type)).toEqual([]);
  expect(formatProblems(validateTyped([{}], type))).toBe(
    `element 0: associative list with keys has an element that omits all key fields ["a" "b"] (and doesn't have default values for any key fields)`,
  );
});
