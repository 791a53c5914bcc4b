import type { KindRef } from '../../object/kind.js';
import type { LabelSelector } from '../../object/meta.js';
import { everything, parseSelector, type Selector, selectorFrom } from '../../object/selector/label-selector.js';
import type { WithMetadata } from '../../object/with-metadata.js';
import { ApiError } from '../../rest/errors/api-error.js';
import type { IndexReader } from './indexer.js';
import { namespaceIndex } from './key-func.js';
import type { Store } from './store.js';

/** Which objects by their labels: `'app=web'`, a parsed selector, or a selector object as workloads carry it. */
export type ListerSelector = string | LabelSelector | Selector;

/** Reads the objects of one namespace out of a cache (`cache.GenericNamespaceLister`). */
export interface NamespaceLister<out T> {
  /** The matching objects. @default all */
  list(selector?: ListerSelector): T[];
  /** The object; throws an error that `isNotFound` recognises if it does not exist. */
  get(name: string): T;
  /** The object, or undefined if it does not exist. */
  find(name: string): T | undefined;
}

/** Objects in the store that match; with an empty selector their labels are not looked at (`cache.ListAll`). */
export function listAll<T extends WithMetadata>(store: Pick<Store<T>, 'list'>, selector?: ListerSelector): T[] {
  const parsed = toSelector(selector);
  return parsed.selectsNothing ? [] : matching(store.list(), parsed);
}

/**
 * Objects of a namespace that match (`cache.ListAllByNamespace`), by the index `namespaceIndex` where there is one, else
 * by looking at all. The namespace `''` means all of them.
 */
export function listAllByNamespace<T extends WithMetadata>(
  indexer: IndexReader<T>,
  namespace: string,
  selector?: ListerSelector,
): T[] {
  if (namespace === '') return listAll(indexer, selector);
  const parsed = toSelector(selector);
  if (parsed.selectsNothing) return [];
  const isIndexed = Object.hasOwn(indexer.getIndexers(), namespaceIndex);
  const inNamespace = isIndexed
    ? indexer.byIndex(namespaceIndex, namespace)
    : indexer.list().filter(({ metadata }) => metadata?.namespace === namespace);
  return matching(inNamespace, parsed);
}

/**
 * Reads objects of one kind out of a cache, without asking the server (`cache.GenericLister`, the generated `PodLister`…).
 * `get` and `find` here take the name of a cluster-scoped object; for others ask {@link namespace} first.
 *
 * @example
 * const pods = new Lister(informer.getIndexer(), Pod);
 * pods.namespace('shop').list('app=cart');
 */
export class Lister<T extends WithMetadata> implements NamespaceLister<T> {
  readonly #indexer: IndexReader<T>;
  readonly #kind: KindRef;

  constructor(indexer: IndexReader<T>, kind: KindRef) {
    this.#indexer = indexer;
    this.#kind = kind;
  }

  list(selector?: ListerSelector): T[] {
    return listAll(this.#indexer, selector);
  }

  get(name: string): T {
    return this.find(name) ?? notInCache(this.#kind, name);
  }

  find(name: string): T | undefined {
    return this.#indexer.getByKey(name);
  }

  /** The objects of one namespace (`ByNamespace`, `Pods(ns)`). */
  namespace(namespace: string): NamespaceLister<T> {
    const find = (name: string) => this.#indexer.getByKey(namespace === '' ? name : `${namespace}/${name}`);
    return {
      list: (selector) => listAllByNamespace(this.#indexer, namespace, selector),
      get: (name) => find(name) ?? notInCache(this.#kind, name, namespace),
      find,
    };
  }
}

function matching<T extends WithMetadata>(objects: T[], selector: Selector): T[] {
  return selector.isEmpty() ? objects : objects.filter(({ metadata }) => selector.matches(metadata?.labels));
}

function toSelector(selector: ListerSelector | undefined): Selector {
  if (selector === undefined) return everything();
  if (typeof selector === 'string') return parseSelector(selector);
  return isParsed(selector) ? selector : selectorFrom(selector);
}

/** By its method, which no JSON has. */
function isParsed(selector: LabelSelector | Selector): selector is Selector {
  return typeof (selector as { readonly matches?: unknown }).matches === 'function';
}

/** The answer of a cache to a question for an object that it does not have. */
export function notInCache(kind: KindRef, name: string, namespace?: string): never {
  const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  const where = namespace ? `${namespace}/${name}` : name;
  throw new ApiError({
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code: 404,
    reason: 'NotFound',
    message: `${resource} ${JSON.stringify(where)} is not in the cache`,
    details: { group: kind.group, kind: kind.plural, name },
  });
}
