import type { CelAuthorizer, CelList, CelMap, CelOf, CelString, CelTest } from '../../object/cel/cel-types.js';
import type { KindOf, KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';

/** What a request does to an object. */
export type PolicyOperation = 'create' | 'update' | 'delete' | 'connect';

interface NamedKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

interface NamedResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** The request, as expressions see it (`AdmissionRequest` without its objects). */
export interface PolicyRequestFields {
  readonly kind: NamedKind;
  readonly resource: NamedResource;
  readonly subResource?: string;
  readonly requestKind: NamedKind;
  readonly requestResource: NamedResource;
  readonly requestSubResource?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
  readonly userInfo: {
    readonly username?: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: { readonly [key: string]: readonly string[] };
  };
  readonly dryRun?: boolean;
  readonly options?: unknown;
}

/** The namespace of the object, as expressions see it. */
export interface PolicyNamespace {
  readonly metadata: {
    readonly name: string;
    readonly labels?: { readonly [key: string]: string };
    readonly annotations?: { readonly [key: string]: string };
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
  };
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string };
}

/** What a policy is made of, for the compiler. */
export interface PolicyTypes {
  readonly object: KubeObject;
  /** Undefined for a policy without params. */
  readonly params: KubeObject | undefined;
  readonly operations: PolicyOperation;
  /** Expressions by name; unknown if there are none. */
  readonly variables: unknown;
}

type MaybeOn<T, Operations extends PolicyOperation, Absent extends PolicyOperation> = CelOf<
  [Extract<Operations, Absent>] extends [never] ? T : T | undefined
>;

/** The arguments of a policy's functions: expressions, not values. Each function is called once, to be compiled. */
export interface PolicyContext<T extends PolicyTypes> {
  /** The object as it is about to be stored; absent on delete. */
  readonly object: MaybeOn<T['object'], T['operations'], 'delete'>;
  /** The stored object; absent on create. CEL calls it `oldObject`. */
  readonly old: MaybeOn<T['object'], T['operations'], 'create' | 'connect'>;
  /** The params object that the binding selects. */
  readonly params: T['params'] extends KubeObject ? CelOf<T['params']> : never;
  readonly request: CelOf<PolicyRequestFields>;
  /** Absent for cluster-scoped objects. */
  readonly namespaceObject: CelOf<PolicyNamespace | undefined>;
  /** Asks whether the user of the request may do something else. */
  readonly authorizer: CelAuthorizer;
  /** What `variable` declared before. */
  readonly variables: T['variables'];
}

/** The arguments of messages, which cannot ask the authorizer. */
export type PolicyMessageContext<T extends PolicyTypes> = Omit<PolicyContext<T>, 'authorizer'>;

/** The arguments of match conditions, which don't see the namespace. */
export type PolicyMatchContext<T extends PolicyTypes> = Omit<PolicyContext<T>, 'namespaceObject'>;

/** Fields of an object to apply: plain values and expressions, at any depth. */
export type PolicyFields<T> = T extends readonly (infer E)[]
  ? readonly PolicyFields<E>[] | CelList<E>
  : T extends object
    ? { readonly [K in keyof T]?: PolicyFields<Exclude<T[K], undefined | null>> } | CelMap<T[keyof T]>
    : T | CelOf<T> | (T extends string ? CelString : never);

/** A kind, or several. */
export type PolicyKinds = KindRef | readonly KindRef[];

/** The objects of a kind; of several, those that a policy may name the common fields of. */
export type ObjectOf<Kinds extends PolicyKinds> = KindOf<Kinds extends readonly (infer Each)[] ? Each : Kinds>;

/** A function that decides something about a request. */
export type PolicyTest<Context> = (context: Context) => CelTest;
