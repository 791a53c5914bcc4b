import { ConnectedClient, connectionParts } from '../../client/create-client.js';
import type { Client, Placement, Reader, SubResourceClient } from '../../client/interfaces.js';
import { KubeClient, type KubeClientParts, partsOf, remake } from '../../client/kube-client.js';
import type { CallOptions, PagesOptions } from '../../client/options.js';
import type { KindRef } from '../../object/kind.js';
import type { CallName, Track } from './call-memory.js';

/** The methods that return a promise, which the caller has to await. */
const clientCalls = [
  ...(['get', 'find', 'list', 'watch', 'create', 'update', 'patch', 'apply', 'applyFields'] as const),
  ...(['delete', 'deleteCollection', 'table', 'logs', 'forward', 'copy'] as const),
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

/** A client whose calls, and those of its wrappers, go through `track`; no longer through that of the given client. */
export function trackedClient<P extends Placement>(client: KubeClient<P>, track: Track): KubeClient<P> {
  return new TrackedClient<P>(client[partsOf], track);
}

/** The same for a client that owns its connection: both share it. */
export function trackedConnection(client: ConnectedClient, track: Track): ConnectedClient {
  return new TrackedConnection(client, track);
}

/** The client without tracking, for the framework's own calls. */
export function untracked(client: KubeClient): KubeClient {
  return client instanceof TrackedConnection || client instanceof TrackedClient
    ? new KubeClient(client[partsOf])
    : client;
}

/** A reader whose calls go through `track`. `bound` completes the options of each call. */
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
    overrideCalls(TrackedClient, KubeClient.prototype, (client) => client.#track);
  }

  constructor(parts: KubeClientParts, track: Track) {
    super(parts);
    this.#track = track;
  }

  override [remake](parts: KubeClientParts): KubeClient<P> {
    return new TrackedClient<P>(parts, this.#track);
  }
}

class TrackedConnection extends ConnectedClient {
  readonly #track: Track;

  static {
    overrideCalls(TrackedConnection, ConnectedClient.prototype, (client) => client.#track);
  }

  constructor(client: ConnectedClient, track: Track) {
    super(...client[connectionParts]);
    this.#track = track;
  }

  override [remake](parts: KubeClientParts): KubeClient {
    return new TrackedClient(parts, this.#track);
  }
}

/** Has the methods of a class of clients make their calls through what `trackOf` returns. */
function overrideCalls<C extends KubeClient<never>>(
  { prototype }: { readonly prototype: C },
  plain: KubeClient<never>,
  trackOf: (client: C) => Track,
): void {
  const override = (name: string, value: (this: C, ...args: never[]) => unknown) =>
    Object.defineProperty(prototype, name, { value, configurable: true, writable: true });
  for (const verb of clientCalls) {
    const call = plain[verb] as Call;
    override(verb, function (...args: unknown[]) {
      return trackOf(this)(() => call.apply(this, args), { verb, args });
    });
  }
  for (const verb of ['each', 'pages'] as const) {
    const items = plain[verb] as (...args: unknown[]) => AsyncIterable<unknown>;
    override(verb, function (kind: KindRef, options?: PagesOptions) {
      return trackedItems(items.call(this, kind, options), trackOf(this), { verb, args: [kind] });
    });
  }
  override('subresource', function (name: string) {
    return trackedSubresource(plain.subresource.call(this, name), trackOf(this), name);
  });
}

function trackedSubresource(plain: SubResourceClient<never>, track: Track, name: string): SubResourceClient<never> {
  const tracked = Object.create(plain) as SubResourceClient<never>;
  for (const verb of subresourceCalls) {
    const call = (plain[verb] as Call).bind(plain);
    const value = (...args: unknown[]) => track(() => call(...args), { verb: `${verb} ${name} of`, args });
    Object.defineProperty(tracked, verb, { value, configurable: true, writable: true });
  }
  return tracked;
}

/** Each step is a call. */
function trackedItems<T>(items: AsyncIterable<T>, track: Track, name: CallName): AsyncIterable<T> {
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
