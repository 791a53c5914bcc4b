import {
  ignoreNotFound,
  isControlledBy,
  isDeleting,
  type KindRef,
  type KubeObject,
  type ReconcileContext,
} from 'riata';
import type { MapFunc } from 'riata/controller';
import type { LabelSelector } from 'riata/object';
import { controllerReference, hasController } from './pods.js';
import { selects } from './selects.js';

type Owner = KubeObject & { readonly metadata: { readonly namespace: string } };

/**
 * The objects of a kind that the reconciled object controls. It adopts matching orphans, and releases its own objects
 * whose labels don't match any more (`ControllerRefManager`).
 */
export async function claimObjects<T extends KubeObject>(
  { object: owner, client }: Pick<ReconcileContext<Owner>, 'object' | 'client'>,
  kind: KindRef<T, 'Namespaced'>,
  selector: LabelSelector | undefined,
  mayAdopt: (object: T) => boolean = () => true,
): Promise<T[]> {
  const { items } = await client.list(kind, { namespace: owner.metadata.namespace });
  const owned: T[] = [];
  for (const object of items) {
    const isOwn = isControlledBy(object, owner);
    const isSelected = selects(selector, object);
    if (isOwn && (isSelected || isDeleting(owner))) owned.push(object);
    else if (isOwn) await patchOwners(object, { $patch: 'delete', uid: owner.metadata.uid });
    else if (isSelected && !hasController(object) && !isDeleting(owner) && !isDeleting(object) && mayAdopt(object)) {
      const adopted = await patchOwners(object, controllerReference(owner));
      if (adopted !== undefined) owned.push(adopted);
    }
  }
  return owned;

  async function patchOwners({ metadata: { uid, namespace = '', name } }: T, reference: object) {
    // The uid makes sure that it is still the same object.
    const body = { metadata: { uid, ownerReferences: [reference] } };
    return client.patch(kind, { namespace, name }, { type: 'strategic', body }).catch(ignoreNotFound);
  }
}

/** Maps an orphan to the objects of a kind that may adopt it. */
export function adopters<R extends KubeObject>(
  kind: KindRef<R, 'Namespaced'>,
  selectorOf: (owner: R) => LabelSelector | undefined,
): MapFunc<KubeObject> {
  return async (object, reader) => {
    const { namespace = '' } = object.metadata;
    if (hasController(object)) return [];
    const { items } = await reader.list(kind, { namespace });
    return items
      .filter((owner) => selects(selectorOf(owner), object))
      .map(({ metadata: { name } }) => ({ namespace, name }));
  };
}
