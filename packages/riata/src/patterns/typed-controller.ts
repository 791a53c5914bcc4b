import type { Informer } from '../cache/cache-informer.js';
import type { Duration } from '../object/duration.js';
import { finalizerProblems } from '../object/finalizers.js';
import type { GroupVersionKind } from '../object/gvk.js';
import type { ObjectKey } from '../object/key.js';
import type { KindRef, Scope } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { KindClient } from '../shared/kind-client.js';
import type { SharedController } from '../shared/shared-controller.js';
import type { SharedControllerFactory } from '../shared/shared-controller-factory.js';
import type {
  HandlerRegistration,
  RegisterOptions,
  SharedControllerHandler,
} from '../shared/shared-controller-handler.js';
import { type ObjectHandler, removeHandler } from './remove-handler.js';
import { TypedCache } from './typed-cache.js';

/** Writes an object (`generic.Updater`). */
export type Updater<R extends KubeObject> = (object: R, options?: { readonly signal?: AbortSignal }) => Promise<R>;

/** How a handler of `onRemove` stays, and what it is known by on objects. */
export interface OnRemoveOptions extends RegisterOptions {
  /** @default the prefix of `Controllers` and the handler's name */
  readonly finalizer?: string;
}

export const onRemoveOptionNames = optionNames<OnRemoveOptions>({ finalizer: true, signal: true, transaction: true });

/** How a {@link TypedController} is made. */
export interface TypedControllerOptions {
  /**
   * What the finalizers begin with. By default they are those of wrangler, so that what a program in Go has left on
   * objects is taken over. @default 'wrangler.cattle.io/'
   */
  readonly finalizerPrefix?: string;
}

export const typedControllerOptionNames = optionNames<TypedControllerOptions>({ finalizerPrefix: true });

/**
 * All there is to one kind: the client, the cache and the handlers (`generic.ControllerInterface`,
 * `generic.NonNamespacedControllerInterface`), with the kind's own types, and no generated code. From `Controllers.for`.
 * Its own methods `get`, `list`… ask the server; {@link cache} answers from memory. Nothing is listed or watched before
 * there is a handler, a key, or a read of the cache.
 */
export class TypedController<R extends KubeObject = KubeObject, S extends Scope = Scope> extends KindClient<R, S> {
  /** The queue and the handlers; of all who ask for this kind. */
  readonly shared: SharedController<R>;
  /** Answers reads from memory (`Cache`). */
  readonly cache: TypedCache<R, S>;
  /** For what handlers need besides their kind. */
  readonly factory: SharedControllerFactory;
  readonly #prefix: string;
  readonly #finalizers = new Set<string>();

  constructor(factory: SharedControllerFactory, kind: KindRef<R, S>, options: TypedControllerOptions = {}) {
    refuseUnknownOptions(`controller of ${kind.kind}`, options, typedControllerOptionNames);
    super(kind, factory.clients.forKind(kind).client);
    this.factory = factory;
    this.shared = factory.forKind<R>(kind);
    this.cache = new TypedCache<R, S>(factory.caches.forKind<R>(kind));
    this.#prefix = options.finalizerPrefix ?? 'wrangler.cattle.io/';
  }

  /** `GroupVersionKind` */
  get gvk(): GroupVersionKind {
    return this.kind.gvk;
  }

  /** Tells of changes (`Informer`). */
  get informer(): Informer<R> {
    return this.shared.informer;
  }

  /** The finalizers that handlers have been registered with, those that are removed by now too; see `clearFinalizers`. */
  get finalizers(): readonly string[] {
    return [...this.#finalizers];
  }

  /** Calls `handler` for each object, when it changes and when it is gone (`OnChange`). */
  onChange(name: string, handler: SharedControllerHandler<R>, options?: RegisterOptions): HandlerRegistration {
    return this.shared.registerHandler(name, handler, options);
  }

  /** The same as {@link onChange} (`AddGenericHandler`). */
  registerHandler(name: string, handler: SharedControllerHandler<R>, options?: RegisterOptions): HandlerRegistration {
    return this.onChange(name, handler, options);
  }

  /**
   * Calls `handler` before an object goes (`OnRemove`, `AddGenericRemoveHandler`): by a finalizer that every object gets,
   * so also for objects that are deleted while this process is not there. See `removeHandler`; `clearFinalizers` when the
   * controller is uninstalled.
   */
  onRemove(name: string, handler: ObjectHandler<R>, given: OnRemoveOptions = {}): HandlerRegistration {
    refuseUnknownOptions(`handler "${name}"`, given, onRemoveOptionNames);
    const { finalizer = this.finalizerFor(name), ...options } = given;
    this.keepsFinalizer(finalizer);
    return this.onChange(name, removeHandler(finalizer, handler), options);
  }

  /** The finalizer that stands for a handler of this name. */
  finalizerFor(name: string): string {
    return `${this.#prefix}${name}`;
  }

  /** Takes note that handlers put this finalizer on objects. Throws if it is none that servers take. */
  keepsFinalizer(finalizer: string): void {
    const problems = finalizerProblems(finalizer);
    if (problems.length > 0) {
      const what = `${this.kind.kind}: ${JSON.stringify(finalizer)} is not a valid finalizer name`;
      throw new TypeError(`${what}: ${problems.join('; ')}`);
    }
    this.#finalizers.add(finalizer);
  }

  /** Has the handlers look at an object as soon as can be (`Enqueue`). */
  enqueue(key: ObjectKey): void {
    this.shared.enqueue(key);
  }

  /** As {@link enqueue}, after some time (`EnqueueAfter`). Of several times that a key waits for, the earliest counts. */
  enqueueAfter(key: ObjectKey, after: Duration): void {
    this.shared.enqueueAfter(key, after);
  }

  /** Writes an object of this kind, for code that knows no more of it (`Updater`). */
  get updater(): Updater<R> {
    return (object, options) => this.update(object, options);
  }
}
