import { shownBriefly } from '../controller/define/assert-kind.js';
import type { KubeObject } from '../object/meta.js';
import { refuseUnknownOptions } from '../runtime/option-names.js';
import { KeyedController } from './keyed-controller.js';
import type { RbacNeed, RbacNeeds } from './rbac-need.js';
import {
  type HandlerRegistration,
  type RegisterOptions,
  registerOptionNames,
  type SharedControllerHandler,
} from './shared-controller-handler.js';

/**
 * The controller that all handlers of one kind share (`SharedController`): one watch, one queue. From
 * `SharedControllerFactory.forKind`.
 *
 * Guarantees: the handlers of a key run one after the other, in order of registration, and never twice at once. All run
 * even if one fails. A handler that is registered later is called for every existing object.
 */
export class SharedController<R extends KubeObject = KubeObject> extends KeyedController<R> implements RbacNeeds {
  readonly #needs = new Set<RbacNeed | RbacNeeds>();

  /** The names of the handlers, in the order in which they run. */
  get handlers(): readonly string[] {
    return this.chain.handlers;
  }

  /** Declares permissions that handlers need besides those for the kind itself, for `collectRbac`. */
  needs(...needs: readonly (RbacNeed | RbacNeeds)[]): void {
    for (const need of needs) this.#needs.add(need);
  }

  /** The permissions declared by {@link needs}. */
  get rbacNeeds(): readonly RbacNeed[] {
    return [...this.#needs].flatMap((need) => ('rbacNeeds' in need ? need.rbacNeeds : [need]));
  }

  /**
   * Registers a handler (`RegisterHandler`), at any time. `name` appears in logs, errors and metrics. It is removed when its
   * signal aborts or by the returned registration; the signal of a call in flight aborts, and it is not retried.
   */
  registerHandler(
    name: string,
    handler: SharedControllerHandler<R>,
    options: RegisterOptions = {},
  ): HandlerRegistration {
    refuseUnknownOptions(`handler "${name}"`, options, registerOptionNames);
    const { signal, transaction } = options;
    if (typeof handler !== 'function') {
      throw new TypeError(`${this.name}: handler "${name}" must be a function, got ${shownBriefly(handler)}`);
    }
    if (transaction === undefined) return this.#register(name, handler, signal);
    let registration: HandlerRegistration | undefined;
    let isRemoved = false;
    transaction.add(() => {
      if (!isRemoved && !signal?.aborted) registration = this.#register(name, handler, signal);
    });
    const remove = async () => {
      isRemoved = true;
      await registration?.remove();
    };
    return { name, remove, [Symbol.asyncDispose]: remove };
  }

  #register(name: string, handler: SharedControllerHandler<R>, signal: AbortSignal | undefined): HandlerRegistration {
    const registration = this.chain.add(name, handler, signal);
    const wasStarted = this.isStarted;
    this.markUsed();
    if (wasStarted && !signal?.aborted) void this.replay(`handler ${name} registered`);
    return registration;
  }
}
