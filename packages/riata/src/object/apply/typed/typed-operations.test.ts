import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../json.js';
import { equal } from '../../value/equal.js';
import type { FieldSet } from '../fields/field-set.js';
import { formatPath } from '../fields/path-element.js';
import { withNamedFields } from '../prune-fields.js';
import { configSpec, liveSpec, widgetType } from '../widget.fixture.js';
import { compareTyped } from './compare-typed.js';
import { deducedType } from './merge-type.js';
import { mergeTyped } from './merge-typed.js';
import { extractItems, removeItems } from './remove-items.js';
import { toFieldSet } from './to-field-set.js';
import { validateTyped } from './validate-typed.js';

const spec = (value: JsonObject) => ({ spec: value });
const paths = (set: FieldSet) => [...set.paths()].map(formatPath);
const fields = (value: JsonObject) => paths(toFieldSet(spec(value), widgetType));
const changes = (before: Json, after: Json, type = widgetType) => {
  const { added, modified, removed } = compareTyped(before, after, type);
  return { added: paths(added), modified: paths(modified), removed: paths(removed) };
};

describe('toFieldSet', () => {
  test.each<[JsonObject, string[]]>([
    [{ replicas: 1 }, ['.spec.replicas']],
    [{ set: ['b', 'a'] }, ['.spec.set[="a"]', '.spec.set[="b"]']],
    [{ set: [], ports: [] }, []],
    [
      { list: [], selector: {}, labels: {}, replicas: null },
      ['.spec.labels', '.spec.list', '.spec.replicas', '.spec.selector'],
    ],
    [{ list: ['a'], selector: { a: 'b' } }, ['.spec.list', '.spec.selector']],
    [{ labels: { b: 'x', a: 'y' } }, ['.spec.labels.a', '.spec.labels.b']],
    [{ free: { a: { b: 1 }, c: [1] } }, ['.spec.free.a', '.spec.free.c', '.spec.free.a.b']],
    [{ ports: [{ port: 1 }] }, ['.spec.ports[port=1,protocol="TCP"]', '.spec.ports[port=1,protocol="TCP"].port']],
    [{ ports: [{ port: 1, name: 'a' }, { port: 1 }] }, ['.spec.ports[port=1,protocol="TCP"]']],
    [{ set: ['a', 'a'] }, ['.spec.set[="a"]']],
  ])('%j', (value, expected) => {
    expect(fields(value)).toEqual(expected);
  });

  test('nothing of an empty object', () => {
    expect(toFieldSet({}, widgetType).isEmpty).toBe(true);
    expect(toFieldSet(null, widgetType).isEmpty).toBe(true);
  });
});

describe('compareTyped', () => {
  test.each<[string, JsonObject, JsonObject, Partial<ReturnType<typeof changes>>]>([
    [
      'scalars',
      { replicas: 1 },
      { replicas: 2, paused: true },
      { modified: ['.spec.replicas'], added: ['.spec.paused'] },
    ],
    ['a field that goes', { labels: { a: 'x' } }, {}, { removed: ['.spec.labels', '.spec.labels.a'] }],
    [
      'a map key',
      { labels: { a: 'x' } },
      { labels: { a: 'y', b: 'x' } },
      { modified: ['.spec.labels.a'], added: ['.spec.labels.b'] },
    ],
    ['the last key', { labels: { a: 'x' } }, { labels: {} }, { removed: ['.spec.labels.a'] }],
    ['empty against null', { labels: {} }, { labels: null }, { modified: ['.spec.labels'] }],
    ['an atomic list', { list: ['a'] }, { list: ['b', 'a'] }, { modified: ['.spec.list'] }],
    ['an atomic map', { selector: { a: 'x' } }, { selector: { b: 'x' } }, { modified: ['.spec.selector'] }],
    ['a set', { set: ['a', 'b'] }, { set: ['c', 'b'] }, { added: ['.spec.set[="c"]'], removed: ['.spec.set[="a"]'] }],
    ['the order of a set', { set: ['a', 'b'] }, { set: ['b', 'a'] }, {}],
    [
      'a keyed item',
      { ports: [{ port: 1, name: 'a' }] },
      { ports: [{ port: 1, name: 'b' }] },
      { modified: ['.spec.ports[port=1,protocol="TCP"].name'] },
    ],
    [
      'a form that changes',
      { free: { a: 1 } },
      { free: { a: { b: 1 } } },
      { modified: ['.spec.free.a'], added: ['.spec.free.a.b'] },
    ],
    [
      'new duplicates',
      { set: ['a'] },
      { set: ['a', 'a'] },
      { added: ['.spec.set[="a"]'], removed: ['.spec.set[="a"]'] },
    ],
    [
      'duplicates that go',
      { set: ['a', 'a'] },
      { set: ['a'] },
      { added: ['.spec.set[="a"]'], removed: ['.spec.set[="a"]'] },
    ],
    ['duplicates that stay', { set: ['a', 'a'] }, { set: ['a', 'a', 'b'] }, { added: ['.spec.set[="b"]'] }],
    ['more duplicates', { set: ['a', 'a'] }, { set: ['a', 'a', 'a'] }, { modified: ['.spec.set[="a"]'] }],
  ])('%s', (_what, before, after, expected) => {
    expect(changes(spec(before), spec(after))).toEqual({ added: [], modified: [], removed: [], ...expected });
  });

  test('nothing between equal values, and the same the other way round', () => {
    fc.assert(
      fc.property(liveSpec, liveSpec, (a, b) => {
        expect(changes(spec(a), JSON.parse(JSON.stringify(spec(a))))).toEqual({ added: [], modified: [], removed: [] });
        const [there, back] = [changes(spec(a), spec(b)), changes(spec(b), spec(a))];
        expect(back.added).toEqual(there.removed);
        expect(back.removed).toEqual(there.added);
        expect(back.modified).toEqual(there.modified);
      }),
    );
  });
});

