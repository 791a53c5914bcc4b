import { describe, expect, test } from 'vitest';
import { makeKind } from './kind.js';
import { kindOf, Scheme } from './scheme.js';

const FooV1 = makeKind({ group: 'x.dev', version: 'v1', kind: 'Foo', plural: 'foos', scope: 'Namespaced' });
const FooV2 = makeKind({ group: 'x.dev', version: 'v2', kind: 'Foo', plural: 'foos', scope: 'Namespaced' });
const Node = makeKind({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' });

describe('Scheme', () => {
  test('finds kinds by name and names by kind, in several versions', () => {
    const scheme = new Scheme(FooV1, Node).add(FooV2);
    expect(scheme.kindFor({ group: 'x.dev', version: 'v2', kind: 'Foo' })).toBe(FooV2);
    expect(scheme.kindFor({ group: 'x.dev', version: 'v3', kind: 'Foo' })).toBeUndefined();
    expect(scheme.gvkFor(Node)).toEqual({ group: '', version: 'v1', kind: 'Node' });
    expect(scheme.versionsOf('x.dev', 'Foo')).toEqual([FooV1, FooV2]);
    expect(scheme.recognizes({ group: '', version: 'v1', kind: 'Node' })).toBe(true);
    expect(scheme.recognizes({ group: 'v1', version: 'Node', kind: '' })).toBe(false);
    expect(scheme.kinds()).toEqual([FooV1, Node, FooV2]);
  });

  test('the same kind again is fine, another one of that name is an error and nothing is registered', () => {
    const scheme = new Scheme(FooV1).add(FooV1);
    const other = makeKind({ group: 'x.dev', version: 'v1', kind: 'Foo', plural: 'fooz', scope: 'Cluster' });
    expect(() => scheme.add(Node, other)).toThrow('x.dev/v1 Foo is already registered (as resource foos, Namespaced)');
    expect(scheme.kinds()).toEqual([FooV1]);
    expect(() => scheme.gvkFor(other)).toThrow('another Kind is registered as x.dev/v1 Foo');
    expect(() => scheme.gvkFor(Node)).toThrow('v1 Node is not registered; call scheme.add(Node)');
  });

  test('a copy goes its own way', () => {
    const scheme = new Scheme(FooV1);
    const copy = scheme.copy().add(Node);
    expect(copy.kinds()).toEqual([FooV1, Node]);
    expect(scheme.kinds()).toEqual([FooV1]);
  });

  test('kindOf: built objects know their kind, others are looked up', () => {
    const scheme = new Scheme(FooV1);
    expect(kindOf(Node({ metadata: { name: 'a' } }), scheme)).toBe(Node);
    expect(kindOf({ apiVersion: 'x.dev/v1', kind: 'Foo' }, scheme)).toBe(FooV1);
    expect(() => kindOf({ apiVersion: 'v1', kind: 'Node' }, scheme)).toThrow(
      'no kind is known for apiVersion "v1", kind "Node"',
    );
    expect(() => kindOf({ apiVersion: 'v1', kind: '__proto__' }, scheme)).toThrow('no kind is known');
  });
});

describe('Kind', () => {
  test('builds objects with apiVersion and kind first and leaves its argument alone', () => {
    const input = { metadata: { namespace: 'a', name: 'b' }, spec: { x: 1 } };
    const made = FooV1(input);
    expect(JSON.stringify(made)).toBe(
      '{"apiVersion":"x.dev/v1","kind":"Foo","metadata":{"namespace":"a","name":"b"},"spec":{"x":1}}',
    );
    expect(input).not.toHaveProperty('kind');
  });

  test('refuses an object of another kind', () => {
    const foreign = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } };
    expect(() => FooV1(foreign)).toThrow('Foo(…): the object has apiVersion "v1", kind "Pod"');
  });

  test('is a frozen value that says what it is', () => {
    expect(FooV1.apiVersion).toBe('x.dev/v1');
    expect(Node.apiVersion).toBe('v1');
    expect(FooV1.name).toBe('Foo');
    expect(FooV1.singular).toBe('foo');
    expect(FooV1.gvr).toEqual({ group: 'x.dev', version: 'v1', resource: 'foos' });
    expect(Object.isFrozen(FooV1)).toBe(true);
    expect(FooV1.shortNames).toEqual([]);
  });
});
