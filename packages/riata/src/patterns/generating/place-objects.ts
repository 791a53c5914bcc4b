import type { WriteObject } from '../../client/interfaces.js';
import { shownBriefly } from '../../controller/define/assert-kind.js';
import { builderOf, type KindRef } from '../../object/kind.js';
import type { KubeObject, TypeMeta } from '../../object/meta.js';
import { controllerOf, type Owner, setControllerReference, setOwnerReference } from '../../object/owner-references.js';
import { describeObject } from '../../object/with-metadata.js';

/** Where the objects of a set may be, and whether they have owner references. */
export interface PlacingOptions {
  /** Objects may be in other namespaces than their owner's (`AllowCrossNamespace`). @default false */
  readonly allowCrossNamespace?: boolean;
  /** Objects may be cluster-scoped though their owner is not (`AllowClusterScoped`). @default false */
  readonly allowClusterScoped?: boolean;
  /**
   * Objects refer to their owner where they can, so that garbage collection deletes them with it (`NoOwnerReference` is
   * the opposite). @default true
   */
  readonly ownerReferences?: boolean;
}

/**
 * The objects of a set with namespaces and owner references filled in. Throws, before anything is applied, if the options do
 * not allow the place of one.
 */
export async function placeObjects(
  objects: readonly WriteObject[],
  owner: KubeObject,
  options: PlacingOptions,
  kindOf: (object: TypeMeta) => Promise<KindRef>,
): Promise<readonly WriteObject[]> {
  const placed: WriteObject[] = [];
  for (const [index, object] of objects.entries()) {
    if (typeof object?.kind !== 'string') {
      throw new TypeError(
        `objects[${index}] of the generating handler must be an object with a kind, got ${shownBriefly(object)}`,
      );
    }
    const kind = builderOf(object) ?? (await kindOf(object));
    placed.push(placeObject(object, kind, owner, options));
  }
  return placed;
}

/** True if garbage collection would not delete all of them with their owner. */
export function isOutOfReach(objects: readonly WriteObject[], { metadata: { uid } }: KubeObject): boolean {
  return objects.some(({ metadata }) => !metadata.ownerReferences?.some((ref) => ref.uid === uid));
}

/**
 * True if an object lost the reference to its owner: the garbage collector removed it, since the owner was deleted with the
 * policy Orphan, or a user did.
 */
export function hasLostOwner(
  { metadata: { namespace, ownerReferences = [] } }: KubeObject,
  { kind, metadata: owner }: Owner,
  options: PlacingOptions,
): boolean {
  const canOwn = owner.namespace === undefined || namespace === owner.namespace;
  if (options.ownerReferences === false || !canOwn) return false;
  return !ownerReferences.some((ref) => ref.kind === kind && ref.name === owner.name);
}

function placeObject(object: WriteObject, kind: KindRef, owner: KubeObject, options: PlacingOptions): WriteObject {
  const home = owner.metadata.namespace;
  const isNamespaced = kind.scope === 'Namespaced';
  if (isNamespaced && !object.metadata.namespace && home === undefined) {
    throw new Error(
      `${describeObject(object)} has no namespace, and neither has its owner ${describeObject(owner)}; set one`,
    );
  }
  const namespace = isNamespaced ? (object.metadata.namespace ?? home) : undefined;
  if (home !== undefined && namespace !== home) {
    const [option, where] = isNamespaced
      ? (['allowCrossNamespace', 'in another namespace'] as const)
      : (['allowClusterScoped', 'cluster-scoped'] as const);
    if (!options[option]) {
      throw new Error(
        `${describeObject(object)} is ${where}, unlike its owner ${describeObject(owner)}: set ${option}`,
      );
    }
  }
  const there = { ...object, metadata: { ...object.metadata, ...(namespace !== undefined && { namespace }) } };
  const canOwn = home === undefined || namespace === home;
  if (options.ownerReferences === false || !canOwn) return there;
  const controller = controllerOf(there);
  const isOthers = controller !== undefined && controller.uid !== owner.metadata.uid;
  const refer = isOthers ? setOwnerReference : setControllerReference;
  return refer(owner, there, { blockOwnerDeletion: false });
}
