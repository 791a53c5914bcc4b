import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freeze } from '../value/freeze.js';
import { jsonObject } from '../value/json.fixture.js';
import { lossOf, markLossy } from '../value/lossy.js';
import { applyStrategicMergePatch } from './apply-strategic-merge-patch.js';
import { isPatchError } from './patch-error.js';
import { anyPod, deploymentSchema, oddSchema, podSchema, serviceSchema } from './strategic.fixture.js';

const pod = (spec: object, patch: object): unknown =>
  (applyStrategicMergePatch(freeze({ spec }), freeze({ spec: patch }), podSchema) as { spec: unknown }).spec;
const names = (...list: string[]) => list.map((name) => ({ name }));

describe('maps', () => {
  test('are merged, null removes, types may change', () => {
    const target = { metadata: { labels: { a: '1', b: '2' }, annotations: { x: '1' } }, spec: { hostNetwork: true } };
    const patch = {
      metadata: { labels: { b: null, c: '3' }, annotations: 'text', none: null },
      spec: { added: { x: null, y: 1 } },
    };
    expect(applyStrategicMergePatch(freeze(target), freeze(patch), podSchema)).toEqual({
      metadata: { labels: { a: '1', c: '3' }, annotations: 'text' },
      spec: { hostNetwork: true, added: { y: 1 } },
    });
  });

  test('$patch: replace takes the patch as it is, $patch: delete leaves nothing', () => {
    expect(pod({ securityContext: { a: 1, b: 2 } }, { securityContext: { $patch: 'replace', c: 3 } })).toEqual({
      securityContext: { c: 3 },
    });
    expect(pod({ securityContext: { a: 1 } }, { securityContext: { $patch: 'delete' } })).toEqual({
      securityContext: {},
    });
    expect(applyStrategicMergePatch({ a: 1 }, { $patch: 'replace', b: 2 }, podSchema)).toEqual({ b: 2 });
  });

  test('a directive has no effect where there is nothing to work on', () => {
    expect(
      pod(
        {},
        { securityContext: { $patch: 'delete' }, affinity: { $retainKeys: ['a'], a: 1, b: { $patch: 'replace' } } },
      ),
    ).toEqual({
      affinity: { a: 1 },
    });
  });

  test('strategy replace', () => {
    const result = applyStrategicMergePatch({ whole: { a: 1, b: 2 } }, { whole: { c: null, d: 1 } }, oddSchema);
    expect(result).toEqual({ whole: { d: 1 } });
  });

  test('$retainKeys clears what it does not name', () => {
    const target = { spec: { replicas: 2, strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } } };
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } };
    expect(applyStrategicMergePatch(freeze(target), freeze(patch), deploymentSchema)).toEqual({
      spec: { replicas: 2, strategy: { type: 'Recreate' } },
    });
  });

  test('fields that the schema does not know are merged, their lists replaced', () => {
    expect(pod({ future: { a: { b: 1 }, list: [1] } }, { future: { a: { c: 2 }, list: [2] } })).toEqual({
      future: { a: { b: 1, c: 2 }, list: [2] },
    });
  });
});

