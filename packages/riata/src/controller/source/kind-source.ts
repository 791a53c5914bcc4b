import type { Cache, CacheUse } from '../../cache/cache.js';
import { fieldIndex } from '../../cache/cache-selection.js';
import { isCacheSyncError } from '../../cache/informer/cache-sync-error.js';
import type { EventHandlerRegistration } from '../../cache/informer/resource-event-handler.js';
import type { Indexers } from '../../cache/store/store-index.js';
import { clusterKey, splitKey } from '../../object/key.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { isNotFound } from '../../rest/errors/error-guards.js';
import { type Logger, silentLogger } from '../../runtime/log/logger.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable, onAbort } from '../../runtime/signals.js';
import type { IndexDefinition } from '../define/controller-definition.js';
import type { Request, RequestQueue } from '../loop/request.js';
import { ChangeIntake } from './change-intake.js';
import type { EventHandler } from './event-handler.js';
import type { Predicate } from './predicate.js';
import type { SourceOptions, SyncingSource } from './source.js';

/** Options of {@link kindSource}. */
export interface KindSourceOptions<T extends KubeObject> {
  /** Filter changes; all must be true. @default none */
  readonly predicates?: readonly Predicate<T>[];
  /** In logs, and as the cause of what comes from it. @default 'watches' and the kind */
  readonly name?: string;
  /** Goes into every key, where there are several clusters. @default the one that it is made for */
  readonly cluster?: string;
  /** @default the controller's */
  readonly runtime?: Partial<Runtime>;
}

export const kindSourceOptionNames = optionNames<KindSourceOptions<KubeObject>>({
  predicates: true,
  name: true,
  cluster: true,
  runtime: true,
});

/**
 * Changes of a kind, from a cache (`source.Kind`). If the server does not serve the kind yet, it logs that and waits for it.
 */
export function kindSource<T extends KubeObject>(
  cache: Cache,
  kind: KindRef<T>,
  handler: EventHandler<T>,
  options: KindSourceOptions<T> = {},
): SyncingSource {
  refuseUnknownOptions(`kindSource(${kind.kind})`, options, kindSourceOptionNames);
  return new KindSource(cache, kind, handler, options);
}

/** As {@link kindSource}, with what only the framework says. */
export function ownKindSource<T extends KubeObject>(
  cache: Cache,
  kind: KindRef<T>,
  handler: EventHandler<T>,
  options: OwnSourceOptions<T>,
): ReplayingSource {
  return new KindSource(cache, kind, handler, options);
}

/** A source that can replay the objects that it knows. */
export interface ReplayingSource extends SyncingSource {
  /**
   * Handles each object in the cache whose key matches again, as on start. Resolves when all were handled; an object
   * that a predicate or handler fails for is retried by the source, as ever. Does nothing before the source is started.
   */
  replay(matches: (key: Request) => boolean, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** Has a kind in the cache, and nothing comes of it: for what a reconciler reads. */
export function readSource(cache: Cache, kind: KindRef, runtime: Partial<Runtime>): SyncingSource {
  return new KindSource(cache, kind, () => {}, { name: `reads ${kind.kind}`, predicates: [() => false], runtime });
}

/** As {@link readSource}, and the kind can be listed by a field. */
export function indexSource(
  cache: Cache,
  { kind, field, values }: IndexDefinition,
  runtime: Partial<Runtime>,
): SyncingSource {
  const name = `indexes ${kind.kind} by ${field}`;
  const indexers = { [fieldIndex(field)]: values };
  return new KindSource(cache, kind, () => {}, { name, predicates: [() => false], runtime, indexers });
}

/** For what the framework itself makes. */
interface OwnSourceOptions<T extends KubeObject> extends KindSourceOptions<T> {
  readonly indexers?: Indexers<T>;
  /** The handler's name in logs and health. @default 'handler' */
  readonly handlerName?: string;
  /** See `ChangeIntakeParts`. */
  readonly enqueueRecovered?: boolean;
  /** Another source of the same controller logs that the kind is not served yet. @default false */
  readonly isQuiet?: boolean;
}

class KindSource<T extends KubeObject> implements ReplayingSource {
  readonly name: string;
  readonly #cache: Cache;
  readonly #kind: KindRef<T>;
  readonly #handler: EventHandler<T>;
  readonly #options: OwnSourceOptions<T>;
  readonly #indexers: Indexers<T>;
  #use: CacheUse<T> | undefined;
  #registration: EventHandlerRegistration | undefined;
  #intake: ChangeIntake<T> | undefined;
  #log: Logger = silentLogger;
  #patient = false;

  constructor(cache: Cache, kind: KindRef<T>, handler: EventHandler<T>, options: OwnSourceOptions<T>) {
    this.name = options.name ?? `watches ${kind.kind}`;
    this.#cache = cache;
    this.#kind = kind;
    this.#indexers = options.indexers ?? {};
    this.#handler = handler;
    this.#options = options;
  }

  get isPatient(): boolean {
    return this.#patient || this.#intake?.isWaiting === true;
  }

  async start(queue: RequestQueue, options: SourceOptions): Promise<void> {
    const { signal, runtime: given, cluster: place, failures } = options;
    const { predicates = [], cluster = place, handlerName, enqueueRecovered, isQuiet } = this.#options;
    const runtime = resolveRuntime({ ...given, ...this.#options.runtime });
    this.#log = isQuiet ? silentLogger : runtime.log;
    const parts = {
      ...{ name: this.name, kind: this.#kind.kind, handler: this.#handler, handlerName, enqueueRecovered },
      ...{ predicates, cluster, runtime, failures },
    };
    const intake = new ChangeIntake<T>(parts, queue, signal);
    this.#intake = intake;
    const use = this.#cache.use(this.#kind);
    this.#use = use;
    this.#addIndexers(use);
    this.#registration = use.informer.addEventHandler(intake, { name: this.name });
    const registration = this.#registration;
    onAbort(signal, () => void registration.remove().then(() => use.release()));
  }

  async replay(matches: (key: Request) => boolean, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const [intake, use] = [this.#intake, this.#use];
    if (intake === undefined || use === undefined) return;
    const { cluster } = this.#options;
    const registration = use.informer.addEventHandler(
      {
        // Later changes come through the registration of the source itself.
        onChange: (change) => {
          if (change.isInInitialList && matches(clusterKey({ ...splitKey(change.key), cluster }))) {
            return intake.onChange(change);
          }
        },
      },
      { name: `${this.name} replay` },
    );
    try {
      await abortable(registration.synced({ signal }), signal);
    } finally {
      await registration.remove();
    }
  }

  #addIndexers({ informer, release }: CacheUse<T>): void {
    try {
      informer.addIndexers(this.#indexers);
    } catch (cause) {
      void release();
      const remedy = 'use the same function, or another field name';
      throw new Error(`${this.name}: already registered with a different function; ${remedy}`, { cause });
    }
  }

  async waitForSync({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const use = this.#use;
    if (use === undefined) throw new Error(`source "${this.name}" was not started`);
    try {
      await use.informer.synced({ signal });
    } catch (error) {
      if (!isCacheSyncError(error) || !isNotFound(error)) throw error;
      const log = this.#log;
      const fields = { source: this.name, kind: this.#kind.kind };
      // The reflector says which definition to install: once is enough.
      log.warn('waiting for a kind that the server does not serve yet', fields);
      this.#patient = true;
      await use.informer.synced({ signal, patient: true });
      this.#patient = false;
      log.info('the server serves the kind now', fields);
    }
    await abortable(this.#registration?.synced({ signal }) ?? Promise.resolve(), signal);
    await this.#intake?.served({ signal });
  }
}
