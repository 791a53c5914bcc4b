/** Anything that syncs: informers, registrations of handlers, queues, controllers. */
export interface Syncing {
  synced(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/**
 * Resolves when all of them have synced (`cache.WaitForCacheSync`, `WaitForNamedCacheSync`). Rejects with the signal's
 * reason, or as soon as one of them cannot sync any more: that there is no answer to be overlooked is on purpose.
 *
 * @example
 * await waitForCacheSync([pods, deployments], { signal });
 */
export async function waitForCacheSync(
  informers: Iterable<Syncing>,
  options: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  await Promise.all(Array.from(informers, (informer) => informer.synced(options)));
}
