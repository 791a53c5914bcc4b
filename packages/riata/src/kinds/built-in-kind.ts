import { type Kind, makeKind, type WriteOf } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';

/** A built-in kind whose objects live in a namespace. */
export type NamespacedKind<R extends KubeObject> = Kind<R, WriteOf<R>, 'Namespaced'>;
/** A built-in kind whose objects live beside the namespaces. */
export type ClusterKind<R extends KubeObject> = Kind<R, WriteOf<R>, 'Cluster'>;

/** Lists come as one string each, comma separated: two hundred kinds have to load in no time. */
type Row = [
  group: string,
  version: string,
  kind: string,
  plural: string,
  shortNames: string,
  categories: string,
  subresources: string,
];

export function namespaced<R extends KubeObject>(...row: Row): NamespacedKind<R> {
  return makeKind<R, WriteOf<R>, 'Namespaced'>({ ...specOf(row), scope: 'Namespaced' });
}

export function cluster<R extends KubeObject>(...row: Row): ClusterKind<R> {
  return makeKind<R, WriteOf<R>, 'Cluster'>({ ...specOf(row), scope: 'Cluster' });
}

function specOf([group, version, kind, plural, shortNames, categories, subresources]: Row) {
  return {
    group,
    version,
    kind,
    plural,
    shortNames: split(shortNames),
    categories: split(categories),
    subresources: split(subresources),
  };
}

const none: readonly string[] = Object.freeze([]);
function split(list: string): readonly string[] {
  return list === '' ? none : Object.freeze(list.split(','));
}
