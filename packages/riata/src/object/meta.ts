/** `apiVersion` and `kind`, as in every Kubernetes object (`metav1.TypeMeta`). */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The object that another one belongs to (`metav1.OwnerReference`). */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** True for the one owner that manages the object. At most one reference may say so. */
  readonly controller?: boolean;
  /** True when the owner must not vanish before this object, in a foreground deletion. */
  readonly blockOwnerDeletion?: boolean;
}

/** Which fields one writer manages (`metav1.ManagedFieldsEntry`). */
export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: 'Apply' | 'Update' | (string & {});
  readonly apiVersion?: string;
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: { readonly [key: string]: unknown };
  readonly subresource?: string;
}

/**
 * The metadata of an object that a server has stored (`metav1.ObjectMeta`, `metav1.Object`): every field, as plain
 * read-only data. Timestamps are RFC 3339 strings. Use `edit` or `clone` to change.
 */
export interface ObjectMeta {
  readonly name: string;
  readonly generateName?: string;
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string;
  /** Filled by old servers only. */
  readonly selfLink?: string;
  readonly uid: string;
  /** Opaque: compare for equality, send back, nothing else. */
  readonly resourceVersion: string;
  /** Counts changes of the desired state. Absent on kinds that do not keep it. */
  readonly generation?: number;
  readonly creationTimestamp: string;
  /** Set once deletion is requested; the object goes when its finalizers are gone. */
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly managedFields?: readonly ManagedFieldsEntry[];
}

/**
 * The metadata of an object about to be written: what the server fills in is optional, and `uid` cannot be given, so
 * that an object read from a cache is not written back as an intent by mistake.
 */
export interface WriteMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: never;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
}

/** Any Kubernetes object as read from a server (`runtime.Object`, `client.Object`): plain JSON. */
export interface KubeObject extends TypeMeta {
  readonly metadata: ObjectMeta;
}

/** The metadata of a list (`metav1.ListMeta`). */
export interface ListMeta {
  readonly resourceVersion?: string;
  /** Opaque token for the next page; absent or empty on the last one. */
  readonly continue?: string;
  /** How many items follow, if the server knows. */
  readonly remainingItemCount?: number;
  readonly selfLink?: string;
  /** Which shard was asked for, where the server shards lists (`metav1.ShardInfo`). */
  readonly shardInfo?: { readonly selector: string };
}

/** A list as read from a server (`metav1.List`); `T` may be a union, and `RawExtension` items stay as they came. */
export interface KubeList<T = KubeObject> extends TypeMeta {
  readonly metadata: ListMeta;
  readonly items: readonly T[];
}

/** One cause of a refusal (`metav1.StatusCause`). */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

/** What a Status is about (`metav1.StatusDetails`). */
export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** The server's word on a request that has no other answer (`metav1.Status`). */
export interface Status {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ListMeta;
  readonly status?: 'Success' | 'Failure' | (string & {});
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** One condition of an object's status (`metav1.Condition`). */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly observedGeneration?: number;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** A label selector as objects carry it (`metav1.LabelSelector`). All of it must match; an empty one matches all. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelSelectorRequirement[];
}

/** One line of a {@link LabelSelector} (`metav1.LabelSelectorRequirement`). */
export interface LabelSelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | (string & {});
  readonly values?: readonly string[];
}
