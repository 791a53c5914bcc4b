import type { KubeObject, OwnerReference } from 'riata/object';

/** An object somewhere in the storage. */
export interface Place {
  readonly table: string;
  readonly key: string;
  readonly uid: string;
}

/** Owners and dependents by UID, updated with every write. */
export class OwnershipGraph {
  readonly #places = new Map<string, Place>();
  readonly #ownersOf = new Map<string, readonly OwnerReference[]>();
  /** Owner → dependents. The owner need not exist; its dependents refer to it. */
  readonly #dependents = new Map<string, Set<string>>();

  /** Records the current state of an object. */
  set(table: string, key: string, object: KubeObject): void {
    const { uid, ownerReferences = [] } = object.metadata;
    this.#places.set(uid, { table, key, uid });
    this.#unlink(uid);
    if (ownerReferences.length === 0) return;
    this.#ownersOf.set(uid, ownerReferences);
    for (const owner of ownerReferences) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, dependents.add(uid));
    }
  }

  /** Records that an object is gone. Its dependents still refer to it. */
  delete(uid: string): void {
    this.#places.delete(uid);
    this.#unlink(uid);
  }

  place(uid: string): Place | undefined {
    return this.#places.get(uid);
  }

  dependentsOf(uid: string): readonly Place[] {
    const dependents = this.#dependents.get(uid) ?? [];
    return [...dependents].flatMap((dependent) => this.#places.get(dependent) ?? []);
  }

  #unlink(uid: string): void {
    for (const owner of this.#ownersOf.get(uid) ?? []) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
    }
    this.#ownersOf.delete(uid);
  }
}
