import type { OwnerReference } from './meta.js';
import { carryLoss } from './value/lossy.js';

/** The metadata that helpers need to see: both what a server gives and what a writer says fits it. */
export interface AnyMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly deletionTimestamp?: string;
}

/** An object read from a server or built to be written: whatever has Kubernetes metadata. */
export interface WithMetadata {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: AnyMeta;
}

/**
 * A copy of `obj` with one field of its metadata replaced; an empty list takes the field away, as on the wire.
 * Everything else is the same value in the same place, and what is lost of `obj` is lost of the copy.
 */
export function withMetadataList<T extends WithMetadata, K extends 'ownerReferences' | 'finalizers'>(
  obj: T,
  field: K,
  list: NonNullable<AnyMeta[K]>,
): T {
  const metadata: AnyMeta & { [field: string]: unknown } = { ...obj.metadata, [field]: list };
  if (list.length === 0) delete metadata[field];
  const copy = { ...obj, metadata };
  carryLoss(obj, copy);
  return copy;
}

/** How errors name an object: `Deployment "shop/cart"`, with as much as is known. */
export function describeObject(obj: WithMetadata): string {
  const { namespace, name, generateName } = obj.metadata ?? {};
  const id = name ?? (generateName === undefined ? undefined : `${generateName}…`);
  const what = obj.kind || 'object';
  return id === undefined ? `${what} without a name` : `${what} "${namespace ? `${namespace}/` : ''}${id}"`;
}

/** How errors name a value that is not what was expected, without showing what is in it. */
export function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value === undefined) return 'undefined';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
