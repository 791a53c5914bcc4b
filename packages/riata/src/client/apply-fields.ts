import type { ListMap } from '../object/kind.js';
import type { KubeObject, WriteMeta } from '../object/meta.js';

/**
 * Some fields of an object, for server-side apply (Go's apply configurations): everything is optional, but elements of
 * keyed lists need their keys, and lists without keys are given whole, as the server replaces them as one.
 */
export type ApplyFields<R extends KubeObject> = DeepFields<Omit<R, 'apiVersion' | 'kind' | 'metadata'>> & {
  readonly metadata: ApplyMeta<R>;
};

type ApplyMeta<R extends KubeObject> = WriteMeta & { readonly name: string } & (R['metadata'] extends {
    readonly namespace: string;
  }
    ? { readonly namespace?: string }
    : unknown);

type DeepFields<T> =
  T extends ListMap<infer E, infer K>
    ? string extends K
      ? T
      : readonly (DeepFields<Omit<E, K>> & { readonly [P in K & keyof E]-?: NonNullable<E[P]> })[]
    : T extends readonly unknown[]
      ? T
      : T extends object
        ? { readonly [P in keyof T]?: DeepFields<T[P]> }
        : T;
