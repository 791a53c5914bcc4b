import { listParams } from '../../client/operation/params.js';
import type { Selection } from '../../client/options.js';
import { formatGroupResource, formatGvr } from '../../object/gvk.js';
import type { KindRef, MetadataOnly, Scope } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import { link } from '../../runtime/signals.js';
import { Shutdown } from '../../runtime/stop-reasons.js';
import { type ListerWatcher, type ListWatchClient, type ListWatchOptions, listWatch } from '../reflector/list-watch.js';
import { SharedIndexInformer } from './shared-index-informer.js';
import type { SharedIndexInformerOptions } from './shared-informer.js';
import { waitForCacheSync } from './wait-for-cache-sync.js';

/** Options for all kinds at once. */
type CommonOptions = Pick<
  SharedIndexInformerOptions<KubeObject>,
  'resyncPeriod' | 'watchErrorHandler' | 'onHandlerError' | 'pageSize' | 'useWatchList' | 'silence'
>;

/** Options of one informer of a {@link SharedInformerFactory}. */
export interface FactoryInformerOptions<T extends KubeObject> extends CommonOptions, Selection {
  /** The last word on the options of every list and watch (`WithTweakListOptions`). @default none */
  readonly tweak?: ListWatchOptions['tweak'];
  /** Transforms each object before it is stored (`WithTransform`); see `ReflectorOptions.transform`. @default none */
  readonly transform?: (object: T) => T;
  /** Added to those of the informer. @default none */
  readonly indexers?: SharedIndexInformerOptions<T>['indexers'];
}

/** Options of a {@link SharedInformerFactory} (`NewSharedInformerFactoryWithOptions`). */
export interface SharedInformerFactoryOptions extends CommonOptions, Selection {
  /** @default none */
  readonly tweak?: ListWatchOptions['tweak'];
  /** For objects of every kind. @default none */
  readonly transform?: (object: KubeObject) => KubeObject;
  /** For single kinds, instead of what is said for all (`WithCustomResyncConfig`). @default none */
  readonly perKind?: Iterable<readonly [KindRef, FactoryInformerOptions<KubeObject>]>;
  /** @default the system's */
  readonly runtime?: Partial<Runtime>;
}

/** The options that both have. */
const sharedNames = optionNames<Omit<SharedInformerFactoryOptions, 'perKind' | 'runtime'>>({
  tweak: true,
  transform: true,
  pageSize: true,
  useWatchList: true,
  silence: true,
  onHandlerError: true,
  resyncPeriod: true,
  watchErrorHandler: true,
  namespace: true,
  labelSelector: true,
  fieldSelector: true,
});

export const sharedInformerFactoryOptionNames = sharedNames.and<SharedInformerFactoryOptions>({
  perKind: true,
  runtime: true,
});

/** Options that must be the same for all users of an informer. */
const shared = [
  ...(['transform', 'tweak', 'resyncPeriod', 'watchErrorHandler', 'onHandlerError'] as const),
  ...(['pageSize', 'useWatchList', 'silence'] as const),
];

interface Entry {
  readonly informer: SharedIndexInformer<KubeObject>;
  readonly options: FactoryInformerOptions<KubeObject>;
  running: Promise<void> | undefined;
}

/**
 * One informer per kind and selection, shared by all users (`informers.SharedInformerFactory`, `dynamicinformer`,
 * `metadatainformer`): for any kind, without generated code.
 *
 * @example
 * const factory = new SharedInformerFactory(client, { namespace: 'shop' });
 * const pods = factory.forKind(Pod);
 * pods.addEventHandler({ onAdd });
 * factory.start({ signal });
 * await factory.waitForCacheSync({ signal });
 */
export class SharedInformerFactory implements AsyncDisposable {
  readonly #client: ListWatchClient;
  readonly #options: SharedInformerFactoryOptions;
  readonly #perKind = new Map<string, FactoryInformerOptions<KubeObject>>();
  readonly #entries = new Map<string, Entry>();
  readonly #stop = new AbortController();

  constructor(client: ListWatchClient, options: SharedInformerFactoryOptions = {}) {
    refuseUnknownOptions('SharedInformerFactory', options, sharedInformerFactoryOptionNames);
    this.#client = client;
    this.#options = options;
    for (const [kind, own] of options.perKind ?? []) this.#perKind.set(formatGvr(kind.gvr), own);
  }

