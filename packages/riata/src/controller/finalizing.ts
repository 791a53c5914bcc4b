import type { Client } from '../client/interfaces.js';
import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { ignoreNotFound } from '../rest/error-guards.js';

/** Adds the finalizer if it is not there. Fails with a conflict if the object has changed: then look again. */
export async function ensureFinalizer<R extends KubeObject>(
  client: Client,
  kind: KindRef<R>,
  object: R,
  finalizer: string,
): Promise<R> {
  const finalizers = object.metadata.finalizers ?? [];
  if (finalizers.includes(finalizer)) return object;
  return patchFinalizers(client, kind, object, [...finalizers, finalizer]);
}

/** Removes the finalizer; an object that is gone by then is fine. */
export async function liftFinalizer<R extends KubeObject>(
  client: Client,
  kind: KindRef<R>,
  object: R,
  finalizer: string,
): Promise<void> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return;
  const rest = finalizers.filter((name) => name !== finalizer);
  await patchFinalizers(client, kind, object, rest).catch(ignoreNotFound);
}

/** The list is replaced as a whole, so it must be the one that was read: hence the resourceVersion. */
async function patchFinalizers<R extends KubeObject>(
  client: Client,
  kind: KindRef<R>,
  object: R,
  finalizers: readonly string[],
): Promise<R> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return client.patch(kind, { name, namespace } as never, { type: 'merge', body } as never);
}
