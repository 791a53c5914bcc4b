import type { KindRef } from '../object/kind.js';

/** Rights for one kind that no definition tells of. */
export interface RbacNeed {
  readonly kind: KindRef;
  readonly verbs: readonly string[];
  /** @default the kind itself */
  readonly subresource?: string;
}

/** What knows which rights it needs; more may come to be known while it works. */
export interface RbacNeeds {
  readonly rbacNeeds: readonly RbacNeed[];
}

export const readVerbs: readonly string[] = ['get', 'list', 'watch'];
export const changeVerbs: readonly string[] = ['patch', 'update'];
/** For kinds whose objects are made and deleted. */
export const writeVerbs: readonly string[] = [...readVerbs, ...changeVerbs, 'create', 'delete'];
