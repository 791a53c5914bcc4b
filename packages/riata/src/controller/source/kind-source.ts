import { type Cache, type CacheUse, idOf } from '../../cache/cache.js';
import { isCacheSyncError } from '../../cache/informer/cache-sync-error.js';
import type { EventHandlerRegistration } from '../../cache/informer/resource-event-handler.js';
import type { IndexUse } from '../../cache/kind-cache.js';
import { clusterKey, splitKey } from '../../object/key.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { isNotFound } from '../../rest/errors/error-guards.js';
import { type Logger, silentLogger } from '../../runtime/log/logger.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable, link, onAbort } from '../../runtime/signals.js';
import type { IndexDefinition } from '../define/controller-definition.js';
import type { Request, RequestQueue } from '../loop/request.js';
import { ChangeIntake } from './change-intake.js';
import type { EventHandler } from './event-handler.js';
import { HeldKeys } from './held-keys.js';
import type { Predicate } from './predicate.js';
import type { Source, SourceOptions, SyncingSource } from './source.js';

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

/** Options of {@link ReplayingSource.replay}. */
export interface ReplayOptions {
  readonly signal: AbortSignal;
  /** Which keys are enqueued. @default all that the objects lead to */
  readonly admits?: (key: Request) => boolean;
}

/** A source that can replay the objects that it knows. */
export interface ReplayingSource extends SyncingSource {
  /**
   * Handles each object in the cache whose key matches again, as on start. Resolves when all were handled; an object
   * that a predicate or handler fails for is retried by the source, as ever. Does nothing before the source is started.
   */
  replay(matches: (key: Request) => boolean, options: ReplayOptions): Promise<void>;
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
  return new KindSource(cache, kind, () => {}, { name, predicates: [() => false], runtime, index: { field, values } });
}

/** True for a source whose objects can be handled again; see {@link ReplayingSource}. */
export function isReplaying(source: Source): source is ReplayingSource {
  return source instanceof KindSource;
}

/**
 * Has a source enqueue nothing any more, while its kind and index stay in the cache until it is stopped. False if it cannot:
 * it is to be stopped at once.
 */
export function silence(source: Source): boolean {
  if (!(source instanceof KindSource)) return false;
  source.silence();
  return true;
}

/** For what the framework itself makes. */
interface OwnSourceOptions<T extends KubeObject> extends KindSourceOptions<T> {
  readonly index?: Pick<IndexDefinition, 'field' | 'values'>;
  /** The handler's name in logs and health. @default 'handler' */
  readonly handlerName?: string;
  /** See `ChangeIntakeParts`. */
  readonly enqueueRecovered?: boolean;
  /** Another source of the same controller logs that the kind is not served yet. @default false */
  readonly isQuiet?: boolean;
  /** Its handler keeps a state of its own, so another source cannot continue it: that has to see all objects. @default false */
  readonly isFixed?: boolean;
}

class KindSource<T extends KubeObject> implements ReplayingSource {
  readonly name: string;
  readonly #cache: Cache;
  readonly #kind: KindRef<T>;
  #handler: EventHandler<T>;
  #options: OwnSourceOptions<T>;
  #use: CacheUse<T> | undefined;
  #index: IndexUse<T> | undefined;
  #signal: AbortSignal | undefined;
  #registration: EventHandlerRegistration | undefined;
  #intake: ChangeIntake<T> | undefined;
  #log: Logger = silentLogger;
  #patient = false;

  constructor(cache: Cache, kind: KindRef<T>, handler: EventHandler<T>, options: OwnSourceOptions<T>) {
    this.name = options.name ?? `watches ${kind.kind}`;
    this.#cache = cache;
    this.#kind = kind;
    this.#handler = handler;
    this.#options = options;
  }

  get isPatient(): boolean {
    return this.#patient || this.#intake?.isWaiting === true;
  }

  async start(queue: RequestQueue, options: SourceOptions): Promise<void> {
    const { signal, runtime: given, cluster: place, failures, takesEffect } = options;
    const { predicates = [], cluster = place, handlerName, enqueueRecovered, isQuiet } = this.#options;
    const runtime = resolveRuntime({ ...given, ...this.#options.runtime });
    this.#log = isQuiet ? silentLogger : runtime.log;
    const parts = {
      ...{ name: this.name, kind: this.#kind.kind, handler: this.#handler, handlerName, enqueueRecovered },
      ...{ predicates, cluster, runtime, failures },
    };
    const held = takesEffect && new HeldKeys(queue);
    const intake = new ChangeIntake<T>(parts, held ?? queue, signal);
    this.#intake = intake;
    const use = this.#cache.use(this.#kind);
    this.#use = use;
    this.#signal = signal;
    await this.#addIndex(use, options);
    this.#registration = use.informer.addEventHandler(intake, { name: this.name });
    const registration = this.#registration;
    onAbort(takesEffect, () => {
      this.#useOwnIndex();
      held?.release();
    });
    onAbort(signal, () => {
      this.#index?.release();
      void registration.remove().then(() => use.release());
    });
  }

  adopt(next: Source): (() => void) | undefined {
    if (!(next instanceof KindSource) || this.#options.isFixed) return undefined;
    // Of the same name, so that `index` is for the same field.
    const isSame = next.#cache === this.#cache && idOf(next.#kind) === idOf(this.#kind);
    if (!isSame || (next.#options.index === undefined) !== (this.#options.index === undefined)) return undefined;
    return () => {
      this.#handler = next.#handler;
      this.#options = next.#options;
      const { predicates = [], handlerName } = next.#options;
      this.#intake?.adopt({ handler: next.#handler, handlerName, predicates });
      this.#useOwnIndex();
    };
  }

  silence(): void {
    this.#intake?.silence();
  }

  #useOwnIndex(): void {
    const { index } = this.#options;
    if (index !== undefined) this.#index?.replace(index.values as unknown as (object: T) => readonly string[]);
  }

  async replay(matches: (key: Request) => boolean, options: ReplayOptions): Promise<void> {
    const [intake, use] = [this.#intake, this.#use];
    if (intake === undefined || use === undefined || this.#signal?.aborted) return;
    using either = link(options.signal, this.#signal);
    const { signal } = either;
    const { cluster } = this.#options;
    const registration = use.informer.addEventHandler(
      {
        // Later changes come through the registration of the source itself.
        onChange: (change) => {
          if (change.isInInitialList && matches(clusterKey({ ...splitKey(change.key), cluster }))) {
            return intake.handle(change, options.admits);
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

  async #addIndex({ indexField, release }: CacheUse<T>, { takesEffect }: SourceOptions): Promise<void> {
    const { index } = this.#options;
    if (index === undefined) return;
    try {
      const values = index.values as unknown as (object: T) => readonly string[];
      this.#index = await indexField(index.field, values, { keeps: takesEffect !== undefined });
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
