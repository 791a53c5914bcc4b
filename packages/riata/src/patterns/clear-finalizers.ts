import type { Client } from '../client/interfaces.js';
import { dropFinalizers } from '../controller/define/finalizing.js';
import { keyOf } from '../object/key.js';
import { type KindRef, metadataOnly } from '../object/kind.js';
import { isNotFound } from '../rest/errors/error-guards.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';

/** Options of {@link clearFinalizers}. */
export interface ClearFinalizersOptions {
  /** Their names, or a function that selects them. */
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

/** An object whose finalizers were removed. */
export interface ClearedFinalizers {
  readonly kind: KindRef;
  /** `namespace/name`, or `name` alone. */
  readonly key: string;
  readonly finalizers: readonly string[];
}

/**
 * Removes finalizers from all objects of some kinds, without any cleanup: the last step of uninstalling a controller, since
 * objects with its finalizers could never be deleted. Stop the controller first, or it adds them again. Kinds that the
 * server does not serve are skipped. Resolves to the changed objects.
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
