import { type ClientOptions, type ConnectedClient, createClient } from '../client/create-client.js';
import type { KubeClient } from '../client/kube-client.js';
import { impersonating, withUserAgent } from '../client/wrappers.js';
import { equalGvr, type GroupVersionKind, type GroupVersionResource } from '../object/gvk.js';
import { type KindRef, makeKind, type Scope } from '../object/kind.js';
import type { KubeObject, TypeMeta } from '../object/meta.js';
import type { Impersonation, RestConfig } from '../rest/config/rest-config.js';
import { boundTo } from './bound-to.js';
import { KindClient } from './kind-client.js';

/** One client for each kind, over one connection (`SharedClientFactory`, `NewSharedClientFactory`). */
export class SharedClientFactory implements AsyncDisposable {
  /** The connection. */
  readonly client: ConnectedClient;
  /** Sends the requests: the connection, or a wrapper of it. */
  readonly #via: KubeClient;
  readonly #clients = new Map<string, KindClient>();

  constructor(client: ConnectedClient, via: KubeClient = client) {
    this.client = client;
    this.#via = via;
  }

  /** With its own connection (`NewSharedClientFactoryForConfig`), which is closed on disposal. */
  static fromConfig(config: RestConfig, options?: ClientOptions): SharedClientFactory {
    return new SharedClientFactory(createClient(config, options));
  }

  /** The client of a kind (`ForKind`), the same on every call. */
  forKind<R extends KubeObject, S extends Scope>(kind: KindRef<R, S>): KindClient<R, S> {
    const id = `${kind.apiVersion}/${kind.plural}/${kind.kind}/${kind.projection ?? ''}`;
    const known = this.#clients.get(id);
    if (known !== undefined) return known as unknown as KindClient<R, S>;
    const made = new KindClient(kind, this.#via);
    this.#clients.set(id, made as unknown as KindClient);
    return made;
  }

  /** The client of an object's kind (`ForObject`). Runs discovery if the scheme does not have the kind. */
  async forObject(object: TypeMeta): Promise<KindClient> {
    return this.forKind(await this.kindOf(object));
  }

  /** By resource (`ForResource`). Runs discovery if the scheme does not have the kind. */
  async forResource(gvr: GroupVersionResource): Promise<KindClient> {
    return this.forKind(await this.kindForResource(gvr));
  }

  /** By resource and kind, without discovery (`ForResourceKind`). */
  forResourceKind(gvr: GroupVersionResource, kind: string, namespaced: boolean): KindClient {
    return this.forKind(this.resourceKind(gvr, kind, namespaced));
  }

  /** A factory whose clients have another user agent (`WithAgent`). */
  withAgent(userAgent: string): SharedClientFactory {
    return new SharedClientFactory(this.client, withUserAgent(this.#via, userAgent));
  }

  /** A factory whose clients impersonate a user (`WithImpersonation`). */
  withImpersonation(who: Impersonation): SharedClientFactory {
    return new SharedClientFactory(this.client, impersonating(this.#via, who));
  }

  /** A factory whose clients' calls abort with the signal. */
  boundTo(signal: AbortSignal): SharedClientFactory {
    return new SharedClientFactory(this.client, boundTo(this.#via, signal));
  }

  /** @internal A factory with wrapped clients. */
  wrapped(wrapper: (client: KubeClient) => KubeClient): SharedClientFactory {
    return new SharedClientFactory(this.client, wrapper(this.#via));
  }

  /** The kind of an object: from the scheme, or from discovery, with unknown fields. */
  kindOf(object: TypeMeta): Promise<KindRef> {
    return this.client.kindOf(object);
  }

  /** The kind of a resource (`GVKForResource`). */
  async kindForResource(gvr: GroupVersionResource): Promise<KindRef> {
    const known = this.client.scheme.kinds().find((kind) => equalGvr(kind.gvr, gvr));
    if (known !== undefined) return known;
    const group = gvr.group === '' ? '' : `.${gvr.group}`;
    return this.client.mapper.kindForResource(`${gvr.resource}.${gvr.version}${group}`);
  }

  /** The kind with these names; the scheme's, if it has it. */
  resourceKind(gvr: GroupVersionResource, kind: string, namespaced: boolean): KindRef {
    const { group, version, resource: plural } = gvr;
    const known = this.client.scheme.kindFor({ group, version, kind });
    if (known !== undefined && known.plural === plural) return known;
    return makeKind({ group, version, kind, plural, scope: namespaced ? 'Namespaced' : 'Cluster' });
  }

  /** The resource of a kind (`ResourceForGVK`). Rejects with a `NoMatchError` if it is not served. */
  async resourceForGvk(gvk: GroupVersionKind): Promise<GroupVersionResource> {
    return (await this.#kindFor(gvk)).gvr;
  }

  /** Whether a kind is namespaced (`IsNamespaced`). */
  async isNamespaced(gvk: GroupVersionKind): Promise<boolean> {
    return (await this.#kindFor(gvk)).scope === 'Namespaced';
  }

  /** Whether the server answers (`IsHealthy`); false if the signal aborts first. Never rejects. */
  async isHealthy(options?: { readonly signal?: AbortSignal }): Promise<boolean> {
    try {
      await this.client.discovery.serverVersion(options);
      return true;
    } catch {
      return false;
    }
  }

  /** Closes the connection. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }

  async #kindFor(gvk: GroupVersionKind): Promise<KindRef> {
    return this.client.scheme.kindFor(gvk) ?? (await this.client.mapper.kindForGvk(gvk));
  }
}
