import { CleanedUp, dropFinalizers, ensureFinalizer } from '../controller/define/finalizing.js';
import { isDeleting } from '../object/finalizers.js';
import { splitKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import type { HandlerContext, SharedControllerHandler } from '../shared/shared-controller-handler.js';

/**
 * Cleans up before an object goes. It may be called again after it has succeeded, by the next process, if this one ends
 * before the finalizer is off. Give back what a write of the object answered, if there was one. What is thrown keeps the
 * object, and is tried again.
 */
export type ObjectHandler<R extends KubeObject = KubeObject> = (
  key: string,
  object: R,
  context: HandlerContext<R>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that changes nothing has no return statement.
) => R | undefined | void | Promise<R | undefined | void>;

/**
 * A handler that runs another one before an object goes (`generic.NewRemoveHandler`): sets a finalizer on every object
 * that lives; of one that is being deleted and has it, calls `handler`, and then takes the finalizer off. Several of
 * them on one kind don't disturb each other, in whichever order they come. What {@link TypedController.onRemove} is made
 * of.
 */
export function removeHandler<R extends KubeObject>(
  finalizer: string,
  handler: ObjectHandler<R>,
): SharedControllerHandler<R> {
  const cleanedUp = new CleanedUp();
  return async (key, object, context) => {
    const at = splitKey(key);
    if (object === undefined) {
      cleanedUp.delete(at);
      return undefined;
    }
    const { client, kind } = context.client;
    if (!isDeleting(object)) return ensureFinalizer(client, kind, object, finalizer);
    if (!object.metadata.finalizers?.includes(finalizer)) return object;
    let left = object;
    if (!cleanedUp.has(at, object)) {
      left = (await handler(key, object, context)) ?? object;
      cleanedUp.add(at, object);
    }
    const rest = await dropFinalizers(client, kind, left, (name) => name === finalizer, context);
    cleanedUp.delete(at);
    return rest;
  };
}