describe('mergeTyped', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['leaves', { replicas: 1, paused: true }, { replicas: 2 }, { replicas: 2, paused: true }],
    [
      'atomic',
      { list: ['a'], selector: { a: 'x' } },
      { list: ['b'], selector: { b: 'y' } },
      { list: ['b'], selector: { b: 'y' } },
    ],
    ['maps', { labels: { a: 'x' } }, { labels: { b: 'y' } }, { labels: { a: 'x', b: 'y' } }],
    [
      'an applied null',
      { replicas: 1, labels: { a: 'x' } },
      { replicas: null, labels: null },
      { replicas: null, labels: { a: 'x' } },
    ],
    ['an empty map over a full one', { labels: { a: 'x' } }, { labels: {} }, { labels: { a: 'x' } }],
    ['a form that changes', { free: { a: { b: 1 } } }, { free: { a: [1] } }, { free: { a: [1] } }],
    ['sets: the applied order', { set: ['a', 'b', 'c'] }, { set: ['c', 'a'] }, { set: ['b', 'c', 'a'] }],
    [
      'sets: new items after the shared one before them',
      { set: ['a', 'b', 'c'] },
      { set: ['b', 'x'] },
      { set: ['a', 'b', 'c', 'x'] },
    ],
    [
      'keyed items',
      { ports: [{ port: 1, name: 'a' }, { port: 2 }] },
      { ports: [{ port: 1, protocol: 'TCP', tags: ['t'] }] },
      { ports: [{ port: 1, name: 'a', protocol: 'TCP', tags: ['t'] }, { port: 2 }] },
    ],
    [
      'duplicates give way',
      {
        ports: [
          { port: 1, name: 'a' },
          { port: 1, name: 'b' },
        ],
      },
      { ports: [{ port: 1, name: 'c' }] },
      { ports: [{ port: 1, name: 'c' }] },
    ],
    ['duplicates stay', { set: ['a', 'a'] }, { set: ['b'] }, { set: ['a', 'a', 'b'] }],
  ])('%s', (_what, live, applied, expected) => {
    expect(mergeTyped(spec(live), spec(applied), widgetType)).toEqual(spec(expected));
  });

  test('keeps all that is applied, takes nothing away but duplicates, and does no more the second time', () => {
    fc.assert(
      fc.property(liveSpec, configSpec, (live, config) => {
        const merged = mergeTyped(spec(live), spec(config), widgetType) as Json;
        expect(validateTyped(merged, widgetType, { allowDuplicates: true })).toEqual([]);
        expect(equal(mergeTyped(merged, spec(config), widgetType), merged)).toBe(true);
        const missing = toFieldSet(spec(config), widgetType).difference(toFieldSet(merged, widgetType));
        // What is applied empty may be full.
        for (const path of missing.paths()) expect(formatPath(path)).toMatch(/^\.spec\.(labels|free(\.\w+)?)$/);
        if (validateTyped(spec(live), widgetType).length === 0) {
          const { removed } = compareTyped(spec(live), merged, widgetType);
          for (const path of removed.paths()) expect(formatPath(path)).toMatch(/^\.spec\.free\./);
        }
      }),
    );
  });

  test('what does not change is shared', () => {
    fc.assert(
      fc.property(liveSpec, configSpec, (live, config) => {
        const merged = mergeTyped(spec(live), spec(config), widgetType) as { spec: JsonObject };
        expect(mergeTyped(merged, JSON.parse(JSON.stringify(spec(config))), widgetType)).toBe(merged);
        for (const name of Object.keys(live)) if (!(name in config)) expect(merged.spec[name]).toBe(live[name]);
      }),
    );
  });

  test('into nothing, and nothing into it', () => {
    fc.assert(
      fc.property(configSpec, (config) => {
        expect(equal(mergeTyped({}, spec(config), widgetType), spec(config))).toBe(true);
        expect(equal(mergeTyped(spec(config), {}, widgetType), spec(config))).toBe(true);
      }),
    );
  });
});

