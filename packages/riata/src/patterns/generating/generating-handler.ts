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

/** The desired objects of one object. */
export interface Generated<R extends KubeObject> {
  /** All desired objects: earlier ones that are missing here are deleted. */
  readonly objects: readonly WriteObject[];
  /** The desired status. @default unchanged */
  readonly status?: StatusOf<R>;
}

/** Returns the desired objects of one object. If it throws, nothing is changed and it is retried. */
export type GeneratingHandler<R extends KubeObject> = (
  object: R,
  status: StatusOf<R>,
  context: HandlerContext<R>,
) => Generated<R> | Promise<Generated<R>>;

/**
 * How a generating handler is registered (`GeneratingHandlerOptions`). There is no `DynamicLookup`: `Apply` finds the
 * kinds of a set without it.
 */
export interface GeneratingHandlerOptions extends StatusHandlerOptions, PlacingOptions {
  /**
   * Apply only once for each version of an object, even if the handler runs again (`UniqueApplyForResourceVersion`). Drift of
   * the set is then not corrected until the object changes.
   * @default false
   */
  readonly uniqueApplyForResourceVersion?: boolean;
  /**
   * Whether objects get a finalizer, so that their sets are deleted even if this process does not run at that time.
   * @default where garbage collection does not do it: while the set holds objects in other namespaces, cluster-scoped ones
   * of a namespaced owner, or ones without owner references
   */
  readonly finalizer?: boolean;
  /** Kinds that the handler creates, for `collectRbac`. @default those created so far, if `applier` reports them */
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
 * Registers a handler that generates a set of objects for each object of a kind (`Register…GeneratingHandler`): `handler`
 * returns the desired objects, and `applier` applies them as the set `name` of this owner. `condition` reports what the
 * handler throws and errors of the apply; see `registerStatusHandler` for the status.
 *
 * The set is deleted with its owner: by owner references where possible, otherwise by a finalizer, and always when the
 * deletion of the owner is observed. If the owner is deleted with the policy Orphan (`kubectl delete --cascade=orphan`), the
 * set is released instead, see `release` of {@link SetApplyOptions}; if no process observes that, objects without an owner
 * reference are deleted. Objects without a namespace get the owner's. To correct drift of the set, watch its kinds with
 * `relatedResource.watch` and `ownerResolver`.
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

  /** The objects of the handler, ready to be applied. */
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
    // The finalizer must be set before the first object that needs it is created; only the handler knows whether one does.
    const asked = await ask(given, context).catch((error: unknown) => ({ error }));
    const isHeld = 'isHeld' in asked && asked.isHeld;
    const object = isHeld ? await ensureFinalizer(context.client.client, kind, given, finalizer) : given;
    const report = statusHandler<R>(kind, { condition }, async () => {
      if ('error' in asked) throw asked.error;
      const version = `${object.metadata.uid} ${object.metadata.resourceVersion}`;
      if (isUnique && applied.get(key) === version) return asked.status;
      await applier.apply(asked.objects, { owner: object, setId: name, signal: context.signal });
      if (isUnique) applied.set(key, version);
      return asked.status;
    });
    const reported = (await report(key, object, context)) ?? object;
    return isHeld ? reported : drop(context, reported);
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
