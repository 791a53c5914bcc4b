import { describe, expectTypeOf, test } from 'vitest';
import {
  type KeyFor,
  type Kind,
  type KindOf,
  type KindRef,
  type ListMap,
  makeKind,
  type NamespacedMeta,
  type Placed,
  type ReadOf,
  type Scope,
  type WriteOf,
} from './kind.js';
import type { KubeObject } from './meta.js';

interface Gadget extends KubeObject {
  readonly apiVersion: 'x.dev/v1';
  readonly kind: 'Gadget';
  readonly metadata: NamespacedMeta;
  readonly spec: {
    readonly size: number;
    readonly color?: string;
    readonly parts?: ListMap<{ readonly name: string; readonly n?: number }, 'name'>;
  };
  readonly status?: { readonly ready: boolean };
}
const Gadget: Kind<Gadget, WriteOf<Gadget>, 'Namespaced'> = makeKind({
  group: 'x.dev',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  scope: 'Namespaced',
});
interface Zone extends KubeObject {
  readonly spec: { readonly a: string };
}
const Zone: Kind<Zone, WriteOf<Zone>, 'Cluster'> = makeKind({
  group: 'x.dev',
  version: 'v1',
  kind: 'Zone',
  plural: 'zones',
  scope: 'Cluster',
});

declare function create<T extends object>(object: T & Placed<T>): ReadOf<T>;
declare function get<R extends KubeObject, S extends Scope>(kind: KindRef<R, S>, key: KeyFor<S>): R;

describe('Kind', () => {
  test('reads give the read type', () => {
    expectTypeOf(get(Gadget, { namespace: 'a', name: 'b' })).toEqualTypeOf<Gadget>();
    // @ts-expect-error a namespaced kind wants a namespace
    get(Gadget, { name: 'b' });
    get(Zone, { name: 'b' });
    // @ts-expect-error a cluster kind has none
    get(Zone, { namespace: 'a', name: 'b' });
    expectTypeOf<KindOf<typeof Gadget>>().toEqualTypeOf<Gadget>();
  });
  test('building checks what is written', () => {
    const g = Gadget({ metadata: { namespace: 'a', name: 'b' }, spec: { size: 1, parts: [{ name: 'x' }] } });
    expectTypeOf(create(g)).toEqualTypeOf<Gadget>();
    // @ts-expect-error spec.size is wanted
    Gadget({ metadata: { namespace: 'a', name: 'b' }, spec: {} });
    // @ts-expect-error no such field
    Gadget({ metadata: { namespace: 'a', name: 'b' }, spec: { size: 1, sice: 2 } });
    // @ts-expect-error no such field
    Gadget({ metadata: { namespace: 'a', name: 'b', nmae: 'x' }, spec: { size: 1 } });
    // @ts-expect-error uid is the server's
    Gadget({ metadata: { namespace: 'a', name: 'b', uid: 'x' }, spec: { size: 1 } });
  });
  test('a missing namespace is an error where it matters', () => {
    const g = Gadget({ metadata: { name: 'b' }, spec: { size: 1 } });
    // @ts-expect-error no namespace
    create(g);
    // @ts-expect-error no namespace
    create(Gadget({ metadata: { name: 'b' }, spec: { size: 1 } }));
    create(Zone({ metadata: { name: 'b' }, spec: { a: '' } }));
    const ns: string = 'x';
    create(Gadget({ metadata: { namespace: ns, name: 'b' }, spec: { size: 1 } }));
    const read = get(Gadget, { namespace: 'a', name: 'b' });
    expectTypeOf(create(read)).toEqualTypeOf<Gadget>();
  });
});
