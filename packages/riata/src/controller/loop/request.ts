import { type ClusterKey, clusterKey, keyId } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import type { WorkQueue } from '../../queue/work-queue.js';

/** The key to reconcile (`reconcile.Request`), frozen. */
export type Request = ClusterKey;

/** Why something is reconciled. */
export interface Cause {
  /** Through what: `'for Foo'`, `'owns Deployment'`, `'retry'`, `'requeueAfter'`, the name of a source. */
  readonly source: string;
  /** The change, if it was a change of an object. */
  readonly change?: 'Added' | 'Updated' | 'Deleted' | 'Sync';
  /** Which object changed: `Deployment shop/cart`. */
  readonly object?: string;
  /** Of the object, after the change. */
  readonly resourceVersion?: string;
  /** How many like it came; of these, what is said here is the last one. */
  readonly count: number;
  /** When the first of them was due, on the monotonic clock. */
  readonly atMs: number;
}

/** The queue of a controller: keys, with the causes that led to them. */
export type RequestQueue = WorkQueue<Request, readonly Cause[]>;

/** Causes that are kept of one reconcile, the newest. */
export const mostCauses = 16;

/** Merges two lists: equal causes are counted, not repeated, and only the newest few are kept. */
export function mergeCauses(earlier: readonly Cause[], later: readonly Cause[]): readonly Cause[] {
  const merged = [...earlier];
  for (const cause of later) {
    const at = merged.findIndex((known) => isLike(known, cause));
    const [known] = at < 0 ? [] : merged.splice(at, 1);
    merged.push(
      known === undefined
        ? cause
        : { ...cause, count: known.count + cause.count, atMs: Math.min(known.atMs, cause.atMs) },
    );
  }
  return merged.length > mostCauses ? merged.slice(-mostCauses) : merged;
}

/** As `owns Deployment: Updated Deployment shop/cart, 3 times`. */
export function describeCause({ source, change, object, count }: Cause): string {
  const what = change === undefined ? source : `${source}: ${change} ${object}`;
  return count === 1 ? what : `${what}, ${count} times`;
}

/** A request for this object, in this cluster if there are several. */
export function requestFor(object: Pick<KubeObject, 'metadata'>, cluster?: string): Request {
  const { namespace, name } = object.metadata;
  return clusterKey({ cluster, namespace, name });
}

/** The key as queues require it; in this cluster, unless it names one. */
export function placeRequest(request: Request, cluster: string | undefined): Request {
  return clusterKey(cluster === undefined || request.cluster ? request : { ...request, cluster });
}

/** Each once: a waiting worker takes a key as soon as it is enqueued, so a key that is enqueued twice would run twice. */
export function distinctRequests(requests: readonly Request[]): Iterable<Request> {
  if (requests.length < 2) return requests;
  return new Map(requests.map((request) => [keyId(request), request])).values();
}

/** Options that every queue of requests has. */
export const requestQueueOptions = { id: keyId, merge: mergeCauses };

function isLike(a: Cause, b: Cause): boolean {
  return a.source === b.source && a.object === b.object && a.change === b.change;
}
