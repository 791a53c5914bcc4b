import type { WriteObject } from '../../client/interfaces.js';
import type { KubeObject } from '../../object/meta.js';
import type { Owner } from '../../object/owner-references.js';
import type { RbacNeeds } from '../../shared/rbac-need.js';

/** Options of {@link SetApplier.apply}. */
export interface SetApplyOptions {
  /** Whose set it is: objects of the set go when it is not in the set any more. */
  readonly owner?: Owner;
  /** Distinguishes the sets of one owner. */
  readonly setId?: string;
  /**
   * Selects objects to release instead of deleting them: they lose the marks of the set and are otherwise unchanged.
   * @default none
   */
  readonly release?: (object: KubeObject) => boolean;
  readonly signal?: AbortSignal;
}

/**
 * Applies a desired set: creates and updates its objects, and prunes those that are no longer in it. An empty set deletes
 * all. `Apply` implements it; a generating handler accepts any implementation.
 */
export interface SetApplier extends Partial<RbacNeeds> {
  apply(objects: readonly WriteObject[], options: SetApplyOptions): Promise<unknown>;
}
