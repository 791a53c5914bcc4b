import { formatGvk } from '../object/gvk.js';
import type { KindRef } from '../object/kind.js';
import type { Client, Explicit, Placement, Reader } from './interfaces.js';
import { type KubeClient, partsOf } from './kube-client.js';

/** The parts of a {@link delegatingClient} (`client.NewDelegatingClientInput`). */
export interface DelegatingClientParts<P extends Placement> {
  /** Answers reads, mostly a cache (`CacheReader`). */
  readonly cacheReader: Reader<P>;
  /** Does all the rest, and reads what is uncached. */
  readonly client: Client<P>;
  /** Kinds that are always read from the server (`UncachedObjects`, `ClientDisableCacheFor`). @default none */
  readonly uncached?: readonly KindRef[];
}

/**
 * A client that reads from a cache and writes to the server (`client.NewDelegatingClient`). `get`, `find` and `list` go
 * to the cache, except for kinds named `uncached`; `each`, `pages`, `watch` and `table` are the server's business.
 */
export function delegatingClient<P extends Placement = Explicit>(parts: DelegatingClientParts<P>): Client<P> {
  const { cacheReader, client, uncached = [] } = parts;
  const live = new Set(uncached.map((kind) => formatGvk(kind.gvk)));
  const readerOf = (kind: KindRef): Reader<P> => (live.has(formatGvk(kind.gvk)) ? client : cacheReader);
  const delegating: Client<P> = {
    get scheme() {
      return client.scheme;
    },
    get mapper() {
      return client.mapper;
    },
    get status() {
      return client.status;
    },
    get: (kind, key, options) => readerOf(kind).get(kind, key, options),
    find: (kind, key, options) => readerOf(kind).find(kind, key, options),
    list: (kind, options) => readerOf(kind).list(kind, options),
    each: (kind, options) => client.each(kind, options),
    pages: (kind, options) => client.pages(kind, options),
    watch: (kind, options) => client.watch(kind, options),
    retryingWatch: (kind, options) => client.retryingWatch(kind, options),
    create: (object, options) => client.create(object, options),
    update: client.update.bind(client),
    patch: (kind, key, patch, options) => client.patch(kind, key, patch, options),
    apply: (object, options) => client.apply(object, options),
    applyFields: (kind, fields, options) => client.applyFields(kind, fields, options),
    delete: (kind, key, options) => client.delete(kind, key, options),
    deleteCollection: (kind, options) => client.deleteCollection(kind, options),
    subresource: (name) => client.subresource(name),
    table: (kind, options) => client.table(kind, options),
    logs: ((of: never, options: never) => client.logs(of, options)) as Client<P>['logs'],
    exec: (pod, command, options) => client.exec(pod, command, options),
    attach: (pod, options) => client.attach(pod, options),
    debug: (pod, options) => client.debug(pod, options),
    forward: (target, options) => client.forward(target, options),
    proxy: (target, path, options) => client.proxy(target, path, options),
    copy: ((from: never, to: never, options: never) => client.copy(from, to, options)) as Client<P>['copy'],
  };
  return Object.defineProperty(delegating, partsOf, { get: () => (client as Partial<KubeClient<P>>)[partsOf] });
}
