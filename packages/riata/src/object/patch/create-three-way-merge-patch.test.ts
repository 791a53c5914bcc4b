import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { equal } from '../value/equal.js';
import { freeze } from '../value/freeze.js';
import { applyStrategicMergePatch } from './apply-strategic-merge-patch.js';
import { createStrategicMergePatch } from './create-strategic-merge-patch.js';
import { createThreeWayMergePatch } from './create-three-way-merge-patch.js';
import { isPatchError } from './patch-error.js';
import { anyPod, podSchema } from './strategic.fixture.js';

const original = freeze({
  metadata: { labels: { app: 'a', old: 'x' }, finalizers: ['mine', 'gone'] },
  spec: { containers: [{ name: 'app', image: '1', env: [{ name: 'A', value: '1' }] }, { name: 'removed' }] },
});
const modified = freeze({
  metadata: { labels: { app: 'a' }, finalizers: ['mine'] },
  spec: { containers: [{ name: 'app', image: '2', env: [{ name: 'B', value: '1' }] }] },
});
const current = freeze({
  metadata: { labels: { app: 'a', old: 'x', theirs: 'y' }, finalizers: ['theirs', 'mine', 'gone'] },
  spec: {
    nodeName: 'n1',
    containers: [
      { name: 'sidecar', image: 's' },
      { name: 'app', image: '1', env: [{ name: 'A', value: '1' }], pullPolicy: 'Always' },
      { name: 'removed' },
    ],
  },
});

describe('createThreeWayMergePatch', () => {
  test('sets what is wanted, removes what was applied before, leaves the rest', () => {
    const patch = createThreeWayMergePatch(original, modified, current, podSchema);
    expect(patch).toEqual({
      metadata: {
        labels: { old: null },
        '$deleteFromPrimitiveList/finalizers': ['gone'],
        '$setElementOrder/finalizers': ['mine'],
      },
      spec: {
        containers: [
          {
            name: 'app',
            image: '2',
            env: [
              { name: 'B', value: '1' },
              { name: 'A', $patch: 'delete' },
            ],
            '$setElementOrder/env': [{ name: 'B' }],
          },
          { name: 'removed', $patch: 'delete' },
        ],
        '$setElementOrder/containers': [{ name: 'app' }],
      },
    });
    expect(applyStrategicMergePatch(current, patch, podSchema)).toEqual({
      metadata: { labels: { app: 'a', theirs: 'y' }, finalizers: ['theirs', 'mine'] },
      spec: {
        nodeName: 'n1',
        containers: [
          { name: 'sidecar', image: 's' },
          { name: 'app', image: '2', env: [{ name: 'B', value: '1' }], pullPolicy: 'Always' },
        ],
      },
    });
  });

  test('is empty when the server has what is wanted', () => {
    expect(createThreeWayMergePatch(original, original, current, podSchema)).toEqual({
      metadata: { '$setElementOrder/finalizers': ['mine', 'gone'] },
      spec: { '$setElementOrder/containers': [{ name: 'app' }, { name: 'removed' }] },
    });
    expect(createThreeWayMergePatch(original, original, original, podSchema)).toEqual({});
    expect(createThreeWayMergePatch({}, modified, modified, podSchema)).toEqual({});
  });

  test('keeps directives when both halves have them', () => {
    const volume = (source: object) => ({ spec: { volumes: [{ name: 'v', ...source }] } });
    const patch = createThreeWayMergePatch(
      volume({ emptyDir: {} }),
      volume({ configMap: { name: 'c' } }),
      volume({ emptyDir: {}, hostPath: {} }),
      podSchema,
    );
    expect(patch).toEqual({
      spec: {
        volumes: [{ name: 'v', emptyDir: null, configMap: { name: 'c' }, $retainKeys: ['configMap', 'name'] }],
        '$setElementOrder/volumes': [{ name: 'v' }],
      },
    });
    expect(applyStrategicMergePatch(volume({ emptyDir: {}, hostPath: {} }), patch, podSchema)).toEqual(
      volume({ configMap: { name: 'c' } }),
    );
  });

  test('with nothing applied before it is a merge', () => {
    fc.assert(
      fc.property(anyPod, anyPod, (to, now) => {
        const patch = createThreeWayMergePatch({}, to, now, podSchema);
        const result = applyStrategicMergePatch(now, patch, podSchema);
        // Nothing left to do.
        const again = createThreeWayMergePatch(to, to, result, podSchema);
        expect(equal(applyStrategicMergePatch(result, again, podSchema), result)).toBe(true);
      }),
    );
  });

  test('with nothing changed by others it is the two-way patch in effect', () => {
    fc.assert(
      fc.property(anyPod, anyPod, (from, to) => {
        const patch = createThreeWayMergePatch(freeze(from), freeze(to), from, podSchema);
        expect(equal(applyStrategicMergePatch(from, patch, podSchema), to)).toBe(true);
        expect(equal(patch, {})).toBe(equal(createStrategicMergePatch(from, to, podSchema), {}));
      }),
    );
  });
});

describe('conflicts', () => {
  const three = (from: object, to: object, now: object) => () =>
    createThreeWayMergePatch({ spec: from }, { spec: to }, { spec: now }, podSchema, { overwrite: false });

  test.each<[string, object, object, object]>([
    ['nobody changed', { a: 1 }, { a: 1 }, { a: 1 }],
    ['only we changed', { a: 1 }, { a: 2 }, { a: 1 }],
    ['others changed elsewhere', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 1, c: 3 }],
    ['both removed', { a: 1 }, {}, {}],
    [
      'others changed another element',
      { containers: [{ name: 'a' }, { name: 'b' }] },
      { containers: [{ name: 'a', x: 1 }, { name: 'b' }] },
      { containers: [{ name: 'a' }, { name: 'b', x: 2 }] },
    ],
  ])('none: %s', (_, from, to, now) => {
    expect(three(from, to, now)).not.toThrow();
  });

  test.each<[string, string, object, object, object]>([
    ['both changed', 'spec.a', { a: 1 }, { a: 2 }, { a: 3 }],
    ['they removed', 'spec.a', { a: 1 }, { a: 2 }, {}],
    ['we removed', 'spec.a', { a: 1 }, {}, { a: 2 }],
    ['in a list', 'spec.list', { list: [1] }, { list: [2] }, { list: [3] }],
    [
      'in an element',
      'spec.containers[].x',
      { containers: [{ name: 'a', x: 0 }] },
      { containers: [{ name: 'a', x: 1 }] },
      { containers: [{ name: 'a', x: 2 }] },
    ],
    [
      'element removed',
      'spec.containers[]',
      { containers: [{ name: 'a', x: 0 }] },
      { containers: [{ name: 'a', x: 1 }] },
      { containers: [] },
    ],
  ])('%s: at %s', (_, path, from, to, now) => {
    expect(three(from, to, now)).toThrow(`${path} was changed on the server`);
    try {
      three(from, to, now)();
    } catch (error) {
      expect(isPatchError(error) && [error.reason, error.path]).toEqual(['conflict', path]);
    }
  });

  test('are overwritten by default', () => {
    expect(createThreeWayMergePatch({ a: 1 }, { a: 2 }, { a: 3 }, podSchema)).toEqual({ a: 2 });
  });
});
