import { describe, expect, test } from 'vitest';
import { ConfigMap, Node, Secret } from '../../kinds/index.js';
import { control } from './control.js';
import { kindsOf } from './controller-definition.js';

/** What the compiler refuses, and JavaScript does not. */
const wrong = (value: unknown) => value as never;

describe('mistakes are reported where they are made', () => {
  test.each<[string, () => unknown, string]>([
    [
      'no kind',
      () => control(wrong(undefined)),
      'control: expects a Kind, as riata/kinds has them and defineKind makes',
    ],
    ['two modules that import each other', () => control(ConfigMap).owns(wrong(undefined)), 'import each other?'],
    ['a kind that it cannot own', () => control(ConfigMap).owns(Node), 'ConfigMap is namespaced and cannot own Node'],
    ['an object', () => control(ConfigMap).owns(wrong({ a: 1 })), 'control(ConfigMap).owns: expects a Kind'],
    [
      'a function',
      () =>
        control(ConfigMap).reads(
          Secret,
          wrong(() => {}),
        ),
      'reads: expects a Kind',
    ],
    ['a name', () => control(wrong('ConfigMap')), 'got ConfigMap'],
    [
      'no map',
      () => control(ConfigMap).watches(Secret, wrong({ refersTo: 1 })),
      'or { referencedBy }, got { refersTo }',
    ],
    ['no handler', () => control(ConfigMap).watches(Secret, wrong({ handler: 1 })), 'or { handler }, or'],
    [
      'no index',
      () => control(ConfigMap).indexes(Secret, 'type', wrong('type')),
      'a function that returns values, got type',
    ],
    [
      'no field',
      () =>
        control(ConfigMap).indexes(
          Secret,
          wrong(() => []),
          wrong(undefined),
        ),
      'indexes: expects a field',
    ],
    [
      'nothing to do',
      () => control(ConfigMap).reconcile(wrong(undefined)),
      'reconcile: expects a function, or an object',
    ],
    ['no clean-up', () => control(ConfigMap).finalize(wrong({ run() {} })), 'method reconcile, got { run }'],
    [
      'a bad finalizer',
      () => control(ConfigMap).finalize(() => {}, { name: 'a b' }),
      '"a b" is not a valid finalizer name',
    ],
    ['a bad name', () => control(ConfigMap, { name: 'my maps' }), 'control(ConfigMap): name must consist of letters'],
  ])('%s', (_, make, words) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(words);
  });
});

test('a definition is a value, and what it was made from stays as it is', () => {
  const started = control(ConfigMap);
  const maps = started.owns(Secret).reconcile(() => {});
  expect(maps).toMatchObject({ name: 'configmap', kind: ConfigMap, evenWhenGone: false });
  expect(maps.watches.map(({ through }) => through)).toEqual(['for', 'owns']);
  expect(started.reconcile(() => {}).watches.map(({ through }) => through)).toEqual(['for']);
  expect(
    control(ConfigMap)
      .finalize(() => {})
      .reconcile(() => {}).finalize?.name,
  ).toBe('riata.dev/configmap');
});

test('kinds that are indexed are among those that it touches', () => {
  const maps = control(ConfigMap)
    .indexes(Secret, 'kind of secret', ({ type }) => [type ?? ''])
    .reconcile(() => {});
  expect(maps.indexes).toMatchObject([{ kind: Secret, field: 'kind of secret' }]);
  expect(kindsOf(maps)).toEqual([ConfigMap, Secret]);
});

test('a filter is for all that is watched, whether it was said before or after', () => {
  const [first, second, third] = [() => true, () => true, () => true];
  const { watches } = control(ConfigMap, { predicates: [first] })
    .filter(second)
    .evenWhenGone()
    .owns(Secret)
    .filter(third)
    .source(() => ({ name: 'none', start: async () => {} }))
    .reconcile(() => {});
  const filters = watches.map((watch) => (watch.through === 'source' ? 'none' : watch.predicates));
  expect(filters).toEqual([[first, second, third], [second, third], 'none']);
});
