import type { Client } from '../client/interfaces.js';
import { dropFinalizers } from '../controller/define/finalizing.js';
import { keyOf } from '../object/key.js';
import { type KindRef, metadataOnly } from '../object/kind.js';
import { isNotFound } from '../rest/errors/error-guards.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';

/** Which finalizers are to go, and where. */
export interface ClearFinalizersOptions {
  /** Their names, or what tells them. */
  readonly finalizers: readonly string[] | ((finalizer: string) => boolean);
  /** @default all namespaces */
  readonly namespace?: string;
  readonly signal?: AbortSignal;
}

export const clearFinalizersOptionNames = optionNames<ClearFinalizersOptions>({
  finalizers: true,
  namespace: true,
  signal: true,
});

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
  options: ClearFinalizersOptions,
): Promise<readonly ClearedFinalizers[]> {
  refuseUnknownOptions('clearFinalizers', options, clearFinalizersOptionNames);
  const { finalizers, namespace, signal } = options;
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
