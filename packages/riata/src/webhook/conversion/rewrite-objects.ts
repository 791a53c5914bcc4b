import type { KubeClient } from '../../client/kube-client.js';
import { compareResourceVersions } from '../../object/compare-resource-versions.js';
import { type KindRef, metadataOnly } from '../../object/kind.js';
import type { ObjectMeta } from '../../object/meta.js';
import { isBadRequest, isConflict, isForbidden, isInvalid, isNotFound } from '../../rest/errors/error-guards.js';
import type { Pacer } from './pace.js';

/** What became of the objects of a kind. */
export interface Rewritten {
  rewritten: number;
  /** Written by others meanwhile, or before this run: they are in the storage version already. */
  current: number;
  /** Refused by the server, with its reason; the first ten. */
  readonly refused: { readonly key: string; readonly error: unknown }[];
  refusedCount: number;
}

export interface RewriteOptions {
  /** Objects that were written after this revision need not be written again. */
  readonly revision: string;
  readonly pacer: Pacer;
  readonly signal: AbortSignal;
  readonly onProgress: (so: Rewritten) => void;
}

/** Requests in flight: enough for a fast pace on a slow line. */
const concurrency = 8;
const fieldManager = 'riata-migration';

/**
 * Has the server write every object again that was last written up to a revision, in the version that it stores now, by
 * a patch that changes nothing. Objects that are deleted or changed meanwhile are left alone. Rejects if the server
 * cannot be reached; refusals of single objects are counted.
 */
export async function rewriteObjects(client: KubeClient, kind: KindRef, options: RewriteOptions): Promise<Rewritten> {
  const { revision, pacer, signal, onProgress } = options;
  const projected = metadataOnly(kind);
  const done: Rewritten = { rewritten: 0, current: 0, refused: [], refusedCount: 0 };
  const inFlight = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  const rewrite = async ({ namespace, name, uid, resourceVersion }: ObjectMeta) => {
    try {
      const body = { metadata: { uid, resourceVersion } };
      const patch = { type: 'merge', body } as const;
      const { metadata } = await client.patch(projected, { namespace, name }, patch, { fieldManager, signal });
      // A server writes nothing if what it stores stays the same.
      if (metadata.resourceVersion === resourceVersion) done.current += 1;
      else done.rewritten += 1;
    } catch (error) {
      // The conflicting write stored the object in the storage version.
      if (isNotFound(error) || isConflict(error)) done.current += 1;
      else if (isInvalid(error) || isForbidden(error) || isBadRequest(error)) {
        done.refusedCount += 1;
        if (done.refused.length < 10) done.refused.push({ key: `${namespace ?? ''}/${name}`, error });
      } else failure ??= { error };
    }
    onProgress(done);
  };
  const settled = async (most: number) => {
    while (inFlight.size > most) await Promise.race(inFlight);
    if (failure !== undefined) throw failure.error;
  };
  try {
    for await (const { items } of client.pages(projected, { limit: 500, signal })) {
      for (const { metadata } of items) {
        if (isNewer(metadata.resourceVersion, revision)) {
          done.current += 1;
          continue;
        }
        await pacer.next(signal);
        await settled(concurrency - 1);
        const call = rewrite(metadata).finally(() => inFlight.delete(call));
        inFlight.add(call);
      }
    }
    await settled(0);
    return done;
  } finally {
    await Promise.all(inFlight);
  }
}

/** False if unknown: the object is then rewritten once more than necessary. */
function isNewer(resourceVersion: string, revision: string): boolean {
  return (compareResourceVersions(resourceVersion, revision) ?? 0) > 0;
}
