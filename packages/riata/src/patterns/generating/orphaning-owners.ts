import type { Change } from '../../cache/informer/change.js';
import type { EventHandlerRegistration } from '../../cache/informer/resource-event-handler.js';
import { isDeleting } from '../../object/finalizers.js';
import type { Scope } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { RegisterOptions } from '../../shared/shared-controller-handler.js';
import type { TypedController } from '../typed-controller.js';

/** The finalizer of an object that is deleted with the policy Orphan, until the garbage collector has handled it. */
const orphanFinalizer = 'orphan';

/**
 * Remembers objects that were deleted with the policy Orphan. The finalizer is visible only for a moment, which a handler
 * may miss, so every change is checked.
 */
export class OrphaningOwners {
  readonly #keys = new Set<string>();
  #events: EventHandlerRegistration | undefined;
  #isRemoved = false;

  constructor(
    controller: Pick<TypedController<never, Scope>, 'informer'>,
    { name, signal, transaction }: RegisterOptions & { readonly name: string },
  ) {
    const begin = () => {
      if (this.#isRemoved || signal?.aborted) return;
      const onChange = (change: Change<KubeObject>) => this.#look(change);
      this.#events = controller.informer.addEventHandler({ onChange }, { name: `${name} orphans`, signal });
    };
    if (transaction === undefined) begin();
    else transaction.add(begin);
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    await this.#events?.remove();
  }

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  delete(key: string): void {
    this.#keys.delete(key);
  }

  #look({ key, metadata }: Change<KubeObject>): void {
    if (metadata.finalizers?.includes(orphanFinalizer) && isDeleting({ metadata })) this.#keys.add(key);
  }
}