describe('lists', () => {
  test('without a strategy are replaced', () => {
    expect(pod({ tolerations: [{ key: 'a' }] }, { tolerations: [{ key: 'b', effect: null }] })).toEqual({
      tolerations: [{ key: 'b' }],
    });
  });

  test('of objects are merged by key, nested ones too', () => {
    const before = {
      containers: [
        { name: 'a', image: '1', ports: [{ containerPort: 80 }] },
        { name: 'b', image: '1' },
      ],
    };
    const patch = { containers: [{ name: 'a', image: '2', ports: [{ containerPort: 443, protocol: 'TCP' }] }] };
    expect(pod(before, patch)).toEqual({
      containers: [
        { name: 'a', image: '2', ports: [{ containerPort: 443, protocol: 'TCP' }, { containerPort: 80 }] },
        { name: 'b', image: '1' },
      ],
    });
  });

  test('new elements come before those that the patch does not name', () => {
    expect(pod({ containers: names('a', 'b') }, { containers: names('c') })).toEqual({
      containers: names('c', 'a', 'b'),
    });
    expect(pod({ containers: names('a', 'b') }, { containers: names('b', 'a') })).toEqual({
      containers: names('b', 'a'),
    });
    expect(pod({ containers: names('a', 'b', 'c') }, { containers: names('c') })).toEqual({
      containers: names('a', 'b', 'c'),
    });
  });

  test('the port of a service is its key', () => {
    const target = { spec: { ports: [{ port: 80, targetPort: 1 }, { port: 443 }] } };
    const patch = { spec: { ports: [{ port: 80, targetPort: 2 }] } };
    expect(applyStrategicMergePatch(target, patch, serviceSchema)).toEqual({
      spec: { ports: [{ port: 80, targetPort: 2 }, { port: 443 }] },
    });
  });

  test('$patch: delete removes the element, $patch: replace the list', () => {
    expect(pod({ containers: names('a', 'b') }, { containers: [{ name: 'a', $patch: 'delete' }] })).toEqual({
      containers: names('b'),
    });
    expect(pod({ containers: names('a', 'b') }, { containers: [{ $patch: 'replace' }, ...names('c')] })).toEqual({
      containers: names('c'),
    });
    expect(pod({ containers: names('a') }, { containers: [{ $patch: 'replace' }] })).toEqual({ containers: [] });
    expect(pod({}, { containers: [{ name: 'a', $patch: 'delete' }, { name: 'b' }] })).toEqual({
      containers: names('b'),
    });
  });

  test('$retainKeys in an element: a volume changes its kind', () => {
    const before = {
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'w', emptyDir: {} },
      ],
    };
    const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] };
    expect(pod(before, patch)).toEqual({
      volumes: [
        { name: 'v', configMap: { name: 'c' } },
        { name: 'w', emptyDir: {} },
      ],
    });
  });

  test('of primitives are merged as sets, with deletions beside', () => {
    const apply = (finalizers: string[], metadata: object) =>
      applyStrategicMergePatch(freeze({ metadata: { finalizers } }), freeze({ metadata }), podSchema).metadata;
    expect(apply(['a', 'b'], { finalizers: ['b', 'c'] })).toEqual({ finalizers: ['a', 'b', 'c'] });
    expect(apply(['a', 'b', 'c'], { '$deleteFromPrimitiveList/finalizers': ['a', 'x'] })).toEqual({
      finalizers: ['b', 'c'],
    });
    expect(apply(['a', 'b'], { '$deleteFromPrimitiveList/finalizers': ['a'], finalizers: ['c'] })).toEqual({
      finalizers: ['c', 'b'],
    });
    expect(apply(['a', 'b', 'c'], { '$setElementOrder/finalizers': ['c', 'a'] })).toEqual({
      finalizers: ['b', 'c', 'a'],
    });
    expect(applyStrategicMergePatch({}, { '$deleteFromPrimitiveList/x': ['a'] }, podSchema)).toEqual({});
  });

  test('$setElementOrder orders what it names among the rest', () => {
    const order = (...list: string[]) => ({ '$setElementOrder/containers': names(...list) });
    expect(pod({ containers: names('a', 'b', 'c') }, order('c', 'a'))).toEqual({ containers: names('b', 'c', 'a') });
    expect(pod({ containers: names('a', 'x', 'b') }, { ...order('b', 'new', 'a'), containers: names('new') })).toEqual({
      containers: names('x', 'b', 'new', 'a'),
    });
    expect(pod({}, { ...order('a', 'b'), containers: names('a', 'b') })).toEqual({ containers: names('a', 'b') });
    expect(pod({ containers: [] }, order('a'))).toEqual({ containers: [] });
    expect(pod({}, order('a'))).toEqual({});
  });

  test('an addition takes the place of a deletion in the order, as on API servers', () => {
    const patch = {
      '$setElementOrder/volumes': names('v3'),
      volumes: [{ name: 'v3' }, { name: 'v1', $patch: 'delete' }],
    };
    expect(pod({ volumes: names('v1', 'v2') }, patch)).toEqual({ volumes: names('v2', 'v3') });
  });

  test('in a map with free keys, and in a type that holds itself', () => {
    const target = { self: { self: { byZone: { z1: [{ name: 'a', x: 1 }] } } } };
    const patch = { self: { self: { byZone: { z1: [{ name: 'a', y: 1 }], z2: [{ name: 'b' }] } } } };
    expect(applyStrategicMergePatch(target, patch, oddSchema)).toEqual({
      self: { self: { byZone: { z1: [{ name: 'a', x: 1, y: 1 }], z2: [{ name: 'b' }] } } },
    });
  });
});

