import type { ReconcileEvent, Request } from 'riata/controller';
import { keyId } from 'riata/object';

/** Emits the event of an object that waits once, however often it is reconciled meanwhile, until there is another one. */
export class LastEvents {
  readonly #last = new Map<string, string>();

  emit(
    { key, event }: { readonly key: Request; readonly event: (event: ReconcileEvent) => void },
    next: ReconcileEvent,
  ) {
    const text = `${next.reason} ${next.message}`;
    if (this.#last.get(keyId(key)) === text) return;
    this.#last.set(keyId(key), text);
    event(next);
  }

  /** The object is gone, or waits no more. */
  forget(key: Request): void {
    this.#last.delete(keyId(key));
  }
}
