import type { ControllerHealth } from '../../controller/loop/controller-health.js';
import type { ReconcileRecord } from '../../controller/loop/reconcile-record.js';
import type { Cause, Request } from '../../controller/loop/request.js';
import type { KindRef } from '../../object/kind.js';
import type { PendingKey } from '../../queue/pending-keys.js';

/** Controllers that a runnable of a manager runs, such as a `SharedControllerFactory`: the debug endpoints show them. */
export interface ControllerGroup {
  readonly health: readonly ControllerHealth[];
  /** Finished reconciles, oldest first. */
  readonly explain: readonly ReconcileRecord[];
  readonly kinds: Iterable<{ readonly name: string; readonly kind: KindRef }>;
  /** Keys of one controller that wait: ready ones, then those that wait for their time. */
  pending(name: string, most: number): readonly PendingKey<Request, readonly Cause[]>[];
  /** Calls `listener` with each ended reconcile, of controllers that start later, too. */
  onReconciled(listener: (record: ReconcileRecord) => void): Disposable;
}

/** The groups of a manager, as one: groups may come and go while someone listens. */
export class ControllerGroups implements ControllerGroup {
  readonly #groups = new Set<ControllerGroup>();
  /** With the subscription to each group. */
  readonly #listeners = new Map<(record: ReconcileRecord) => void, Map<ControllerGroup, Disposable>>();

  /** Adds the group of a runnable, if it has one. Returns what removes the runnable, and the group with it. */
  addUntil(group: ControllerGroup | undefined, remove: () => Promise<void>): () => Promise<void> {
    if (group === undefined) return remove;
    this.#groups.add(group);
    for (const [listener, ends] of this.#listeners) ends.set(group, group.onReconciled(listener));
    return () => remove().finally(() => this.#delete(group));
  }

  #delete(group: ControllerGroup): void {
    this.#groups.delete(group);
    for (const ends of this.#listeners.values()) {
      ends.get(group)?.[Symbol.dispose]();
      ends.delete(group);
    }
  }

  get health(): readonly ControllerHealth[] {
    return [...this.#groups].flatMap(({ health }) => health);
  }

  get explain(): readonly ReconcileRecord[] {
    const all = [...this.#groups].map(({ explain }) => explain);
    return all.length === 1 ? (all[0] ?? []) : all.flat().sort((a, b) => a.startedAt - b.startedAt);
  }

  get kinds(): Iterable<{ readonly name: string; readonly kind: KindRef }> {
    return [...this.#groups].flatMap(({ kinds }) => [...kinds]);
  }

  pending(name: string, most: number): readonly PendingKey<Request, readonly Cause[]>[] {
    for (const group of this.#groups) {
      const found = group.pending(name, most);
      if (found.length > 0) return found;
    }
    return [];
  }

  onReconciled(listener: (record: ReconcileRecord) => void): Disposable {
    const ends = new Map([...this.#groups].map((group) => [group, group.onReconciled(listener)]));
    this.#listeners.set(listener, ends);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        for (const end of ends.values()) end[Symbol.dispose]();
      },
    };
  }
}