describe('what is refused', () => {
  const containers = names('a', 'b');
  test.each<[string, object, object, RegExp]>([
    [
      'unknown directive',
      { s: {} },
      { s: { $patch: 'other' } },
      /at spec\.s: \$patch has to be "replace" or "delete", got "other"/,
    ],
    ['$patch: merge', { s: {} }, { s: { $patch: 'merge' } }, /got "merge"/],
    ['directive of another type', { s: {} }, { s: { $patch: {} } }, /got object/],
    [
      'unknown directive in a list',
      { containers },
      { containers: [{ name: 'a', $patch: 'merge' }] },
      /at spec\.containers: \$patch/,
    ],
    [
      'no merge key',
      { containers },
      { containers: [{ image: 'x' }] },
      /does not have the merge key "name" \(it has: image\)/,
    ],
    ['null as merge key', { containers }, { containers: [{ name: null }] }, /does not have the merge key "name"/],
    ['object as merge key', { containers }, { containers: [{ name: {} }] }, /"name" has to be a primitive, got object/],
    ['no merge key in a deletion', { containers }, { containers: [{ $patch: 'delete' }] }, /merge key "name"/],
    ['no merge key in the target', { containers: [{}] }, { containers }, /merge key "name"/],
    ['mixed list', { containers }, { containers: ['a'] }, /of one type, found object and string/],
    ['list of lists', { containers }, { containers: [['a']] }, /lists of lists/],
    ['null in a list', { containers }, { containers: [null] }, /cannot hold null/],
    [
      'order is no list',
      { containers },
      { '$setElementOrder/containers': {} },
      /at spec\.containers: expected a list, got object/,
    ],
    [
      'order of no list',
      { containers: 'x' },
      { '$setElementOrder/containers': containers },
      /expected a list, got string/,
    ],
    ['order without field', { containers }, { $setElementOrder: containers }, /\$setElementOrder\/<field>/],
    ['order without names', { containers }, { '$setElementOrder/containers': [{}] }, /merge key "name"/],
    [
      'patch not in its order',
      { containers },
      { '$setElementOrder/containers': names('a'), containers: names('b') },
      /does not name all/,
    ],
    [
      'patch in another order',
      { containers },
      { '$setElementOrder/containers': names('a', 'b'), containers: names('b', 'a') },
      /in another order/,
    ],
    ['retainKeys is no list', { s: {} }, { s: { $retainKeys: 'a' } }, /\$retainKeys has to be a list/],
    ['patch not retained', { s: {} }, { s: { $retainKeys: ['a'], b: 1 } }, /sets "b", which its \$retainKeys/],
    ['deletions are no list', { x: ['a'] }, { '$deleteFromPrimitiveList/x': 'a' }, /expected a list, got string/],
    ['deletions without field', { x: ['a'] }, { '$deleteFromPrimitiveList/': ['a'] }, /<field>/],
    ['deletions from objects', { containers }, { '$deleteFromPrimitiveList/containers': ['a'] }, /primitives only/],
  ])('%s', (_, before, patch, message) => {
    expect(() => pod(before, patch)).toThrow(message);
    try {
      pod(before, patch);
    } catch (error) {
      expect(isPatchError(error) && error.reason).toBe('invalid');
    }
  });

  test('objects in a merged list without a merge key', () => {
    expect(() => applyStrategicMergePatch({ objects: [{ a: 1 }] }, { objects: [{ a: 2 }] }, oddSchema)).toThrow(
      /at objects: objects in a list cannot be merged without a merge key/,
    );
  });

  test('anything but an object', () => {
    expect(() => applyStrategicMergePatch([], {}, podSchema)).toThrow(/target has to be an object, got array/);
    expect(() => applyStrategicMergePatch({}, [], podSchema)).toThrow(/at \(root\): the patch has to be an object/);
  });
});

describe('always', () => {
  test('keys are data', () => {
    const target = JSON.parse('{"spec":{"containers":[{"name":"__proto__","a":1}],"__proto__":{"a":1}}}') as object;
    const patch = JSON.parse(
      '{"spec":{"containers":[{"name":"__proto__","b":1}],"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
    ) as object;
    expect(JSON.stringify(applyStrategicMergePatch(freeze(target), freeze(patch), podSchema))).toBe(
      '{"spec":{"containers":[{"name":"__proto__","a":1,"b":1}],"__proto__":{"a":1,"polluted":1},"constructor":{"prototype":{"polluted":1}}}}',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test('losses are remembered', () => {
    const lossy = markLossy({ spec: {} }, 'transformed');
    expect(lossOf(applyStrategicMergePatch(lossy, { spec: { a: 1 } }, podSchema))).toEqual(lossOf(lossy));
  });

  test('any patch is applied or refused, and neither argument changes', () => {
    fc.assert(
      fc.property(fc.oneof(anyPod, jsonObject()), fc.oneof(anyPod, jsonObject()), (target, patch) => {
        const before = JSON.stringify([target, patch]);
        freeze([target, patch]);
        try {
          applyStrategicMergePatch(target, patch, podSchema);
        } catch (error) {
          if (!isPatchError(error)) throw error;
        }
        expect(JSON.stringify([target, patch])).toBe(before);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });

  test('applying twice is the same as once', () => {
    fc.assert(
      fc.property(anyPod, anyPod, (target, patch) => {
        const once = applyStrategicMergePatch(target, patch, podSchema);
        expect(applyStrategicMergePatch(once, patch, podSchema)).toEqual(once);
      }),
    );
  });
});
