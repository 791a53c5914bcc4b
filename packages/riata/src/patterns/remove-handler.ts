import { CleanedUp, dropFinalizers, ensureFinalizer } from '../controller/define/finalizing.js';
import { isDeleting } from '../object/finalizers.js';
import { splitKey } from '../object/key.js';
import type { KubeObject } from '../object/meta.js';
import type { HandlerContext, SharedControllerHandler } from '../shared/shared-controller-handler.js';

/**
 * Cleans up before an object is deleted. It may be called again after it succeeded, by the next process, if this one stops
 * before the finalizer is removed. Return the result of a write of the object, if any. If the handler throws, the object
 * stays and the handler is retried.
 */
export type ObjectHandler<R extends KubeObject = KubeObject> = (
  key: string,
  object: R,
  context: HandlerContext<R>,
  // biome-ignore lint/suspicious/noConfusingVoidType: a handler that changes nothing has no return statement.
) => R | undefined | void | Promise<R | undefined | void>;

/**
 * A handler that calls another one before an object is deleted (`generic.NewRemoveHandler`): adds a finalizer to every
 * object; when the object is being deleted, calls `handler` and then removes the finalizer. Several of them on one kind work
 * independently, in any order. {@link TypedController.onRemove} registers it.
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
