import type { AnyMeta } from './with-metadata.js';
import { describeObject } from './with-metadata.js';

/** Names an object within its kind (`client.ObjectKey`, `types.NamespacedName`). No namespace: cluster-scoped. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** Names an object within its kind, in one of several clusters. No cluster: the only one there is. */
export interface ClusterKey extends ObjectKey {
  readonly cluster?: string;
}

interface Named {
  readonly kind?: string;
  readonly metadata?: AnyMeta;
}

/**
 * An object's key as text (`MetaNamespaceKeyFunc`): `namespace/name`, or `name` when it is cluster-scoped. The key of
 * stores, queues and logs. Throws a `TypeError` when the object has no name.
 */
export function keyOf(obj: Named): string {
  const { namespace, name } = obj.metadata ?? {};
  if (!name) throw new TypeError(`${describeObject(obj)} has no key: expected metadata.name to be set`);
  return namespace ? joined(namespace, name) : name;
}

/** In one piece: engines put texts that are added up together late, and each look into a map compares them part by part. */
function joined(namespace: string, name: string): string {
  return [namespace, name].join('/');
}

/** An object's key (`client.ObjectKeyFromObject`), frozen. Throws a `TypeError` when the object has no name. */
export function objectKey(obj: Named): ObjectKey {
  const { namespace, name } = obj.metadata ?? {};
  if (!name) throw new TypeError(`${describeObject(obj)} has no key: expected metadata.name to be set`);
  return Object.freeze(namespace ? { namespace, name } : { name });
}

/** Writes a key as {@link keyOf} does; the cluster is left out. */
export function formatKey(key: ObjectKey): string {
  return key.namespace ? joined(key.namespace, key.name) : key.name;
}

/**
 * Reads what {@link keyOf} writes (`SplitMetaNamespaceKey`). Throws a `SyntaxError` when there is more than one slash;
 * an empty namespace is the same as none.
 */
export function splitKey(key: string): ObjectKey {
  const slash = key.indexOf('/');
  if (slash < 0) return Object.freeze({ name: key });
  if (key.includes('/', slash + 1)) {
    throw new SyntaxError(`key ${JSON.stringify(key)} has more than one slash: expected "namespace/name" or "name"`);
  }
  const name = key.slice(slash + 1);
  return Object.freeze(slash === 0 ? { name } : { namespace: key.slice(0, slash), name });
}

/**
 * A frozen key with only what is given: empty fields are left out, so that equal keys have the same fields. Throws a
 * `TypeError` when namespace or name hold a slash, which no server allows: {@link keyId} would not be unique.
 */
export function clusterKey(key: ClusterKey): ClusterKey {
  const { cluster, namespace, name } = validKey(key);
  if (cluster) return Object.freeze(namespace ? { cluster, namespace, name } : { cluster, name });
  return Object.freeze(namespace ? { namespace, name } : { name });
}

/** The key itself, if {@link keyId} is unique for it; see {@link clusterKey}. Servers and users may give anything. */
export function validKey<K extends ClusterKey>(key: K): K {
  const { cluster, namespace, name } = key;
  if (typeof name !== 'string' || (namespace && typeof namespace !== 'string')) {
    const what = `key ${JSON.stringify({ cluster, namespace, name })}`;
    throw new TypeError(`${what}: ${typeof name === 'string' ? 'namespace' : 'name'} must be a string`);
  }
  if (name.includes('/') || namespace?.includes('/')) {
    throw new TypeError(
      `key ${JSON.stringify({ cluster, namespace, name })}: namespace and name must not contain a slash`,
    );
  }
  return key;
}

/**
 * A text that two keys share only when they are equal: as {@link keyOf}, after `cluster//` when there is a cluster.
 * Made for maps and queues; {@link parseKeyId} reads it back.
 */
export function keyId(key: ClusterKey): string {
  return key.cluster ? `${key.cluster}//${formatKey(key)}` : formatKey(key);
}

/** Reads what {@link keyId} writes. */
export function parseKeyId(id: string): ClusterKey {
  const cut = id.lastIndexOf('//');
  return cut < 0 ? splitKey(id) : Object.freeze({ cluster: id.slice(0, cut), ...splitKey(id.slice(cut + 2)) });
}

/** True when both name the same object; an empty field is the same as none. */
export function equalKeys(a: ClusterKey, b: ClusterKey): boolean {
  return a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '') && (a.cluster ?? '') === (b.cluster ?? '');
}
