import type { ObjectKey } from '../object/key.js';
import { formatKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import { keptIn } from '../runtime/kept-in.js';
import type { SharedController } from '../shared/shared-controller.js';
import type { HandlerContext, HandlerRegistration, RegisterOptions } from '../shared/shared-controller-handler.js';

const namespace = '__trigger__';
/** Where a controller has the number of its triggers. */
const triggers = Symbol('riata.triggers');

/**
 * Runs work that belongs to no single object on the queue of a controller (`trigger.Trigger`, `trigger.New`): never twice at
 * once, deduplicated, and retried when it fails. Return {@link key} from a `Resolver` to run it when other objects change.
 *
 * @example
 * const rebuild = new Trigger(controllers.for(ConfigMap));
 * rebuild.onTrigger('rebuild-index', async ({ signal }) => buildIndex(signal), { signal });
 * rebuild.trigger();
 */
export class Trigger<R extends KubeObject = KubeObject> {
  /** Its key in the queue (`Key`). */
  readonly key: ObjectKey;
  readonly #controller: Pick<SharedController<R>, 'enqueue' | 'registerHandler'>;

  constructor(controller: Pick<SharedController<R>, 'enqueue' | 'registerHandler'>) {
    const count = keptIn(controller, triggers, () => ({ made: 0 }));
    count.made += 1;
    this.key = Object.freeze({ namespace, name: `__trigger__${count.made}__` });
    this.#controller = controller;
  }

  /** Runs the handlers (`Trigger`). */
  trigger(): void {
    this.#controller.enqueue(this.key);
  }

  /** Registers a handler and runs it once (`OnTrigger`). */
  onTrigger(
    name: string,
    handler: (context: HandlerContext<R>) => unknown,
    options?: RegisterOptions,
  ): HandlerRegistration {
    const own = formatKey(this.key);
    const run = async (key: string, _: unknown, context: HandlerContext<R>) => {
      if (key === own) await handler(context);
      return undefined;
    };
    const registration = this.#controller.registerHandler(name, run, options);
    this.trigger();
    return registration;
  }
}
