import type { GroupVersionKind, GroupVersionResource } from './gvk.js';
import type { KubeObject, ObjectMeta, TypeMeta, WriteMeta } from './meta.js';
import { Stamped } from './value/stamped.js';

/** Whether objects of a kind are namespaced or cluster-scoped. */
export type Scope = 'Namespaced' | 'Cluster';

/** How a kind is reached on a server (`meta.RESTMapping`). */
export interface RESTMapping {
  readonly resource: GroupVersionResource;
  readonly groupVersionKind: GroupVersionKind;
  readonly scope: Scope;
}

/** The metadata of a namespaced object. */
export interface NamespacedMeta extends ObjectMeta {
  readonly namespace: string;
}

/** The metadata of a cluster-scoped object. */
export interface ClusterMeta extends ObjectMeta {
  // No `undefined`, which is not part of a string where a project has exactOptionalPropertyTypes.
  readonly namespace?: never;
}

/** Names one object of a kind: with a namespace exactly if the kind is namespaced. */
export type KeyFor<S extends Scope> = Scope extends S
  ? { readonly namespace?: string | undefined; readonly name: string }
  : S extends 'Namespaced'
    ? { readonly namespace: string; readonly name: string }
    : { readonly namespace?: undefined; readonly name: string };

declare const filledIn: unique symbol;

/** Fields `F` are there in whatever the server gives, and may be left out of what is written. */
export interface FilledIn<F extends string> {
  /** Only for the compiler: never there at run time. */
  readonly [filledIn]?: F;
}

/** The fields of `R` that {@link FilledIn} names. */
type Filled<R> = R extends { readonly [filledIn]?: infer F } ? Extract<keyof R, F> : never;

/**
 * The type to write where `R` is read: metadata without the server's fields, `apiVersion` and `kind` known, and the
 * fields that the server fills in ({@link FilledIn}) optional.
 */
export type WriteOf<R extends KubeObject> = Omit<
  R,
  'apiVersion' | 'kind' | 'metadata' | typeof filledIn | Filled<R>
> & { readonly [F in Filled<R>]?: R[F] } & { readonly metadata: WriteMeta };

/** An object inside another one, as a template: `apiVersion` and `kind` may be left out, the server's fields are not there. */
export type Embedded<R extends KubeObject> = WriteOf<R> & Partial<Pick<R, 'apiVersion' | 'kind'>>;

/**
 * A list that the server treats as a map: the fields `K` identify its elements. A plain array everywhere else;
 * `applyFields` requires the keys in each element.
 */
export interface ListMap<T, K extends string> extends ReadonlyArray<T> {
  readonly [listMapKeys]?: K;
}
declare const listMapKeys: unique symbol;

declare const readType: unique symbol;
declare const built: unique symbol;

/** Identifies a kind and how to address it on a server. Enough for reading. */
export interface KindRef<R extends KubeObject = KubeObject, S extends Scope = Scope> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** `group/version`, or `version` alone in the core group. */
  readonly apiVersion: string;
  /** The resource's name in a URL, e.g. `deployments`. */
  readonly plural: string;
  readonly singular: string;
  readonly scope: S;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Names of the subresources that the kind is known to have, e.g. `status`, `scale`. */
  readonly subresources: readonly string[];
  readonly gvk: GroupVersionKind;
  readonly gvr: GroupVersionResource;
  /** Set by {@link metadataOnly}: objects are read with their metadata only. */
  readonly projection?: 'metadata';
  /** Only for the compiler: never there at run time. */
  readonly [readType]?: R;
}

/**
 * A kind of object, at run time and compile time: names what `Client` and caches are asked for, and, called, builds
 * an object to write with `apiVersion` and `kind` filled in:
 *
 * ```ts
 * const cm = ConfigMap({ metadata: { namespace: 'shop', name: 'cart' }, data: { currency: 'EUR' } });
 * ```
 *
 * `R` is what a server gives, `W` what a writer says, `S` where objects live. It carries plural and scope, so that
 * nothing has to be discovered first.
 */
export interface Kind<R extends KubeObject = KubeObject, W = WriteOf<R>, S extends Scope = Scope>
  extends KindRef<R, S> {
  <N extends string | undefined = undefined>(
    object: W & { readonly metadata: { readonly namespace?: N } },
  ): New<R, W, S, N>;
}

/** An object built by its {@link Kind}: `N` is the type of the namespace given, `undefined` if none was. */
export type New<R extends KubeObject, W, S extends Scope, N extends string | undefined> = TypeMeta &
  W & { readonly [built]?: { readonly read: R; readonly scope: S; readonly namespace: N } };

