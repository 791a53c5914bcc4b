import type { Client } from '../../client/interfaces.js';
import { keyId } from '../../object/key.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { ignoreNotFound, isConflict } from '../../rest/errors/error-guards.js';
import type { Logger } from '../../runtime/log/logger.js';
import { forgetCluster } from '../cluster/forget-cluster.js';
import type { Request } from '../loop/request.js';

/** How often an object that others change at the same time is tried. */
const mostTries = 10;

/** The default name of a controller's finalizer. */
export function defaultFinalizer({ group }: Pick<KindRef, 'group'>, controller: string): string {
  return `${group.includes('.') ? group : 'riata.dev'}/${controller}`;
}

/**
 * Adds the finalizer if it is missing, in place of `former` names of it. Fails with a conflict if the object has changed:
 * then retry.
 */
export async function ensureFinalizer<R extends KubeObject>(
  client: Client,
  kind: KindRef<R>,
  object: R,
  finalizer: string,
  former: ReadonlySet<string> = new Set(),
): Promise<R> {
  const finalizers = object.metadata.finalizers ?? [];
  const others = former.size === 0 ? finalizers : finalizers.filter((name) => !former.has(name));
  const isThere = others.includes(finalizer);
  if (isThere && others.length === finalizers.length) return object;
  return patchFinalizers(client, kind, object, isThere ? others : [...others, finalizer]);
}

/**
 * Removes finalizers from an object, however stale the given version; those of others stay. Resolves to the server's
 * object; undefined if it was deleted, or another one has its name. Fails with a conflict if others change it all the
 * time.
 */
export async function dropFinalizers<R extends KubeObject>(
  client: Client,
  kind: KindRef<R>,
  object: R,
  isMeant: (finalizer: string) => boolean,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<R | undefined> {
  const { name, namespace, uid } = object.metadata;
  let known: R | undefined = object;
  for (let tries = 1; known !== undefined && known.metadata.uid === uid; tries += 1) {
    const { finalizers = [] } = known.metadata;
    const rest = finalizers.filter((finalizer) => !isMeant(finalizer));
    if (rest.length === finalizers.length) return known;
    try {
      return await patchFinalizers(client, kind, known, rest, { signal }).catch(ignoreNotFound);
    } catch (error) {
      if (!isConflict(error) || tries >= mostTries) throw error;
    }
    known = await client.find(kind, { name, namespace } as never, { signal });
  }
  return undefined;
}

/**
 * Objects that were cleaned up while their finalizer could not be removed yet: each key with the UID. An object whose
 * finalizer is removed in a later try, or which is deleted by then, is not cleaned up again by this process.
 */
export class CleanedUp {
  readonly #uids = new Map<string, string>();

  has(key: Request, { metadata }: KubeObject): boolean {
    return this.#uids.size > 0 && this.#uids.get(keyId(key)) === metadata.uid;
  }

  add(key: Request, { metadata }: KubeObject): void {
    this.#uids.set(keyId(key), metadata.uid);
  }

  delete(key: Request): void {
    if (this.#uids.size > 0) this.#uids.delete(keyId(key));
  }

  /** A cluster was removed, with everything in it. */
  clusterGone(cluster: string): void {
    forgetCluster(this.#uids, cluster);
  }
}

/** Says once of a controller without clean-up that objects wait for the finalizer which it would set if it had one. */
export class LeftBehind {
  readonly #names: ReadonlySet<string>;
  #isReported = false;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  look({ metadata }: KubeObject, run: { readonly log: Logger }): void {
    if (this.#isReported) return;
    const finalizer = metadata.finalizers?.find((name) => this.#names.has(name));
    if (finalizer === undefined) return;
    this.#isReported = true;
    const words =
      'waits for a finalizer named after this controller, which no longer has .finalize(); if no other controller removes it, see clearFinalizers';
    run.log.warn(words, { finalizer });
  }
}

/** The list is replaced as a whole, so it must be the one that was read: hence the resourceVersion. */
async function patchFinalizers<R extends KubeObject>(
  client: Client,
  kind: KindRef<R>,
  object: R,
  finalizers: readonly string[],
  options?: { readonly signal?: AbortSignal },
): Promise<R> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const body = { metadata: { uid, resourceVersion, finalizers } };
  return client.patch(kind, { name, namespace } as never, { type: 'merge', body } as never, options);
}
