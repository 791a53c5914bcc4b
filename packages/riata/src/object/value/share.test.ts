import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clone } from './clone.js';
import { equal } from './equal.js';
import { freeze, isFrozenDeep } from './freeze.js';
import { jsonValue, nested } from './json.fixture.js';
import { share } from './share.js';

const pod = (phase: string, version = '1') => ({
  metadata: { name: 'a', resourceVersion: version, labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
  status: { phase, conditions: [{ type: 'Ready' }, { type: 'Initialized' }] },
});

describe('share', () => {
  test('keeps the subtrees that did not change', () => {
    const old = freeze(pod('Pending'));
    const next = share(old, pod('Running', '2'));
    expect(next).toEqual(pod('Running', '2'));
    expect(next.spec).toBe(old.spec);
    expect(next.metadata.labels).toBe(old.metadata.labels);
    expect(next.status.conditions).toBe(old.status.conditions);
    expect(next.status).not.toBe(old.status);
    expect(old).toEqual(pod('Pending'));
  });

  test('returns previous when nothing changed', () => {
    const old = freeze(pod('Running'));
    expect(share(old, pod('Running'))).toBe(old);
    expect(share(old, { ...clone(old), gone: undefined })).toBe(old);
  });

  test('compares lists by index', () => {
    const old = { list: [{ a: 1 }, { b: 1 }, { c: 1 }] };
    const next = share(old, { list: [{ a: 1 }, { b: 2 }, { c: 1 }, { d: 1 }] });
    expect(next.list[0]).toBe(old.list[0]);
    expect(next.list[2]).toBe(old.list[2]);
    expect(next.list).toEqual([{ a: 1 }, { b: 2 }, { c: 1 }, { d: 1 }]);
    const shorter = share(old, { list: [{ a: 1 }] });
    expect(shorter.list).toEqual([{ a: 1 }]);
    expect(shorter.list[0]).toBe(old.list[0]);
  });

  test('counts another order of keys as unchanged, and keeps the order of next where something changed', () => {
    const old = { m: { a: 1, b: 2 }, x: 1 };
    const next = share(old, { x: 2, m: { b: 2, a: 1 } });
    expect(JSON.stringify(next)).toBe('{"x":2,"m":{"a":1,"b":2}}');
  });

  test('never writes to frozen parts of next', () => {
    const old = freeze({ a: { deep: [1] }, list: [{ x: 1 }, { y: 1 }], v: 1 });
    const next = freeze({ a: { deep: [1] }, list: [{ x: 1 }, { y: 2 }], v: 2 });
    const shared = share(old, next);
    expect(shared).toEqual(next);
    expect(shared.a).toBe(old.a);
    expect(shared.list[0]).toBe(old.list[0]);
    expect(next.a).not.toBe(old.a);
  });

  test('result is equal to next, previous is untouched, all pieces equal to previous are its own', () => {
    fc.assert(
      fc.property(jsonValue(), jsonValue(), fc.boolean(), (previous, next, frozen) => {
        const expected = clone(next);
        const before = JSON.stringify(previous);
        freeze(previous);
        if (frozen) freeze(next);
        const shared = share(previous, next);
        expect(equal(shared, expected)).toBe(true);
        expect(JSON.stringify(previous)).toBe(before);
        expect(isFrozenDeep(previous)).toBe(true);
        assertShared(previous, shared);
      }),
    );
  });

  test('takes hostile keys as data', () => {
    const old = JSON.parse('{"__proto__":{"a":{}},"constructor":{"prototype":{}},"v":1}') as Record<string, object>;
    const next = JSON.parse('{"__proto__":{"a":{}},"constructor":{"prototype":{}},"v":2}') as Record<string, object>;
    const shared = share(freeze(old), next);
    expect(JSON.stringify(shared)).toBe('{"__proto__":{"a":{}},"constructor":{"prototype":{}},"v":2}');
    expect(Object.getOwnPropertyDescriptor(shared, '__proto__')?.value).toBe(
      Object.getOwnPropertyDescriptor(old, '__proto__')?.value,
    );
    expect(shared.constructor).toBe(old.constructor);
    expect(Object.getPrototypeOf(shared)).toBe(Object.prototype);
    expect(share({}, JSON.parse('{"__proto__":{}}') as object)).not.toEqual({});
  });

  test('goes as deep as an API server does', () => {
    const old = freeze(nested(10_000));
    expect(share(old, nested(10_000))).toBe(old);
    expect(equal(share(old, nested(9_998)), nested(9_998))).toBe(true);
  });

  test('takes anything as previous', () => {
    for (const previous of [undefined, null, 1, 'x', []]) expect(share(previous, { a: 1 })).toEqual({ a: 1 });
    expect(share({ a: 1 }, 5)).toBe(5);
    expect(share({ a: 1 }, null)).toBe(null);
  });
});

/** Where both have a child under the same key and the children are equal, it is the same child. */
function assertShared(previous: unknown, shared: unknown): void {
  if (typeof previous !== 'object' || typeof shared !== 'object' || previous === null || shared === null) return;
  if (Array.isArray(previous) !== Array.isArray(shared)) return;
  for (const [key, child] of Object.entries(shared) as [string, unknown][]) {
    const before: unknown = Object.getOwnPropertyDescriptor(previous, key)?.value;
    if (equal(before, child)) expect(child).toBe(before);
    else assertShared(before, child);
  }
}
