import type { ApplyFields } from '../client/apply-fields.js';
import type { At, FieldManagerRequired, Key, WriteObject } from '../client/interfaces.js';
import type { KubeClient } from '../client/kube-client.js';
import type {
  ApplyOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  PatchOptions,
  UpdateOptions,
  WatchOptions,
} from '../client/options.js';
import type { Patch } from '../client/patch.js';
import { impersonating, withUserAgent } from '../client/wrappers.js';
import type { KindRef, ReadOf, Scope } from '../object/kind.js';
import type { KubeList, KubeObject, Status } from '../object/meta.js';
import type { Impersonation } from '../rest/config/rest-config.js';
import type { WatchStream } from '../rest/stream/watch-stream.js';
import { boundTo } from './bound-to.js';

/**
 * The client of one kind (`client.Client` of lasso). Responses and watch events have `apiVersion` and `kind`. Reads go to
 * the server, not to a cache.
 */
export class KindClient<R extends KubeObject = KubeObject, S extends Scope = Scope> {
  readonly kind: KindRef<R, S>;
  readonly #client: KubeClient;

  constructor(kind: KindRef<R, S>, client: KubeClient) {
    this.kind = kind;
    this.#client = client;
  }

  /** The client of all kinds that it uses. */
  get client(): KubeClient {
    return this.#client;
  }

  /** A copy with another user agent (`WithAgent`). */
  withAgent(userAgent: string): KindClient<R, S> {
    return new KindClient(this.kind, withUserAgent(this.#client, userAgent));
  }

  /** A copy that impersonates a user (`WithImpersonation`). */
  withImpersonation(who: Impersonation): KindClient<R, S> {
    return new KindClient(this.kind, impersonating(this.#client, who));
  }

  /** A copy whose calls also abort with the signal. */
  boundTo(signal: AbortSignal): KindClient<R, S> {
    return new KindClient(this.kind, boundTo(this.#client, signal));
  }

  /** Gets an object; rejects with an error that `isNotFound` recognizes if it does not exist (`Get`). */
  get(key: Key<S>, options?: GetOptions): Promise<R> {
    return this.#client.get(this.kind, key, options);
  }

  /** The object, or undefined if it does not exist. */
  find(key: Key<S>, options?: GetOptions): Promise<R | undefined> {
    return this.#client.find(this.kind, key, options);
  }

  /** As `Client.list` (`List`). */
  list(options?: ListOptions): Promise<KubeList<R>> {
    return this.#client.list(this.kind, options);
  }

  /** As `Client.watch` (`Watch`). */
  watch(options?: WatchOptions): Promise<WatchStream<R>> {
    return this.#client.watch(this.kind, options);
  }

  /** Creates an object, built by calling the kind (`Create`). */
  create<T extends WriteObject>(object: At<T> & T, options?: CreateOptions): Promise<ReadOf<T>> {
    return this.#client.create<T>(object as never, options);
  }

  /** Replaces an object (`Update`); `isConflict` recognizes the error if it has changed meanwhile. */
  update(object: R, options?: UpdateOptions): Promise<R> {
    return this.#client.update(object, options);
  }

  /** Replaces the status alone (`UpdateStatus`). */
  updateStatus(object: R, options?: UpdateOptions): Promise<R> {
    return this.#client.status.update(object, options);
  }

  /** Changes part of an object, or of its subresource (`Patch`). */
  patch(
    key: Key<S>,
    patch: Patch<R>,
    { subresource, ...options }: PatchOptions & { readonly subresource?: string } = {},
  ): Promise<R> {
    if (subresource === undefined) return this.#client.patch(this.kind, key, patch, options);
    return this.#client.subresource(subresource).patch(this.kind, key, patch, options);
  }

  /** Server-side apply of some fields. */
  applyFields(fields: ApplyFields<R>, options: ApplyOptions<R> & FieldManagerRequired): Promise<R> {
    return this.#client.applyFields(this.kind, fields, options);
  }

  /** Deletes an object (`Delete`). */
  delete(key: Key<S>, options?: DeleteOptions): Promise<R | Status> {
    return this.#client.delete(this.kind, key, options);
  }

  /** Deletes all objects that match (`DeleteCollection`). */
  deleteCollection(options?: DeleteCollectionOptions): Promise<void> {
    return this.#client.deleteCollection(this.kind, options);
  }
}
