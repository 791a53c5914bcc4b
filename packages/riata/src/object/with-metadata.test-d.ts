import { expectTypeOf, test } from 'vitest';
import { addFinalizer, removeFinalizer } from './finalizers.js';
import { keyOf } from './key.js';
import type { KubeObject, OwnerReference, TypeMeta, WriteMeta } from './meta.js';
import { setControllerReference, setOwnerReference } from './owner-references.js';

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string };
}
interface PodToWrite extends TypeMeta {
  readonly metadata: WriteMeta;
  readonly spec: { readonly nodeName?: string };
}
declare const pod: Pod;
declare const written: PodToWrite;

test('helpers take what is read and what is written, and give the same type back', () => {
  expectTypeOf(addFinalizer(pod, 'x')).toEqualTypeOf<Pod>();
  expectTypeOf(removeFinalizer(written, 'x')).toEqualTypeOf<PodToWrite>();
  expectTypeOf(setControllerReference(pod, written)).toEqualTypeOf<PodToWrite>();
  expectTypeOf(setOwnerReference(pod, pod)).toEqualTypeOf<Pod>();
  expectTypeOf(keyOf(written)).toEqualTypeOf<string>();
});

test('an object that was never stored owns nothing', () => {
  // @ts-expect-error it has no uid
  expectTypeOf(setControllerReference(written, pod)).toEqualTypeOf<Pod>();
});

test('results are read-only', () => {
  const refs = setOwnerReference(pod, pod).metadata.ownerReferences;
  expectTypeOf(refs).toEqualTypeOf<readonly OwnerReference[] | undefined>();
});
