import type { KindRef } from '../object/kind.js';

/** Permissions for one kind that no controller definition implies. */
export interface RbacNeed {
  readonly kind: KindRef;
  readonly verbs: readonly string[];
  /** @default the kind itself */
  readonly subresource?: string;
  /** Of the objects. @default any */
  readonly names?: readonly string[];
  /** In the namespace of the program alone. @default wherever it works */
  readonly ownNamespace?: boolean;
}

/** Lists the permissions it needs; the list may grow while it runs. */
export interface RbacNeeds {
  readonly rbacNeeds: readonly RbacNeed[];
}

export const readVerbs: readonly string[] = ['get', 'list', 'watch'];
export const changeVerbs: readonly string[] = ['patch', 'update'];
/** For kinds whose objects are created and deleted. */
export const writeVerbs: readonly string[] = [...readVerbs, ...changeVerbs, 'create', 'delete'];
