import type { Informer } from '../cache/informer.js';
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

/** Options of `onRemove`. */
export interface OnRemoveOptions extends RegisterOptions {
  /** @default the prefix of `Controllers` and the handler's name */
  readonly finalizer?: string;
}

export const onRemoveOptionNames = optionNames<OnRemoveOptions>({ finalizer: true, signal: true, transaction: true });

/** Options of a {@link TypedController}. */
export interface TypedControllerOptions {
  /**
   * The prefix of finalizers. The default is wrangler's, so that finalizers of a program in Go are adopted.
   * @default 'wrangler.cattle.io/'
   */
  readonly finalizerPrefix?: string;
}

export const typedControllerOptionNames = optionNames<TypedControllerOptions>({ finalizerPrefix: true });

/**
 * Client, cache and handlers of one kind (`generic.ControllerInterface`, `generic.NonNamespacedControllerInterface`), with
 * the kind's own types and no generated code. From `Controllers.for`. Its methods `get`, `list`… send requests; {@link cache}
 * reads from memory. It lists and watches nothing before a handler is registered, a key is enqueued, or the cache is read.
 */
export class TypedController<R extends KubeObject = KubeObject, S extends Scope = Scope> extends KindClient<R, S> {
  /** The shared controller of the kind: its queue and handlers. */
  readonly shared: SharedController<R>;
  /** Reads from memory (`Cache`). */
  readonly cache: TypedCache<R, S>;
  /** The factory, for other kinds. */
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

  /** The shared informer (`Informer`). */
  get informer(): Informer<R> {
    return this.shared.informer;
  }

  /** The finalizers of all handlers registered so far, removed ones included; see `clearFinalizers`. */
  get finalizers(): readonly string[] {
    return [...this.#finalizers];
  }

  /** Calls `handler` for each object when it is added, changed or deleted (`OnChange`). */
  onChange(name: string, handler: SharedControllerHandler<R>, options?: RegisterOptions): HandlerRegistration {
    return this.shared.registerHandler(name, handler, options);
  }

  /** The same as {@link onChange} (`AddGenericHandler`). */
  registerHandler(name: string, handler: SharedControllerHandler<R>, options?: RegisterOptions): HandlerRegistration {
    return this.onChange(name, handler, options);
  }

  /**
   * Calls `handler` before an object is deleted (`OnRemove`, `AddGenericRemoveHandler`), by a finalizer on every object, so
   * also for objects that are deleted while this process does not run. See `removeHandler`, and `clearFinalizers` for
   * uninstalling.
   */
  onRemove(name: string, handler: ObjectHandler<R>, given: OnRemoveOptions = {}): HandlerRegistration {
    refuseUnknownOptions(`handler "${name}"`, given, onRemoveOptionNames);
    const { finalizer = this.finalizerFor(name), ...options } = given;
    this.keepsFinalizer(finalizer);
    return this.onChange(name, removeHandler(finalizer, handler), options);
  }

  /** The finalizer of a handler with this name. */
  finalizerFor(name: string): string {
    return `${this.#prefix}${name}`;
  }

  /** Records a finalizer that handlers add to objects. Throws if servers would refuse it. */
  keepsFinalizer(finalizer: string): void {
    const problems = finalizerProblems(finalizer);
    if (problems.length > 0) {
      const what = `${this.kind.kind}: ${JSON.stringify(finalizer)} is not a valid finalizer name`;
      throw new TypeError(`${what}: ${problems.join('; ')}`);
    }
    this.#finalizers.add(finalizer);
  }

  /** Enqueues an object (`Enqueue`). */
  enqueue(key: ObjectKey): void {
    this.shared.enqueue(key);
  }

  /** As {@link enqueue}, after a delay (`EnqueueAfter`). Of several delays of one key, the earliest counts. */
  enqueueAfter(key: ObjectKey, after: Duration): void {
    this.shared.enqueueAfter(key, after);
  }

  /** Writes an object of this kind, for code that knows nothing else about it (`Updater`). */
  get updater(): Updater<R> {
    return (object, options) => this.update(object, options);
  }
}
