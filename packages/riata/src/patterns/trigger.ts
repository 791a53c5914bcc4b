import type { ObjectKey } from '../object/key.js';
import { formatKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import type { SharedController } from '../shared/shared-controller.js';
import type { HandlerContext, HandlerRegistration, RegisterOptions } from '../shared/shared-controller-handler.js';

const namespace = '__trigger__';
let made = 0;

/**
 * Runs something that is about no single object, on the queue of a controller (`trigger.Trigger`, `trigger.New`): never
 * twice at once, merged if it is asked for again meanwhile, and tried again when it fails. Give {@link key} out of a
 * `Resolver` to have it run when other objects change.
 *
 * @example
 * const rebuild = new Trigger(controllers.for(ConfigMap));
 * rebuild.onTrigger('rebuild-index', async ({ signal }) => buildIndex(signal), { signal });
 * rebuild.trigger();
 */
export class Trigger<R extends KubeObject = KubeObject> {
  /** What stands for it in the queue (`Key`). */
  readonly key: ObjectKey;
  readonly #controller: Pick<SharedController<R>, 'enqueue' | 'registerHandler'>;

  constructor(controller: Pick<SharedController<R>, 'enqueue' | 'registerHandler'>) {
    made += 1;
    this.key = Object.freeze({ namespace, name: `__trigger__${made}__` });
    this.#controller = controller;
  }

  /** Has the handlers run (`Trigger`). */
  trigger(): void {
    this.#controller.enqueue(this.key);
  }

  /** Adds what is run; it runs once to begin with (`OnTrigger`). */
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
