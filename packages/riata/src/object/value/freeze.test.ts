import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freeze, isFrozenDeep } from './freeze.js';
import { jsonValue, nested, withProto } from './json.fixture.js';
import type { Mutable } from './mutable.js';

interface Thing {
  readonly spec: {
    readonly replicas: number;
    readonly names: readonly string[];
    readonly limits?: { readonly cpu: string };
  };
}

describe('freeze', () => {
  test('is total', () => {
    fc.assert(
      fc.property(jsonValue(), (x) => {
        const text = JSON.stringify(x);
        expect(isFrozenDeep(freeze(x))).toBe(true);
        expect(JSON.stringify(x)).toBe(text);
      }),
    );
  });

  test('returns its argument', () => {
    const x = { a: 1 };
    expect(freeze(x)).toBe(x);
    expect(freeze('text')).toBe('text');
    expect(freeze(null)).toBe(null);
  });

  test('catches what the types let slip', () => {
    const thing: Thing = freeze({ spec: { replicas: 1, names: ['a'] } });
    // Compiles: TypeScript takes a read-only object where a changeable one is asked for.
    const slipped: { spec: { replicas: number } } = thing;
    expect(() => {
      slipped.spec.replicas = 2;
    }).toThrow(TypeError);
    expect(() => {
      slipped.spec = { replicas: 2 };
    }).toThrow(TypeError);
    const cast = thing as Mutable<Thing>;
    expect(() => cast.spec.names.push('b')).toThrow(TypeError);
    expect(() => {
      cast.spec.limits = { cpu: '1' };
    }).toThrow(TypeError);
    expect(() => {
      delete (cast.spec as { replicas?: number }).replicas;
    }).toThrow(TypeError);
    expect(thing).toEqual({ spec: { replicas: 1, names: ['a'] } });
  });

  test('stops at what is frozen: a node frozen by hand counts as frozen all the way down', () => {
    const inner = { changeable: true };
    const byHand = Object.freeze({ inner });
    const whole = freeze({ byHand, other: { a: 1 } });
    expect(Object.isFrozen(whole.other)).toBe(true);
    expect(Object.isFrozen(inner)).toBe(false);
    expect(isFrozenDeep(whole)).toBe(false);
  });

  test('reaches the children of hostile keys and leaves prototypes alone', () => {
    const x = freeze(withProto({ inner: {} })) as Record<string, object>;
    expect(isFrozenDeep(x)).toBe(true);
    expect(Object.isFrozen(Object.prototype)).toBe(false);
    const lent = { x: 1 };
    (Object.prototype as { lent?: unknown }).lent = lent;
    try {
      freeze({ a: { b: {} } });
      expect(Object.isFrozen(lent)).toBe(false);
    } finally {
      delete (Object.prototype as { lent?: unknown }).lent;
    }
  });

  test('goes as deep as an API server does, and ends on a value that refers to itself', () => {
    expect(isFrozenDeep(freeze(nested(10_000)))).toBe(true);
    const loop: { self?: unknown } = {};
    loop.self = loop;
    expect(Object.isFrozen(freeze(loop))).toBe(true);
    expect(isFrozenDeep(loop)).toBe(true);
  });
});
