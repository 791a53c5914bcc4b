import { describe, expectTypeOf, test } from 'vitest';
import type { Json, JsonObject } from '../json.js';
import type { KubeObject, ObjectMeta } from '../meta.js';
import { clone } from './clone.js';
import { edit } from './edit.js';
import { freeze } from './freeze.js';
import type { Mutable } from './mutable.js';
import { share } from './share.js';

interface Pod extends KubeObject {
  readonly spec: {
    readonly containers: readonly { readonly name: string; readonly args?: readonly string[] }[];
    readonly nodeSelector?: Readonly<Record<string, string>>;
    readonly strategy: { readonly type: 'A'; readonly a: readonly number[] } | { readonly type: 'B' };
    readonly pair: readonly [x: string, y?: { readonly deep: boolean }];
  };
}

type Inner = Mutable<Pod>['spec'];

describe('Mutable', () => {
  test('takes readonly off, all the way down', () => {
    expectTypeOf<Inner['containers']>().toEqualTypeOf<{ name: string; args?: string[] }[]>();
    expectTypeOf<Inner['nodeSelector']>().toEqualTypeOf<Record<string, string> | undefined>();
    expectTypeOf<Inner['strategy']>().toEqualTypeOf<{ type: 'A'; a: number[] } | { type: 'B' }>();
    expectTypeOf<Inner['pair']>().toEqualTypeOf<[x: string, y?: { deep: boolean }]>();
    expectTypeOf<Mutable<ObjectMeta>['finalizers']>().toEqualTypeOf<string[] | undefined>();
  });

  test('leaves primitives, literals, functions and unknown as they are', () => {
    expectTypeOf<Mutable<string>>().toEqualTypeOf<string>();
    expectTypeOf<Mutable<'a' | 1 | null | undefined>>().toEqualTypeOf<'a' | 1 | null | undefined>();
    expectTypeOf<Mutable<(x: number) => string>>().toEqualTypeOf<(x: number) => string>();
    expectTypeOf<Mutable<unknown>>().toEqualTypeOf<unknown>();
    expectTypeOf<Mutable<'Apply' | (string & {})>>().toEqualTypeOf<'Apply' | (string & {})>();
  });

  test('keeps optional members optional', () => {
    expectTypeOf<Mutable<{ readonly a?: readonly string[] }>>().toEqualTypeOf<{ a?: string[] }>();
  });

  test('takes recursive types', () => {
    const copy = clone({} as JsonObject);
    copy.spec = { list: ['a'] };
    const list = clone([] as readonly Json[]);
    list.push({ a: [null] });
    expectTypeOf(list.length).toBeNumber();
    expectTypeOf(copy).toExtend<object>();
  });
});

describe('what the types hold off', () => {
  test('an object as read cannot be written to', () => {
    const pod = {} as Pod;
    // @ts-expect-error a member is read-only
    pod.metadata.name = 'b';
    // @ts-expect-error a list is read-only
    pod.spec.containers.push({ name: 'c' });
    // @ts-expect-error a read-only array is not a changeable one
    const list: { name: string }[] = pod.spec.containers;
    expectTypeOf(list).toEqualTypeOf<{ name: string }[]>();
  });

  test('clone and edit infer the changeable type from the argument, and edit gives the read-only one back', () => {
    const pod = {} as Pod;
    expectTypeOf(clone(pod)).toEqualTypeOf<Mutable<Pod>>();
    expectTypeOf(edit).parameter(1).toBeFunction();
    const edited = edit(pod, (draft) => {
      expectTypeOf(draft).toEqualTypeOf<Mutable<Pod>>();
      draft.spec.containers.push({ name: 'c' });
      draft.metadata.labels = { a: 'b' };
    });
    expectTypeOf(edited).toEqualTypeOf<Pod>();
    expectTypeOf(share(pod, pod)).toEqualTypeOf<Pod>();
    expectTypeOf(freeze(pod)).toEqualTypeOf<Pod>();
  });

  test('a clone passes where the read-only type is asked for', () => {
    expectTypeOf<Mutable<Pod>>().toExtend<Pod>();
  });
});

describe('what the types let slip (the freeze catches it: freeze.test.ts)', () => {
  test('a read-only object passes for a changeable one, as long as no array is in the way', () => {
    const meta = {} as { readonly name: string; readonly labels: { readonly a: string } };
    const slipped: { name: string; labels: { a: string } } = meta;
    slipped.name = 'b';
    expectTypeOf(meta).toExtend<Mutable<typeof meta>>();
  });

  test('so it does as an argument', () => {
    const rename = (x: { metadata: { name: string } }): void => {
      x.metadata.name = 'b';
    };
    expectTypeOf<Pod>().toExtend<Parameters<typeof rename>[0]>();
  });
});
