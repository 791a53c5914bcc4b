import type { Client } from '../../client/interfaces.js';
import type { KubeClient } from '../../client/kube-client.js';
import { callOf, listParams } from '../../client/operation/params.js';
import type { ListOptions, Selection, WatchOptions } from '../../client/options.js';
import { type KindRef, type MetadataOnly, metadataOnly, type Scope } from '../../object/kind.js';
import type { KubeList, KubeObject, ListMeta } from '../../object/meta.js';
import { type ServerContact, serverContact } from '../../rest/chain/server-contact.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import type { WatchConsumer } from '../../rest/stream/watch-stream.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';

/** A list whose items arrive one by one, such as a `ListStream`: a large one need not be held twice. */
export interface ListItems<out T> {
  /** Calls `onItem` with each item; resolves to what was said about the list once all have come. */
  consume(onItem: (item: T) => void): Promise<{ readonly metadata: ListMeta }>;
}

/** A watch that is running (`watch.Interface`), such as a `WatchStream`. Read once, by `for await` or by `consume`. */
export interface WatchSource<T> extends AsyncIterable<WatchEvent<T>> {
  /** Ends it; may be called more than once. */
  stop(): void;
  /** Calls the consumer with each event, without the cost of a promise for each. @default read by `for await` */
  consume?(consumer: WatchConsumer<T>): void;
}

/** Lists and watches one kind of object (`cache.ListerWatcher`): where a Reflector gets its data. */
export interface ListerWatcher<T> {
  /** All objects, or one page; whole, or item by item. */
  list(options: ListOptions): Promise<KubeList<T> | ListItems<T>>;
  /** Resolves once the server has begun to answer. */
  watch(options: WatchOptions): Promise<WatchSource<T>>;
  /**
   * Whether the server is reachable, shared by all users of the connection. @default each Reflector detects it alone
   */
  readonly [serverContact]?: ServerContact;
}

/** Options of {@link listWatch}. */
export interface ListWatchOptions extends Selection {
  /** The last word on the options of every call (`optionsModifier`). @default none */
  readonly tweak?: <O extends ListOptions | WatchOptions>(options: O) => O;
  /** Asks for metadata alone: no spec, no status. @default false */
  readonly metadataOnly?: boolean;
}

export const listWatchOptionNames = optionNames<ListWatchOptions>({
  tweak: true,
  metadataOnly: true,
  namespace: true,
  labelSelector: true,
  fieldSelector: true,
});

/**
 * The part of a client that {@link listWatch} needs; with `run`, as a `KubeClient` has it, lists arrive item by item.
 */
export type ListWatchClient = Pick<Client, 'list' | 'watch'> &
  Partial<Pick<KubeClient, 'run'>> & { readonly [serverContact]?: ServerContact | undefined };

/**
 * Lists and watches a kind through a client (`NewListWatchFromClient`, `NewFilteredListWatchFromClient`).
 * `metadata.managedFields` are left out, as caches don't need them, unless a call or `tweak` says `cutManagedFields: false`.
 *
 * @example
 * const pods = listWatch(client, Pod, { namespace: 'shop', fieldSelector: 'spec.nodeName=node-1' });
 */
export function listWatch<S extends Scope>(
  client: ListWatchClient,
  kind: KindRef<KubeObject, S>,
  options: ListWatchOptions & { readonly metadataOnly: true },
): ListerWatcher<MetadataOnly<S>>;
export function listWatch<R extends KubeObject>(
  client: ListWatchClient,
  kind: KindRef<R>,
  options?: ListWatchOptions & { readonly metadataOnly?: false },
): ListerWatcher<R>;
export function listWatch(
  client: ListWatchClient,
  kind: KindRef,
  options: ListWatchOptions = {},
): ListerWatcher<KubeObject> {
  refuseUnknownOptions(`listWatch(${kind.kind})`, options, listWatchOptionNames);
  const { namespace, labelSelector, fieldSelector, tweak } = options;
  const selection = { namespace, labelSelector, fieldSelector };
  const asked: KindRef = options.metadataOnly ? metadataOnly(kind) : kind;
  const complete = <O extends ListOptions | WatchOptions>(call: O): O => {
    const completed = { cutManagedFields: true, ...call, ...selection };
    return tweak === undefined ? completed : tweak(completed);
  };
  return {
    [serverContact]: client[serverContact],
    list: async (call) => {
      const completed = complete(call);
      if (client.run === undefined) return client.list(asked, completed);
      return client.run({
        verb: 'list',
        kind: asked,
        namespace: completed.namespace,
        params: listParams(completed),
        cutManagedFields: completed.cutManagedFields,
        decoder: completed.decoder,
        ...callOf(completed),
      });
    },
    watch: async (call) => client.watch(asked, complete(call)),
  };
}