/** The type that a kind's objects have when read: `interface Foo extends KindOf<typeof Foo> {}`. */
export type KindOf<K> = K extends KindRef<infer R, infer _S> ? R : never;

/** The type that a kind's objects have when written. */
export type WriteTypeOf<K> = K extends Kind<infer _R, infer W, infer _S> ? W : never;

/** What the server gives back for an object written as `T`: its kind's read type, or `T` itself for a read object. */
export type ReadOf<T> = T extends { readonly [built]?: { readonly read: infer R } } ? (unknown extends R ? T : R) : T;

/**
 * Makes a missing namespace a compile error: intersected with the parameter of whatever sends an object `T` to a
 * server without knowing a namespace itself.
 */
export type Placed<T> = T extends { readonly [built]?: { readonly scope: infer S; readonly namespace: infer N } }
  ? [S, N] extends ['Namespaced', undefined]
    ? { readonly metadata: { readonly namespace: string } }
    : unknown
  : unknown;

/** The names of a kind, for {@link makeKind}. */
export interface KindSpec<S extends Scope = Scope> {
  /** `''` for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: S;
  /** @default the kind in lower case */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly string[];
}

const none: readonly never[] = Object.freeze([]);

/** An object that knows the kind that built it, so that it can be sent without looking its kind up. */
class Built extends Stamped {
  readonly #kind: KindRef;

  constructor(object: object, kind: KindRef) {
    super(object);
    this.#kind = kind;
  }

  static kindOf(object: object): KindRef | undefined {
    return #kind in object ? object.#kind : undefined;
  }
}

/**
 * Makes a {@link Kind} out of names alone. For kinds that have a schema use `defineKind`; for built-in ones import
 * them from `riata/kinds`. Without type arguments it is a kind of unknown shape (`unstructured.Unstructured`). What is
 * in `extra` becomes part of the kind.
 */
export function makeKind<
  R extends KubeObject = KubeObject & { readonly [field: string]: unknown },
  W = WriteOf<R>,
  S extends Scope = Scope,
>(spec: KindSpec<S>, extra: object = {}): Kind<R, W, S> {
  const { group, version, kind, plural, scope } = spec;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const build = (object: object): object => {
    const made = { apiVersion, kind, ...object };
    // A spread copies whatever apiVersion and kind the caller's object carries; the kind called is the one that counts.
    if (made.apiVersion !== apiVersion || made.kind !== kind) {
      throw new TypeError(
        `${kind}(…): the object has apiVersion ${JSON.stringify(made.apiVersion)}, kind ${JSON.stringify(made.kind)}; ` +
          `omit both, or build it with its own kind`,
      );
    }
    return new Built(made, ref as unknown as KindRef);
  };
  const fields = {
    ...extra,
    name: kind,
    group,
    version,
    kind,
    apiVersion,
    plural,
    singular: spec.singular ?? kind.toLowerCase(),
    scope,
    shortNames: spec.shortNames ?? none,
    categories: spec.categories ?? none,
    subresources: spec.subresources ?? none,
    gvk: Object.freeze({ group, version, kind }),
    gvr: Object.freeze({ group, version, resource: plural }),
  };
  const ref: object = build;
  for (const [key, value] of Object.entries(fields)) Object.defineProperty(ref, key, { value, enumerable: true });
  return Object.freeze(ref) as Kind<R, W, S>;
}

/** An object of which only the metadata was read (`metav1.PartialObjectMetadata`). It keeps its own `apiVersion` and `kind`. */
export interface MetadataOnly<S extends Scope = Scope> extends TypeMeta {
  readonly metadata: S extends 'Namespaced' ? NamespacedMeta : ObjectMeta;
}

/**
 * The same kind, read without spec and status: the server sends the metadata alone (`metadata.Interface`,
 * `WatchesMetadata`). What is read so cannot be used to `update`.
 */
export function metadataOnly<S extends Scope>(kind: KindRef<KubeObject, S>): KindRef<MetadataOnly<S>, S> {
  const { group, version, apiVersion, plural, singular, scope, shortNames, categories, subresources, gvk, gvr } = kind;
  return Object.freeze({
    ...{ group, version, kind: kind.kind, apiVersion, plural, singular, scope, shortNames, categories, subresources },
    gvk,
    gvr,
    projection: 'metadata',
  });
}

/** The kind that built this very object by being called; undefined for any other object, copies included. */
export function builderOf(object: object): KindRef | undefined {
  return Built.kindOf(object);
}
