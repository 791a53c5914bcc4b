import { describe, expect, test } from 'vitest';
import { ThreadSafeStore } from './thread-safe-store.js';

interface Thing {
  readonly values: readonly string[];
  readonly metadata?: { readonly resourceVersion: string };
}

const byValues = { values: (thing: Thing) => thing.values };
const thing = (...values: string[]): Thing => ({ values });
const at = (resourceVersion: string, ...values: string[]): Thing => ({ values, metadata: { resourceVersion } });

describe('ThreadSafeStore', () => {
  test('delete removes empty sets from the index', () => {
    const store = new ThreadSafeStore(byValues);
    for (const key of ['a', 'b']) {
      store.add(key, thing('x'));
      expect(store.listIndexFuncValues('values')).toEqual(['x']);
    }
    store.delete('a');
    expect(store.listIndexFuncValues('values')).toEqual(['x']);
    store.delete('b');
    expect(store.listIndexFuncValues('values')).toEqual([]);
    expect(store.indexKeys('values', 'x')).toEqual([]);
  });

  test('add keeps a non-empty set after a delete from the index', () => {
    const store = new ThreadSafeStore(byValues);
    for (const key of ['keep', 'drop', 'other']) store.add(key, thing('x'));
    store.delete('drop');
    expect(store.indexKeys('values', 'x')).toEqual(['keep', 'other']);
    store.delete('other');
    store.add('more', thing('x'));
    expect(store.indexKeys('values', 'x')).toEqual(['keep', 'more']);
  });

  test('indexing functions with multiple values', () => {
    const store = new ThreadSafeStore(byValues);
    const byValue = () =>
      Object.fromEntries(
        store
          .listIndexFuncValues('values')
          .sort()
          .map((v) => [v, store.indexKeys('values', v)]),
      );
    store.add('key', thing('foo', 'bar', 'foo'));
    expect(byValue()).toEqual({ foo: ['key'], bar: ['key'] });
    store.update('key', thing('foo', 'baz'));
    expect(byValue()).toEqual({ foo: ['key'], baz: ['key'] });
    store.update('key', thing());
    expect(byValue()).toEqual({});
    store.update('key', thing('foo'));
    store.delete('key');
    expect(byValue()).toEqual({});
  });

  test('index finds what shares a value, each once; what it asks with need not be there', () => {
    const store = new ThreadSafeStore(byValues);
    const [a, b, c] = [thing('x', 'y'), thing('y'), thing('z')];
    store.add('a', a);
    store.add('b', b);
    store.add('c', c);
    expect(store.index('values', thing('x', 'y'))).toEqual([a, b]);
    expect(store.index('values', thing('z'))).toEqual([c]);
    expect(store.index('values', thing())).toEqual([]);
    expect(store.byIndex('values', 'y')).toEqual([a, b]);
  });

  test('resourceVersion: add, update, delete, replace and bookmark', () => {
    const store = new ThreadSafeStore<Thing>();
    const rv = () => store.lastStoreSyncResourceVersion();
    expect(rv()).toBe('');
    store.add('a', at('1'));
    expect(rv()).toBe('1');
    store.update('a', at('2'));
    expect(rv()).toBe('2');
    store.delete('a');
    expect(rv()).toBe('2');
    store.delete('a', at('3'));
    expect(rv()).toBe('3');
    store.add('b', thing());
    expect(rv()).toBe('3');
    store.replace(new Map([['c', at('4')]]), '7');
    expect(rv()).toBe('7');
    store.bookmark('9');
    expect(rv()).toBe('9');
    store.transaction([
      { type: 'Add', key: 'd', object: at('11') },
      { type: 'Delete', key: 'c', object: at('12') },
    ]);
    expect(rv()).toBe('12');
  });

  test('may change while a list is read', () => {
    const store = new ThreadSafeStore(byValues);
    for (const key of ['a', 'b', 'c']) store.add(key, thing('x'));
    const seen: string[] = [];
    for (const key of store.listKeys()) {
      store.delete('b');
      store.add(`${key}+`, thing('x'));
      seen.push(key);
    }
    for (const object of [...store.list(), ...store.byIndex('values', 'x')]) {
      store.update('c', thing('y'));
      expect(object.values).toHaveLength(1);
    }
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(store.listKeys().sort()).toEqual(['a', 'a+', 'b+', 'c', 'c+']);
  });

  test('a failing index function is named, and nothing has changed', () => {
    const store = new ThreadSafeStore<Thing>({
      first: ({ values }) => values,
      second: ({ values }) => {
        if (values.includes('bad')) throw new Error('cannot say');
        return values;
      },
    });
    store.add('a', thing('x'));
    expect(() => store.update('a', thing('bad'))).toThrow('index "second" of object "a": cannot say');
    expect(() => store.replace(new Map([['b', thing('bad')]]), '5')).toThrow('index "second" of object "b"');
    expect(store.listKeys()).toEqual(['a']);
    expect(store.indexKeys('first', 'x')).toEqual(['a']);
    expect(store.listIndexFuncValues('first')).toEqual(['x']);
    expect(store.lastStoreSyncResourceVersion()).toBe('');
    expect(() => store.addIndexers({ third: () => 'text' as never })).toThrow('expected an array of strings');
    expect(Object.keys(store.getIndexers())).toEqual(['first', 'second']);
  });

  test('an index function that fails on what it took before does not keep the object in', () => {
    let fails = false;
    const store = new ThreadSafeStore<Thing>({
      values: ({ values }) => {
        if (fails) throw new Error('no more');
        return values;
      },
    });
    store.add('a', thing('x', 'y'));
    store.add('b', thing('y'));
    fails = true;
    store.delete('a');
    expect(store.listIndexFuncValues('values')).toEqual(['y']);
    expect(store.indexKeys('values', 'y')).toEqual(['b']);
  });

  test('indexers can be added when there are objects; a name that is taken is refused', () => {
    const store = new ThreadSafeStore<Thing>();
    store.add('a', thing('x'));
    store.addIndexers(byValues);
    expect(store.indexKeys('values', 'x')).toEqual(['a']);
    store.add('b', thing('x'));
    expect(store.indexKeys('values', 'x')).toEqual(['a', 'b']);
    expect(() => store.addIndexers({ fresh: () => [], values: () => [] })).toThrow('index "values" already exists');
    expect(Object.keys(store.getIndexers())).toEqual(['values']);
    expect(() => store.byIndex('nope', 'x')).toThrow('index "nope" not found, known: "values"');
  });

  test('names of JavaScript are plain names here', () => {
    const store = new ThreadSafeStore<Thing>({ constructor: ({ values }: Thing) => values });
    store.add('__proto__', thing('toString'));
    expect(store.get('__proto__')).toEqual(thing('toString'));
    expect(store.get('constructor')).toBeUndefined();
    expect(store.indexKeys('constructor', 'toString')).toEqual(['__proto__']);
    expect(() => store.byIndex('toString', 'x')).toThrow('index "toString" not found');
  });
});

test('an index gets another function, or goes, while objects stay', () => {
  const store = new ThreadSafeStore<{ readonly name: string; readonly colour: string }>({
    by: ({ colour }) => [colour],
  });
  store.add('a', { name: 'a', colour: 'red' });
  store.add('b', { name: 'b', colour: 'blue' });
  store.setIndexer('by', ({ name }) => [name]);
  store.setIndexer('other', ({ colour }) => [colour]);
  store.add('c', { name: 'c', colour: 'red' });
  expect(store.indexKeys('by', 'c')).toEqual(['c']);
  expect(store.indexKeys('by', 'red')).toEqual([]);
  expect(store.indexKeys('other', 'red')).toEqual(['a', 'c']);
  store.removeIndexer('by');
  expect(() => store.indexKeys('by', 'c')).toThrow('index "by" not found, known: "other"');
  expect(store.size).toBe(3);
});
