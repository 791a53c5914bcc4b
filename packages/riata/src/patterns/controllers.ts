import type { ClientOptions } from '../client/create-client.js';
import { assertKind } from '../controller/define/assert-kind.js';
import type { ControllerGroup } from '../manager/debug/controller-group.js';
import { formatGvk } from '../object/gvk.js';
import type { KindRef, Scope } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import type { RestConfig } from '../rest/config/rest-config.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import type { StartOptions } from '../shared/keyed-controller.js';
import type { SharedController } from '../shared/shared-controller.js';
import { SharedControllerFactory, type SharedControllerFactoryOptions } from '../shared/shared-controller-factory.js';
import { type ClearedFinalizers, clearFinalizers } from './clear-finalizers.js';
import { TypedController, type TypedControllerOptions, typedControllerOptionNames } from './typed-controller.js';

/**
 * Makes typed controllers for any kind (`generic.ControllerFactory`, and the factories that wrangler generates for each
 * group), on a `SharedControllerFactory`: both have one watch and one queue for each kind.
 *
 * @example
 * await using controllers = await Controllers.fromConfig(config);
 * const foos = controllers.for(Foo);
 * foos.onChange('greet', (key, foo) => foo, { signal });
 * foos.onRemove('clean-up', async (key, foo) => bucket.remove(foo.metadata.uid), { signal });
 * await controllers.start({ workers: 5, signal });
 */
export class Controllers implements AsyncDisposable {
  /** For a Manager: its name as a `Runnable`. */
  readonly name = 'controllers';
  readonly factory: SharedControllerFactory;
  readonly #options: TypedControllerOptions;
  readonly #controllers = new Map<string, TypedController>();
  #ownsFactory = false;

  constructor(factory: SharedControllerFactory, options: TypedControllerOptions = {}) {
    refuseUnknownOptions('Controllers', options, typedControllerOptionNames);
    this.factory = factory;
    this.#options = options;
  }

  /** With its own connection (`NewFactoryFromConfig`), which is closed on disposal. */
  static async fromConfig(
    config: RestConfig,
    options: SharedControllerFactoryOptions & Pick<ClientOptions, 'scheme'> & TypedControllerOptions = {},
  ): Promise<Controllers> {
    const { finalizerPrefix, ...shared } = options;
    const made = new Controllers(await SharedControllerFactory.fromConfig(config, shared), { finalizerPrefix });
    made.#ownsFactory = true;
    return made;
  }

  /** The controller of a kind, the same on every call. Sends no request. */
  for<R extends KubeObject, S extends Scope>(kind: KindRef<R, S>): TypedController<R, S> {
    assertKind('Controllers.for', kind);
    const id = `${formatGvk(kind.gvk)} ${kind.plural} ${kind.projection ?? ''}`;
    const known = this.#controllers.get(id);
    if (known !== undefined) return known as unknown as TypedController<R, S>;
    const made = new TypedController<R, S>(this.factory, kind, this.#options);
    this.#controllers.set(id, made as unknown as TypedController);
    return made;
  }

  /** All controllers of the factory. */
  get controllers(): readonly SharedController[] {
    return this.factory.controllers;
  }

  /** Those of the factory, as the debug endpoints of a Manager show them. */
  get controllerGroup(): ControllerGroup {
    return this.factory.controllerGroup;
  }

  /** As `SharedControllerFactory.start` (`start.All`). */
  start(options: StartOptions): Promise<void> {
    return this.factory.start(options);
  }

  /** {@link start}, and resolves when the signal has aborted and the last handler has returned: for `manager.add`. */
  run(options: StartOptions): Promise<void> {
    return this.factory.run(options);
  }

  /**
   * Removes the finalizers of registered handlers from all objects, for uninstalling. Register the handlers without starting
   * the controllers, or stop them first. See `clearFinalizers`.
   */
  async clearFinalizers(options: { readonly signal?: AbortSignal } = {}): Promise<readonly ClearedFinalizers[]> {
    const cleared: ClearedFinalizers[] = [];
    for (const { kind, client, finalizers } of this.#controllers.values()) {
      if (finalizers.length > 0) cleared.push(...(await clearFinalizers(client, [kind], { ...options, finalizers })));
    }
    return cleared;
  }

  /** Stops all controllers and closes the connection, if it opened it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ownsFactory) await this.factory[Symbol.asyncDispose]();
  }
}
