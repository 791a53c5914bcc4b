import type { WriteObject } from '../../client/interfaces.js';
import type { KubeObject } from '../../object/meta.js';
import type { Owner } from '../../object/owner-references.js';
import type { RbacNeeds } from '../../shared/rbac-need.js';

/** On whose behalf a set is applied, and how long that may take. */
export interface SetApplyOptions {
  /** Whose set it is: objects of the set go when it is not in the set any more. */
  readonly owner?: Owner;
  /** Tells the sets of one owner apart. */
  readonly setId?: string;
  /**
   * What is no longer in the set and is let go instead of deleted: it loses the marks of the set, and stays otherwise as
   * it is. @default nothing
   */
  readonly release?: (object: KubeObject) => boolean;
  readonly signal?: AbortSignal;
}

/**
 * Makes a cluster hold exactly a set of objects: creates, updates, and deletes what the set held before. An empty set
 * deletes all. `Apply` is one; a generating handler works with any.
 */
export interface SetApplier extends Partial<RbacNeeds> {
  apply(objects: readonly WriteObject[], options: SetApplyOptions): Promise<unknown>;
}
