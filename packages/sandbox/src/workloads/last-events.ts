import type { ReconcileEvent, Request } from 'riata/controller';
import { keyId } from 'riata/object';

/** Emits each event of an object that waits once, however often it is reconciled meanwhile. */
export class LastEvents {
  /** The last message of each reason, by object. */
  readonly #last = new Map<string, Map<string, string>>();

  emit(
    { key, event }: { readonly key: Request; readonly event: (event: ReconcileEvent) => void },
    next: ReconcileEvent,
  ): void {
    const own = this.#last.get(keyId(key)) ?? new Map<string, string>();
    if (own.get(next.reason) === next.message) return;
    this.#last.set(keyId(key), own.set(next.reason, next.message));
    event(next);
  }

  /** The object was deleted, or waits no longer. */
  forget(key: Request): void {
    this.#last.delete(keyId(key));
  }
}
