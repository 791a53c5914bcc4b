import { expect, test } from 'vitest';
import { addFinalizer, containsFinalizer, finalizerProblems, isDeleting, removeFinalizer } from './finalizers.js';
import { lossOf, markLossy } from './value/lossy.js';

const pod = Object.freeze({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: Object.freeze({ name: 'a', finalizers: Object.freeze(['x.io/a', 'x.io/b', 'x.io/a']), uid: 'u' }),
  spec: {},
});

test('contains', () => {
  expect(containsFinalizer(pod, 'x.io/a')).toBe(true);
  expect(containsFinalizer(pod, 'x.io/c')).toBe(false);
  expect(containsFinalizer({}, 'x.io/a')).toBe(false);
});

test('add puts it last, once', () => {
  expect(addFinalizer(pod, 'x.io/a')).toBe(pod);
  const added = addFinalizer(pod, 'x.io/c');
  expect(added.metadata.finalizers).toEqual(['x.io/a', 'x.io/b', 'x.io/a', 'x.io/c']);
  expect(Object.keys(added)).toEqual(Object.keys(pod));
  expect(Object.keys(added.metadata)).toEqual(['name', 'finalizers', 'uid']);
  expect(added.spec).toBe(pod.spec);
  expect(pod.metadata.finalizers).toHaveLength(3);
  expect(addFinalizer<{ kind: string; metadata?: object }>({ kind: 'Pod' }, 'x.io/a')).toEqual({
    kind: 'Pod',
    metadata: { finalizers: ['x.io/a'] },
  });
});

test('remove takes away every one of that name, and the field when it is empty', () => {
  expect(removeFinalizer(pod, 'x.io/c')).toBe(pod);
  const removed = removeFinalizer(pod, 'x.io/a');
  expect(removed.metadata.finalizers).toEqual(['x.io/b']);
  expect(removeFinalizer(removed, 'x.io/b').metadata).toStrictEqual({ name: 'a', uid: 'u' });
});

test('hostile annotations survive, and so does what is known of losses', () => {
  const hostile = JSON.parse(
    '{"metadata":{"name":"a","__proto__":{"finalizers":["x.io/f"]},"annotations":{"__proto__":"y"}}}',
  );
  markLossy(hostile, 'transformed');
  expect(containsFinalizer(hostile, 'x.io/f')).toBe(false);
  const added = addFinalizer(hostile, 'x.io/f');
  expect(JSON.stringify(added)).toBe(
    '{"metadata":{"name":"a","__proto__":{"finalizers":["x.io/f"]},"annotations":{"__proto__":"y"},"finalizers":["x.io/f"]}}',
  );
  expect(lossOf(added)).toEqual(lossOf(hostile));
});

test('a name that servers refuse is refused', () => {
  expect(() => addFinalizer(pod, 'not a name')).toThrow('Pod "a": "not a name" is not a valid finalizer name');
  expect(finalizerProblems('foregroundDeletion')).toEqual([]);
  expect(finalizerProblems('example.com/cleanup')).toEqual([]);
  expect(finalizerProblems('a/b/c')).not.toEqual([]);
});

test('deletion shows in its timestamp', () => {
  expect(isDeleting(pod)).toBe(false);
  expect(isDeleting({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })).toBe(true);
});
