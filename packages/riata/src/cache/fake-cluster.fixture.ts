import type { ConnectedClient } from '../client/create-client.js';
import type { Write, WriteListener } from '../client/operation/write-hook.js';
import type { ListOptions, WatchOptions } from '../client/options.js';
import { type KindRef, makeKind } from '../object/kind.js';
import type { KubeList } from '../object/meta.js';
import type { WatchEvent } from '../rest/stream/watch-event.js';
import type { WatchConsumer } from '../rest/stream/watch-stream.js';
import { onAbort } from '../runtime/signals.js';
import type { Thing } from './informer/informer.fixture.js';
import type { WatchSource } from './reflector/list-watch.js';

/** What a {@link FakeCluster} has. */
export const ThingKind = makeKind<Thing, 'Namespaced'>({
  ...{ group: 'test.riata.dev', version: 'v1', kind: 'Thing', plural: 'things', scope: 'Namespaced' },
});

/** Things in several namespaces, without bytes and without bookmarks: the part of a client that a `Cache` needs. */
export class FakeCluster {
  /** The requests, as `list one`, `watch *`, `find one/a`. */
  readonly requests: string[] = [];
  /** Called with each of them before it is answered: throws to refuse it, waits to hold it up. */
  onRequest: (request: string) => unknown = () => undefined;
  /** While it is true, watches send nothing. */
  isMute = false;
  readonly client: ConnectedClient;
  readonly #objects = new Map<string, Thing>();
  readonly #watches = new Set<{ push(event: WatchEvent<Thing>): void }>();
  readonly #listeners = new Set<WriteListener>();
  readonly #history: { readonly version: number; readonly event: WatchEvent<Thing> }[] = [];
  #version = 0;

  constructor() {
    const client = {
      list: (kind: KindRef, options: ListOptions) => this.#list(kind, options),
      watch: (_: KindRef, options: WatchOptions) => this.#watch(options),
      find: (_: KindRef, key: { readonly namespace: string; readonly name: string }) => this.#find(key),
      onWrite: (listener: WriteListener) => {
        this.#listeners.add(listener);
        return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
      },
    };
    this.client = client as unknown as ConnectedClient;
  }

  /** Watches that are open. */
  get watches(): number {
    return this.#watches.size;
  }

  /** Listeners to writes. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Adds or updates. */
  put(namespace: string, name: string, spec: Thing['spec'] = {}): Thing {
    const key = `${namespace}/${name}`;
    const old = this.#objects.get(key);
    const resourceVersion = String(++this.#version);
    const uid = old?.metadata.uid ?? `uid-${resourceVersion}`;
    const metadata = { namespace, name, uid, resourceVersion, creationTimestamp: '' };
    const object: Thing = { apiVersion: ThingKind.apiVersion, kind: ThingKind.kind, metadata, spec };
    this.#objects.set(key, object);
    this.report({ type: old === undefined ? 'ADDED' : 'MODIFIED', object });
    return object;
  }

  delete(namespace: string, name: string): void {
    const object = this.#objects.get(`${namespace}/${name}`) as Thing;
    this.#objects.delete(`${namespace}/${name}`);
    const resourceVersion = String(++this.#version);
    this.report({ type: 'DELETED', object: { ...object, metadata: { ...object.metadata, resourceVersion } } });
  }

  /** Something of another kind changed, which no watch of things shows. */
  elsewhere(): void {
    this.#version += 1;
  }

  /** Calls the listeners to writes. */
  wrote(write: Write): void {
    for (const listener of [...this.#listeners]) listener(write);
  }

  async #list(kind: KindRef, { namespace, limit, continue: from = '0' }: ListOptions): Promise<KubeList<Thing>> {
    await this.#asked(`list ${namespace ?? '*'}`);
    const found = [...this.#objects.values()].filter(({ metadata }) => !namespace || metadata.namespace === namespace);
    const end = limit === undefined ? found.length : Number(from) + limit;
    const items = structuredClone(found.slice(Number(from), end)) as Thing[];
    const metadata = { resourceVersion: String(this.#version), continue: end < found.length ? String(end) : undefined };
    return { apiVersion: kind.apiVersion, kind: `${kind.kind}List`, metadata, items };
  }

  async #watch({ namespace, resourceVersion, signal }: WatchOptions): Promise<WatchSource<Thing>> {
    await this.#asked(`watch ${namespace ?? '*'}`);
    let consumer: WatchConsumer<Thing> | undefined;
    const missed = this.#history.filter(({ version }) => version > Number(resourceVersion));
    const push = (event: WatchEvent<Thing>) => {
      const isSelected = !namespace || (event.object as Thing).metadata.namespace === namespace;
      if (isSelected) consumer?.onEvent(structuredClone(event) as WatchEvent<Thing>);
    };
    const watch = { push };
    const stop = () => {
      this.#watches.delete(watch);
      consumer?.onEnd();
    };
    this.#watches.add(watch);
    onAbort(signal, stop);
    return {
      stop,
      consume: (by) => {
        consumer = by;
        for (const { event } of missed) push(event);
      },
      // biome-ignore lint/correctness/useYield: there is `consume`
      async *[Symbol.asyncIterator]() {
        throw new Error('expected to be read by consume');
      },
    };
  }

  async #find({ namespace, name }: { readonly namespace: string; readonly name: string }): Promise<Thing | undefined> {
    await this.#asked(`find ${namespace}/${name}`);
    return structuredClone(this.#objects.get(`${namespace}/${name}`)) as Thing | undefined;
  }

  async #asked(request: string): Promise<void> {
    this.requests.push(request);
    await this.onRequest(request);
  }

  /** Sends an event to all watches, whatever it is. */
  report(event: WatchEvent<Thing>): void {
    this.#history.push({ version: this.#version, event });
    if (!this.isMute) for (const watch of [...this.#watches]) watch.push(event);
  }
}
