import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equal } from '../value/equal.js';
import { freeze } from '../value/freeze.js';
import { jsonObject } from '../value/json.fixture.js';
import { applyStrategicMergePatch } from './apply-strategic-merge-patch.js';
import { createStrategicMergePatch } from './create-strategic-merge-patch.js';
import { patchSchema } from './patch-schema.js';
import { anyPod, deploymentSchema, oddSchema, podSchema } from './strategic.fixture.js';

const diff = (from: object, to: object): unknown => {
  const patch = createStrategicMergePatch({ spec: from }, { spec: to }, podSchema);
  return (patch as { spec?: unknown }).spec ?? {};
};

describe('createStrategicMergePatch', () => {
  test('says what changed in maps, and clears what is gone', () => {
    expect(diff({ a: 1, b: { c: 1, d: 1 }, gone: {} }, { a: 2, b: { c: 1 }, fresh: [] })).toEqual({
      a: 2,
      b: { d: null },
      fresh: [],
      gone: null,
    });
    expect(diff({ a: { b: 1 } }, { a: { b: 1 } })).toEqual({});
    expect(diff({ a: 1 }, { a: undefined })).toEqual({ a: null });
  });

  test('names elements of merged lists by key', () => {
    const from = {
      containers: [{ name: 'a', image: '1', ports: [{ containerPort: 80 }] }, { name: 'b' }, { name: 'c' }],
    };
    const to = {
      containers: [{ name: 'a', image: '2', ports: [{ containerPort: 80 }] }, { name: 'c' }, { name: 'd' }],
    };
    expect(diff(from, to)).toEqual({
      containers: [{ name: 'a', image: '2' }, { name: 'd' }, { name: 'b', $patch: 'delete' }],
      '$setElementOrder/containers': [{ name: 'a' }, { name: 'c' }, { name: 'd' }],
    });
  });

  test('a change of order alone is an order list', () => {
    expect(
      diff({ containers: [{ name: 'a' }, { name: 'b' }] }, { containers: [{ name: 'b' }, { name: 'a' }] }),
    ).toEqual({
      '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
    });
  });

  test('lists of primitives get their deletions beside', () => {
    const patch = createStrategicMergePatch(
      { metadata: { finalizers: ['a', 'b'] } },
      { metadata: { finalizers: ['c', 'a'] } },
      podSchema,
    );
    expect(patch).toEqual({
      metadata: {
        finalizers: ['c'],
        '$deleteFromPrimitiveList/finalizers': ['b'],
        '$setElementOrder/finalizers': ['c', 'a'],
      },
    });
  });

  test('lists from and to nothing', () => {
    expect(diff({ containers: [] }, { containers: [{ name: 'a' }] })).toEqual({ containers: [{ name: 'a' }] });
    expect(diff({ containers: [{ name: 'a' }] }, { containers: [] })).toEqual({
      containers: [{ name: 'a', $patch: 'delete' }],
    });
    expect(diff({ containers: [{ name: 'a' }] }, {})).toEqual({ containers: null });
    expect(diff({ tolerations: [{ key: 'a' }] }, { tolerations: [] })).toEqual({ tolerations: [] });
  });

  test('retainKeys names all that is left, sorted', () => {
    const patch = createStrategicMergePatch(
      { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: {} } } },
      { spec: { strategy: { type: 'Recreate' } } },
      deploymentSchema,
    );
    expect(patch).toEqual({ spec: { strategy: { type: 'Recreate', rollingUpdate: null, $retainKeys: ['type'] } } });
    expect(
      diff({ volumes: [{ name: 'v', emptyDir: {} }] }, { volumes: [{ name: 'v', configMap: { name: 'c' } }] }),
    ).toEqual({
      volumes: [{ name: 'v', configMap: { name: 'c' }, emptyDir: null, $retainKeys: ['configMap', 'name'] }],
      '$setElementOrder/volumes': [{ name: 'v' }],
    });
  });

  test('strategy replace takes the object whole, if it changed', () => {
    expect(createStrategicMergePatch({ whole: { a: 1, b: 1 } }, { whole: { a: 1 } }, oddSchema)).toEqual({
      whole: { a: 1 },
    });
    expect(createStrategicMergePatch({ whole: { a: 1 } }, { whole: { a: 1 } }, oddSchema)).toEqual({});
  });

  test('refuses ambiguous items, unless they are equal', () => {
    const broken = { containers: [{ image: 'x' }] };
    expect(() => diff(broken, { containers: [{ name: 'a' }] })).toThrow(/at spec\.containers: .*merge key "name"/);
    expect(() => diff({ containers: [{ name: 'a' }] }, broken)).toThrow(/merge key "name"/);
    expect(() => diff({ containers: [{ name: 'a' }] }, { containers: ['a'] })).toThrow(/of one type/);
    expect(diff(broken, { containers: [{ image: 'x' }] })).toEqual({});
    expect(() => createStrategicMergePatch([], {}, podSchema)).toThrow(/expected an object, got array/);
  });

  test('leads from one pod to the other', () => {
    fc.assert(
      fc.property(anyPod, anyPod, (from, to) => {
        freeze(from);
        freeze(to);
        const patch = createStrategicMergePatch(from, to, podSchema);
        expect(equal(applyStrategicMergePatch(from, patch, podSchema), to)).toBe(true);
        expect(Object.keys(patch).length === 0).toBe(equal(from, to));
      }),
    );
  });

  test('without a schema, leads from any object to any other, hostile keys included', () => {
    const plain = patchSchema({});
    const any = jsonObject({ nulls: false });
    fc.assert(
      fc.property(any, any, (from, to) => {
        const patch = createStrategicMergePatch(freeze(from), freeze(to), plain);
        expect(equal(applyStrategicMergePatch(from, patch, plain), to)).toBe(true);
      }),
    );
  });
});