describe('removeItems and extractItems', () => {
  const live = {
    spec: {
      replicas: 1,
      set: ['a', 'b'],
      labels: { a: 'x', b: 'y' },
      selector: { a: 'x' },
      ports: [
        { port: 1, protocol: 'TCP', name: 'a' },
        { port: 2, name: 'b' },
      ],
    },
  };
  const part = { spec: { set: ['a'], labels: { a: 'x' }, selector: { a: 'x' }, ports: [{ port: 1, name: 'a' }] } };
  const items = toFieldSet(part, widgetType);

  test('removed', () => {
    expect(removeItems(live, items, widgetType)).toEqual({
      spec: { replicas: 1, set: ['b'], labels: { b: 'y' }, ports: [{ port: 2, name: 'b' }] },
    });
    const all = withNamedFields(toFieldSet(live, widgetType), widgetType);
    expect(removeItems(live, all, widgetType)).toBeNull();
    expect(removeItems(live, toFieldSet({ spec: { labels: { a: '', b: '' } } }, widgetType), widgetType)).toMatchObject(
      {
        spec: { labels: null },
      },
    );
  });

  test('extracted', () => {
    expect(extractItems(live, items, widgetType)).toEqual(part);
    const names = toFieldSet({ spec: { ports: [{ port: 1, name: 'a' }] } }, widgetType)
      .leaves()
      .difference(toFieldSet({ spec: { ports: [{ port: 1 }] } }, widgetType));
    expect(paths(names)).toEqual(['.spec.ports[port=1,protocol="TCP"].name']);
    expect(extractItems(live, names, widgetType)).toEqual({ spec: { ports: [{ name: 'a' }] } });
    expect(extractItems(live, names, widgetType, { withKeys: true })).toEqual({
      spec: { ports: [{ port: 1, protocol: 'TCP', name: 'a' }] },
    });
  });

  test('what is owned is extracted in full, and gone when removed', () => {
    fc.assert(
      fc.property(configSpec, configSpec, (a, b) => {
        const whole = mergeTyped(spec(a), spec(b), widgetType) as Json;
        const owned = toFieldSet(spec(b), widgetType).intersection(toFieldSet(whole, widgetType));
        const all = toFieldSet(whole, widgetType);
        expect(paths(toFieldSet(extractItems(whole, all.leaves(), widgetType), widgetType))).toEqual(paths(all));
        expect(paths(toFieldSet(removeItems(whole, owned, widgetType), widgetType).intersection(owned))).toEqual([]);
      }),
    );
  });

  test('of unknown shape', () => {
    const value = { a: { b: 1, c: [1] }, d: 1 };
    const set = toFieldSet({ a: { c: [] } }, deducedType).leaves();
    expect(removeItems(value, set, deducedType)).toEqual({ a: { b: 1 }, d: 1 });
    expect(extractItems(value, set, deducedType)).toEqual({ a: { c: [1] } });
  });
});

test('withNamedFields: declared fields above members, neither keys nor items', () => {
  const set = toFieldSet(
    spec({ labels: { a: 'x' }, ports: [{ port: 1, tags: ['t'] }], free: { a: { b: 1 } } }),
    widgetType,
  );
  const added = withNamedFields(set, widgetType).difference(set);
  expect(paths(added)).toEqual([
    '.spec',
    '.spec.free',
    '.spec.labels',
    '.spec.ports',
    '.spec.ports[port=1,protocol="TCP"].tags',
  ]);
});