  /**
   * The informer of this kind and selection, created on first use (`ForResource`, `InformerFor`, `Core().V1().Pods()`).
   * It runs after the next {@link start}. Throws if it exists with another transform, resync period or the like.
   */
  forKind<S extends Scope>(
    kind: KindRef<KubeObject, S>,
    options: FactoryInformerOptions<MetadataOnly<S>> & { readonly metadataOnly: true },
  ): SharedIndexInformer<MetadataOnly<S>>;
  forKind<R extends KubeObject>(
    kind: KindRef<R>,
    options?: FactoryInformerOptions<R> & { readonly metadataOnly?: false },
  ): SharedIndexInformer<R>;
  forKind(kind: KindRef, own: object = {}): unknown {
    refuseUnknownOptions(`informer of ${kind.kind}`, own, factoryInformerOptionNames);
    return this.#informer(kind, own);
  }

  #informer(kind: KindRef, own: FactoryInformerOptions<KubeObject> & { readonly metadataOnly?: boolean }) {
    const { runtime, perKind: _, ...common } = this.#options;
    const { metadataOnly = false, ...given } = own;
    const asked = { ...this.#perKind.get(formatGvr(kind.gvr)), ...given };
    const { indexers = {}, namespace, labelSelector, fieldSelector, tweak, ...options } = { ...common, ...asked };
    const selection = { namespace, labelSelector, fieldSelector };
    const id = identityOf(kind, selection, metadataOnly);
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      const source: ListerWatcher<KubeObject> = metadataOnly
        ? listWatch(this.#client, kind, { ...selection, tweak, metadataOnly })
        : listWatch(this.#client, kind, { ...selection, tweak });
      const name = nameOf(kind, selection, metadataOnly);
      const informer = new SharedIndexInformer<KubeObject>(source, { ...options, kind, name, runtime });
      entry = { informer, options: { ...common, ...asked }, running: undefined };
      this.#entries.set(id, entry);
    } else {
      refuseConflict(entry, asked);
    }
    if (Object.keys(indexers).length > 0) entry.informer.addIndexers(indexers);
    return entry.informer;
  }

  /** Runs all informers that do not run yet, until the signal aborts or {@link shutdown} (`Start`). May be called again. */
  start({ signal }: { readonly signal?: AbortSignal } = {}): void {
    if (this.#stop.signal.aborted) {
      throw new Error('the SharedInformerFactory is shut down; create a new one');
    }
    for (const entry of this.#entries.values()) {
      if (entry.running !== undefined) continue;
      const either = link(signal, this.#stop.signal);
      entry.running = entry.informer.run({ signal: either.signal }).finally(() => either[Symbol.dispose]());
    }
  }

  /**
   * Resolves when all informers that were started have synced (`WaitForCacheSync`). Rejects with the signal's reason, or
   * when one has stopped.
   */
  async waitForCacheSync(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const started = [...this.#entries.values()].filter(({ running }) => running !== undefined);
    await waitForCacheSync(
      started.map(({ informer }) => informer),
      options,
    );
  }

  /** Stops all informers; resolves when they have stopped (`Shutdown`). None can be started after that. */
  async shutdown(): Promise<void> {
    this.#stop.abort(new Shutdown('the SharedInformerFactory was shut down'));
    await Promise.all([...this.#entries.values()].map(({ running }) => running));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }
}

function identityOf(kind: KindRef, { namespace = '', ...selection }: Selection, metadataOnly: boolean): string {
  return JSON.stringify([formatGvr(kind.gvr), metadataOnly, namespace, listParams(selection)]);
}

/** For people: `pods in shop with app=web`. */
function nameOf(kind: KindRef, { namespace, ...selection }: Selection, metadataOnly: boolean): string {
  const selectors = Object.values(listParams(selection)).filter((selector) => selector !== '');
  return [
    `${formatGroupResource(kind.gvr)}${metadataOnly ? ' metadata' : ''}`,
    ...(namespace ? [`in ${namespace}`] : []),
    ...(selectors.length > 0 ? [`with ${selectors.join(' and ')}`] : []),
  ].join(' ');
}

function refuseConflict({ informer, options }: Entry, asked: FactoryInformerOptions<KubeObject>): void {
  const different = shared.filter((name) => asked[name] !== undefined && asked[name] !== options[name]);
  if (different.length === 0) return;
  throw new Error(
    `informer "${informer.name}" already exists with different ${different.join(', ')}; use the same options wherever you ` +
      'share it (set them in perKind of the factory), or another selection',
  );
}

export const factoryInformerOptionNames = sharedNames.and<
  FactoryInformerOptions<KubeObject> & { readonly metadataOnly: boolean }
>({ indexers: true, metadataOnly: true });
