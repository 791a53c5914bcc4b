import type { WriteObject } from '../../client/interfaces.js';
import { shownBriefly } from '../../controller/define/assert-kind.js';
import { dropFinalizers, ensureFinalizer } from '../../controller/define/finalizing.js';
import { isDeleting } from '../../object/finalizers.js';
import { splitKey } from '../../object/key.js';
import type { KindRef, Scope } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type RbacNeeds, writeVerbs } from '../../shared/rbac-need.js';
import type { HandlerContext, HandlerRegistration } from '../../shared/shared-controller-handler.js';
import type { SetApplier } from '../desired-set/set-applier.js';
import { type StatusHandlerOptions, type StatusOf, statusHandler, statusOf } from '../status/status-handler.js';
import type { TypedController } from '../typed-controller.js';
import { OrphaningOwners } from './orphaning-owners.js';
import { hasLostOwner, isOutOfReach, type PlacingOptions, placeObjects } from './place-objects.js';

/** What an object becomes. */
export interface Generated<R extends KubeObject> {
  /** All that should be there for it: what it became before and is not here is deleted. */
  readonly objects: readonly WriteObject[];
  /** @default as it is */
  readonly status?: StatusOf<R>;
}

/** Says what an object becomes. Throwing changes nothing, and is tried again. */
export type GeneratingHandler<R extends KubeObject> = (
  object: R,
  status: StatusOf<R>,
  context: HandlerContext<R>,
) => Generated<R> | Promise<Generated<R>>;

/**
 * How a generating handler is registered (`GeneratingHandlerOptions`). There is no `DynamicLookup`: `Apply` finds the kinds
 * of a set by itself.
 */
export interface GeneratingHandlerOptions extends StatusHandlerOptions, PlacingOptions {
  /**
   * Apply once for each version of an object that the handler is called for, and not again though it is called again
   * (`UniqueApplyForResourceVersion`). What others change about the set then stays so until the object changes.
   * @default false
   */
  readonly uniqueApplyForResourceVersion?: boolean;
  /**
   * Whether an object gets a finalizer, so that its set is deleted also if it is deleted while this process is not there.
   * @default where garbage collection does not do it: while the set holds objects in other namespaces, cluster-scoped ones
   * of a namespaced owner, or ones without owner references
   */
  readonly finalizer?: boolean;
  /** Kinds that the handler makes, for `collectRbac`. @default those that it has made so far, if `applier` tells them */
  readonly writes?: readonly KindRef[];
}

export const generatingHandlerOptionNames = optionNames<GeneratingHandlerOptions>({
  uniqueApplyForResourceVersion: true,
  finalizer: true,
  writes: true,
  name: true,
  condition: true,
  signal: true,
  transaction: true,
  allowCrossNamespace: true,
  allowClusterScoped: true,
  ownerReferences: true,
});

/**
 * Makes other objects of each object of a kind (`Register…GeneratingHandler`): `handler` says which there should be, and
 * `applier` makes it so, as the set `name` of this owner. What it throws, and what goes wrong when applying, is told by
 * `condition`; see `registerStatusHandler` for the status.
 *
 * The set goes with its owner: by owner references where it can, else by a finalizer, and in any case when the end of the
 * owner is seen. If the owner is deleted with the policy Orphan (`kubectl delete --cascade=orphan`), it is let go instead,
 * see `release` of {@link SetApplyOptions}; but if nobody was there to see it, what a finalizer stands for is deleted.
 * Objects without a namespace are put into the owner's. To have changes of the set looked at, watch its
 * kinds by `relatedResource.watch` with `ownerResolver`.
 *
 * @example
 * registerGeneratingHandler(foos, apply, { condition: 'Deployed', name: 'foo-deploy' }, (foo, status) => ({
 *   objects: [deploymentFor(foo)], status,
 * }));
 */
export function registerGeneratingHandler<R extends KubeObject, S extends Scope>(
  controller: TypedController<R, S>,
  applier: SetApplier,
  options: GeneratingHandlerOptions,
  handler: GeneratingHandler<R>,
): HandlerRegistration {
  refuseUnknownOptions(`handler "${options.name}"`, options, generatingHandlerOptionNames);
  const { name, condition, signal, transaction, uniqueApplyForResourceVersion: isUnique = false } = options;
  const { kind, factory } = controller;
  const finalizer = controller.finalizerFor(name);
  controller.keepsFinalizer(finalizer);
  controller.shared.needs(...(options.writes ?? []).map((written) => ({ kind: written, verbs: writeVerbs })));
  if (applier.rbacNeeds !== undefined) controller.shared.needs(applier as RbacNeeds);
  /** Key → UID and version of the object whose set was applied last. */
  const applied = new Map<string, string>();
  const orphaning = new OrphaningOwners(controller, { name, signal, transaction });

  const empty = async (key: string, uid: string, { signal }: HandlerContext<R>) => {
    applied.delete(key);
    const owner = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...splitKey(key), uid } };
    const isOrphaned = orphaning.has(key);
    const release = (child: KubeObject) => isOrphaned || hasLostOwner(child, owner, options);
    await applier.apply([], { owner, setId: name, release, signal });
    orphaning.delete(key);
  };
  const drop = ({ client, signal }: HandlerContext<R>, object: R) =>
    dropFinalizers(client.client, kind, object, (given) => given === finalizer, { signal });

  /** What the handler says, ready to be applied. */
  const ask = async (object: R, context: HandlerContext<R>) => {
    const generated: Generated<R> | undefined = await handler(object, statusOf(object), context);
    if (!Array.isArray(generated?.objects)) {
      const expected = '{ objects: […] }, and a status to change it';
      throw new TypeError(`generating handler "${name}" must return ${expected}; got ${shownBriefly(generated)}`);
    }
    const { objects, status } = generated;
    const placed = await placeObjects(objects, object, options, (given) => factory.clients.kindOf(given));
    return { objects: placed, status, isHeld: options.finalizer ?? isOutOfReach(placed, object) };
  };

  const generate = async (key: string, given: R, context: HandlerContext<R>) => {
    // A finalizer has to be there before the first object that needs it; whether one does, only the handler can say.
    const asked = await ask(given, context).catch((error: unknown) => ({ error }));
    const isHeld = 'isHeld' in asked && asked.isHeld;
    const object = isHeld ? await ensureFinalizer(context.client.client, kind, given, finalizer) : given;
    const tell = statusHandler<R>(kind, { condition }, async () => {
      if ('error' in asked) throw asked.error;
      const version = `${object.metadata.uid} ${object.metadata.resourceVersion}`;
      if (isUnique && applied.get(key) === version) return asked.status;
      await applier.apply(asked.objects, { owner: object, setId: name, signal: context.signal });
      if (isUnique) applied.set(key, version);
      return asked.status;
    });
    const told = (await tell(key, object, context)) ?? object;
    return isHeld ? told : drop(context, told);
  };

  const registration = controller.registerHandler(
    name,
    async (key, object, context) => {
      if (object === undefined) return void (await empty(key, '', context));
      if (!isDeleting(object)) {
        orphaning.delete(key);
        return generate(key, object, context);
      }
      if (!object.metadata.finalizers?.includes(finalizer)) return object;
      await empty(key, object.metadata.uid, context);
      return drop(context, object);
    },
    { signal, transaction },
  );
  const remove = async () => {
    await Promise.all([registration.remove(), orphaning.remove()]);
  };
  return { name, remove, [Symbol.asyncDispose]: remove };
}
