import type { Client, Placement, Reader, SubResourceClient } from '../../client/interfaces.js';
import { KubeClient, type KubeClientParts, partsOf, remake } from '../../client/kube-client.js';
import type { CallOptions, PagesOptions } from '../../client/options.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeList, KubeObject } from '../../object/meta.js';
import type { Track } from './tracked-calls.js';

/** Those whose promise is the caller's to await. */
const clientCalls = [
  ...(['get', 'find', 'list', 'watch', 'create', 'update', 'patch', 'apply', 'applyFields'] as const),
  ...(['delete', 'deleteCollection', 'table', 'logs'] as const),
] satisfies readonly (keyof Client)[];
const subresourceCalls = [
  'get',
  'create',
  'replace',
  'update',
  'patch',
  'applyFields',
] satisfies readonly (keyof SubResourceClient)[];

type Call = (...args: unknown[]) => Promise<unknown>;

/** A client whose calls are told to `track`; so are those of all that is made of it. */
export function trackedClient<P extends Placement>(client: KubeClient<P>, track: Track): KubeClient<P> {
  return new TrackedClient<P>(client[partsOf], track);
}

/** A reader whose calls are told to `track`. `bound` adds what every call is to have. */
export function trackedReader(
  reader: Reader,
  track: Track,
  bound: <T extends CallOptions>(options: T | undefined) => T | undefined = (options) => options,
): Reader {
  return {
    get: (kind, key, options) => track(() => reader.get(kind, key, bound(options)), { verb: 'get', args: [kind, key] }),
    find: (kind, key, options) =>
      track(() => reader.find(kind, key, bound(options)), { verb: 'find', args: [kind, key] }),
    list: (kind, options) => track(() => reader.list(kind, bound(options)), { verb: 'list', args: [kind, options] }),
  };
}

class TrackedClient<P extends Placement> extends KubeClient<P> {
  readonly #track: Track;

  static {
    for (const verb of clientCalls) {
      const call = KubeClient.prototype[verb] as Call;
      const value = function (this: TrackedClient<Placement>, ...args: unknown[]) {
        return this.#track(() => call.apply(this, args), { verb, args });
      };
      Object.defineProperty(TrackedClient.prototype, verb, { value, configurable: true, writable: true });
    }
  }

  constructor(parts: KubeClientParts, track: Track) {
    super(parts);
    this.#track = track;
  }

  override [remake](parts: KubeClientParts): KubeClient<P> {
    return new TrackedClient<P>(parts, this.#track);
  }

  override each<R extends KubeObject>(kind: KindRef<R>, options?: PagesOptions): AsyncIterable<R> {
    return trackedItems(super.each(kind, options), this.#track, 'each', kind);
  }

  override pages<R extends KubeObject>(kind: KindRef<R>, options?: PagesOptions): AsyncIterable<KubeList<R>> {
    return trackedItems(super.pages(kind, options), this.#track, 'pages', kind);
  }

  override subresource(name: string): SubResourceClient<P> {
    const plain = super.subresource(name);
    const tracked = Object.create(plain) as SubResourceClient<P>;
    for (const verb of subresourceCalls) {
      const call = (plain[verb] as Call).bind(plain);
      const value = (...args: unknown[]) => this.#track(() => call(...args), { verb: `${verb} ${name} of`, args });
      Object.defineProperty(tracked, verb, { value, configurable: true, writable: true });
    }
    return tracked;
  }
}

/** Each step is a call. */
function trackedItems<T>(items: AsyncIterable<T>, track: Track, verb: string, kind: unknown): AsyncIterable<T> {
  const name = { verb, args: [kind] };
  return {
    [Symbol.asyncIterator]() {
      const steps = items[Symbol.asyncIterator]();
      return {
        next: () => track(() => steps.next(), name),
        return: async (value) => (await steps.return?.(value)) ?? { done: true, value: undefined },
      };
    },
  };
}
