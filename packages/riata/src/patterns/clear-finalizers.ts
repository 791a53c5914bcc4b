import type { Client, Key } from '../client/interfaces.js';
import { keyOf } from '../object/key.js';
import { type KindRef, metadataOnly } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { ignoreNotFound, isConflict, isNotFound } from '../rest/error-guards.js';

/** How often an object that others change at the same time is tried. */
const mostTries = 10;

/** Which finalizers are to go, and where. */
export interface ClearFinalizersOptions {
  /** Their names, or what tells them. */
  readonly finalizers: readonly string[] | ((finalizer: string) => boolean);
  /** @default all namespaces */
  readonly namespace?: string;
  readonly signal?: AbortSignal;
}

/** An object that has lost finalizers. */
export interface ClearedFinalizers {
  readonly kind: KindRef;
  /** `namespace/name`, or `name` alone. */
  readonly key: string;
  readonly finalizers: readonly string[];
}

/**
 * Takes finalizers off all objects of some kinds, without doing what they stand for: the last step when a controller is
 * uninstalled, as objects that keep its finalizers could never be deleted. Stop the controller first, it would set them
 * again. Kinds that the server does not serve are passed over. Resolves to what was changed.
 *
 * @example
 * await clearFinalizers(client, [Foo], { finalizers: (name) => name.startsWith('example.com/') });
 */
export async function clearFinalizers(
  client: Client,
  kinds: readonly KindRef[],
  { finalizers, namespace, signal }: ClearFinalizersOptions,
): Promise<readonly ClearedFinalizers[]> {
  const isMeant = typeof finalizers === 'function' ? finalizers : (name: string) => finalizers.includes(name);
  const cleared: ClearedFinalizers[] = [];
  for (const kind of kinds) {
    try {
      for await (const object of client.each(metadataOnly(kind), { namespace, signal, limit: 500 })) {
        const names = (object.metadata.finalizers ?? []).filter(isMeant);
        if (names.length === 0) continue;
        await dropFinalizers(client, metadataOnly(kind), object, isMeant, { signal });
        cleared.push({ kind, key: keyOf(object), finalizers: names });
      }
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return cleared;
}

/**
 * Takes finalizers off an object, however old what is known of it; others' stay. Resolves to what the server has then;
 * undefined if it is gone, or another one has its name.
 */
export async function dropFinalizers<R extends KubeObject>(
  client: Client,
  kind: KindRef<R>,
  object: R,
  isMeant: (finalizer: string) => boolean,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<R | undefined> {
  const { name, namespace, uid } = object.metadata;
  const key = { name, namespace } as Key<never>;
  let known: R | undefined = object;
  for (let tries = 1; known !== undefined && known.metadata.uid === uid; tries += 1) {
    const { finalizers = [], resourceVersion } = known.metadata;
    const rest = finalizers.filter((finalizer) => !isMeant(finalizer));
    if (rest.length === finalizers.length) return known;
    // The list is replaced as a whole, so it must be the one that was read: hence the resourceVersion.
    const body = { metadata: { uid, resourceVersion, finalizers: rest } };
    try {
      return await client.patch(kind, key, { type: 'merge', body } as never, { signal }).catch(ignoreNotFound);
    } catch (error) {
      if (!isConflict(error) || tries >= mostTries) throw error;
    }
    known = await client.find(kind, key, { signal });
  }
  return undefined;
}
