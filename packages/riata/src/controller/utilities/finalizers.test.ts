import { describe, expect, test } from 'vitest';
import { freeze } from '../../object/value/freeze.js';
import { Finalizers } from './finalizers.js';

const cart = (metadata: object = {}) =>
  freeze({
    apiVersion: 'v1',
    kind: 'Cart',
    metadata: { name: 'cart', uid: 'u', resourceVersion: '1', creationTimestamp: '', ...metadata },
    status: { items: 3 },
  });
type Cart = ReturnType<typeof cart>;
const deleted = (...finalizers: readonly string[]) => cart({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers });

describe('of an object that lives', () => {
  test('adds what is missing, once', async () => {
    const finalizers = new Finalizers<Cart>().register('a.io/x', () => {}).register('a.io/y', () => {});
    const first = await finalizers.finalize(cart({ finalizers: ['other.io/z'] }));
    expect(first.object.metadata).toMatchObject({ finalizers: ['other.io/z', 'a.io/x', 'a.io/y'] });
    expect(first).toMatchObject({ updated: true, statusUpdated: false, error: undefined });
    const second = await finalizers.finalize(first.object);
    expect(second).toEqual({ object: first.object, updated: false, statusUpdated: false, error: undefined });
  });

  test('calls none', async () => {
    const finalizers = new Finalizers<Cart>().register('a.io/x', () => {
      throw new Error('called');
    });
    expect(await finalizers.finalize(cart())).toMatchObject({ error: undefined, updated: true });
  });
});

describe('of an object that is being deleted', () => {
  test('calls those that are still there, in order, and removes them', async () => {
    const called: string[] = [];
    const finalizers = new Finalizers<Cart>();
    for (const name of ['a.io/x', 'a.io/y', 'a.io/gone']) finalizers.register(name, () => void called.push(name));
    const { object, updated } = await finalizers.finalize(deleted('a.io/y', 'other.io/z', 'a.io/x'));
    expect(called).toEqual(['a.io/x', 'a.io/y']);
    expect(object.metadata).toMatchObject({ finalizers: ['other.io/z'] });
    expect(updated).toBe(true);
  });

  test('keeps those that fail, and continues with the others', async () => {
    const broken = new Error('broken');
    const finalizers = new Finalizers<Cart>()
      .register('a.io/x', async () => {
        throw broken;
      })
      .register('a.io/y', async () => {});
    const { object, updated, error } = await finalizers.finalize(deleted('a.io/x', 'a.io/y'));
    expect(object.metadata).toMatchObject({ finalizers: ['a.io/x'] });
    expect(updated).toBe(true);
    expect(error?.errors).toEqual([broken]);
    expect(error?.message).toBe('Cart "cart": 1 of its finalizers failed');
  });

  test('takes over what they change', async () => {
    const finalizers = new Finalizers<Cart>().register('a.io/x', (object) => ({ ...object, status: { items: 0 } }));
    const { object, statusUpdated } = await finalizers.finalize(deleted('a.io/x'));
    expect([object.status.items, statusUpdated]).toEqual([0, true]);
    expect(object.metadata).not.toHaveProperty('finalizers');
  });
});

test('names are checked and unique', () => {
  const finalizers = new Finalizers().register('a.io/x', () => {});
  expect(() => finalizers.register('a.io/x', () => {})).toThrow('"a.io/x" is already registered');
  expect(() => finalizers.register('no name', () => {})).toThrow('is not a valid finalizer name');
});
