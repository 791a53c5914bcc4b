import type { ConnectedClient } from '../client/create-client.js';
import { metadataPart } from '../client/metadata-part.js';
import type { Selection } from '../client/options.js';
import { keyOf } from '../object/key.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { clone } from '../object/value/clone.js';
import { carryLoss } from '../object/value/lossy.js';
import type { Runtime } from '../runtime/runtime.js';
import type { Scheduler } from '../runtime/time/clock.js';
import type { KindCacheOptions } from './cache-options.js';
import { isSelected, type ParsedSelection, parseSelection } from './cache-selection.js';
import { applyTransform } from './informer/apply-transform.js';
import { notifyVanished, observeBase, SharedIndexInformer } from './informer/shared-index-informer.js';
import type { WatchErrorHandler } from './informer/shared-informer.js';
import { OwnWrites } from './own-writes/own-writes.js';
import { OwnWritesView } from './own-writes/own-writes-view.js';
import { recordOwnWrites } from './own-writes/record-own-write.js';
import { listWatch } from './reflector/list-watch.js';
import type { InformerStore } from './store/informer-store.js';
import type { Indexers } from './store/store-index.js';

/** What a {@link CacheMember} is made of. */
export interface CacheMemberParts<R extends KubeObject> {
  readonly client: ConnectedClient;
  readonly kind: KindRef<R>;
  readonly options: KindCacheOptions<R>;
  readonly indexers: Indexers<R>;
  readonly onError: WatchErrorHandler;
  readonly runtime: Runtime;
}

/** One kind in one namespace, or in all: an informer, and own writes laid over its state. */
export class CacheMember<R extends KubeObject> {
  /** None: all. */
  readonly namespace: string | undefined;
  readonly informer: SharedIndexInformer<R>;
  /** The state of the watch. */
  readonly base: InformerStore<R>;
  readonly writes: OwnWrites<R>;
  readonly view: OwnWritesView<R>;
  readonly clock: Scheduler;
  /** Its selection on the server. */
  readonly selection: Selection;
  readonly #kind: KindRef<R>;
  readonly #transform: ((object: R) => R) | undefined;
  readonly #selection: ParsedSelection;
  readonly #recording: Disposable;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(namespace: string | undefined, parts: CacheMemberParts<R>) {
    const { client, kind, options, indexers, onError, runtime } = parts;
    const { labelSelector, fieldSelector, transform } = options;
    const { pageSize, useWatchList, silence, resyncPeriod } = options;
    const selection = { namespace, labelSelector, fieldSelector };
    this.namespace = namespace;
    this.selection = selection;
    this.clock = runtime.clock;
    this.#kind = kind;
    this.#transform = transform;
    this.#selection = parseSelection(selection);
    this.informer = new SharedIndexInformer<R>(listWatch(client, kind, selection), {
      ...{ kind, indexers, transform, pageSize, useWatchList, silence, resyncPeriod, runtime },
      ...(namespace === undefined ? {} : { name: `${kind.plural} in ${namespace}` }),
      watchErrorHandler: onError,
    });
    const shown = (key: string) => this.base.peek(key);
    this.writes = new OwnWrites<R>({ ...runtime, name: this.informer.name, shown });
    this.base = this.informer[observeBase]({
      upserted: (key, object) => this.writes.shown(key, object.metadata.resourceVersion),
      deleted: (key, last) => this.writes.shownDeleted(key, last.metadata.uid, last.metadata.resourceVersion),
      replaced: (resourceVersion, wasThere) => {
        for (const [key, object] of this.writes.shownAll(resourceVersion)) {
          // Readers saw it until now, and handlers never did: nothing else reports its deletion.
          if (!this.base.has(key) && !wasThere(key)) this.informer[notifyVanished](key, object);
        }
      },
      bookmarked: (resourceVersion) => this.writes.shownUpTo(resourceVersion),
    });
    this.view = new OwnWritesView<R>(this.base, this.writes, keyOf);
    const admit = (object: KubeObject) => this.admit(object);
    this.#recording = recordOwnWrites<R>(client, { kind, namespace, writes: this.writes, admit });
  }

  start(): void {
    this.#running ??= this.informer.run({ signal: this.#stop.signal });
  }

  get isStarted(): boolean {
    return this.#running !== undefined;
  }

  async stop(): Promise<void> {
    this.#recording[Symbol.dispose]();
    this.#stop.abort();
    await this.#running;
  }

  /** A copy of what the server has stored, as the watch will show it; see `OwnWriteTarget.admit`. */
  admit(stored: KubeObject): { readonly object: R | undefined } | undefined {
    const selected = isSelected(stored, this.#selection);
    if (selected === undefined) return undefined;
    if (!selected) return { object: undefined };
    // It is read-only, so that it need not be copied.
    const isShared = Object.isFrozen(stored) && stored.metadata.managedFields === undefined;
    if (isShared && this.#transform === undefined && this.#kind.projection === undefined)
      return { object: stored as R };
    const { managedFields: _, ...metadata } = stored.metadata;
    const part = this.#kind.projection === 'metadata' ? metadataPart({ ...stored, metadata }, this.#kind) : stored;
    const copy = clone({ ...part, metadata }) as R;
    carryLoss(part, copy);
    if (this.#transform === undefined) return { object: copy };
    try {
      return { object: applyTransform(this.#transform, copy) };
    } catch {
      return undefined; // Reported when the watch brings the object.
    }
  }
}
