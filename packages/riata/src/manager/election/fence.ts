import {
  type Answers,
  isDryRun,
  isWrite,
  type Operation,
  type Run,
  type Verb,
} from '../../client/operation/operation.js';
import type { Preconditions } from '../../client/options.js';
import { follow, LateLink } from '../../runtime/signals.js';

/** Says whether this process may still write; a `LeaderElector` is one. */
export interface WriteGuard {
  /** Throws, e.g. a `LostLease`, when no write may start any more. Reads the clock, so it needs no notification. */
  assertLeading(): void;
  /** Aborts when writes in flight must be cancelled; undefined if that never happens. */
  readonly lostSignal: AbortSignal | undefined;
}

/** Options of {@link fence}. */
export interface FenceOptions {
  /**
   * What is known of the object that is about to be changed, e.g. its metadata in the cache. An `update`, `patch` or
   * apply without a precondition of its own gets this resourceVersion, a `delete` this UID. An apply uses its `current`
   * first. Controllers of a `Manager` know the UID of what they delete. @default nothing
   */
  readonly known?: (operation: Operation) => Preconditions | undefined;
}

/**
 * Sends writes only while `guard` allows it; reads and dry runs pass. The guard is checked when the write is called,
 * and again right before each attempt, after rate limits, credentials and retries have taken their time. A write in
 * flight when the lease is lost is aborted.
 *
 * A request that has left this process cannot be called back, and a process can be stopped between the check and the
 * request. Such a write may reach the server after the next leader's. Its preconditions keep it from winning: with a
 * resourceVersion the server refuses it once the next leader has written, with a UID once the object is another one.
 * They are added where they are known. Creations need none: of two, one fails. That leaves writes without preconditions
 * (a patch that names no resourceVersion, an apply of something this process has never read, `deleteCollection`, a
 * subresource such as an eviction). They are bounded: such a write was sent no later than the renew deadline, or the
 * process was stopped just then.
 *
 * @example
 * const writer = client.wrap((run) => fence(run, elector, { known: ({ kind, namespace, name }) => … }));
 */
export function fence(run: Run, guard: WriteGuard, { known }: FenceOptions = {}): Run {
  return <V extends Verb>(operation: Operation<V>): Promise<Answers[V]> =>
    (isWrite(operation.verb) || isCommand(operation)) && !isDryRun(operation)
      ? guarded(run, operation, guard, known)
      : run(operation);
}

/** A command in a container changes what it likes, and so may the target of a proxied request. */
function isCommand({ verb, subresource, method = 'GET' }: Operation): boolean {
  if (verb === 'connect') return method !== 'GET' && method !== 'HEAD';
  return verb === 'stream' && subresource !== 'portforward';
}

async function guarded<V extends Verb>(
  run: Run,
  operation: Operation<V>,
  guard: WriteGuard,
  known: FenceOptions['known'],
): Promise<Answers[V]> {
  guard.assertLeading();
  let refusal: { readonly error: unknown } | undefined;
  const beforeSend = (): void => {
    try {
      guard.assertLeading();
    } catch (error) {
      refusal = { error };
      throw error;
    }
    operation.beforeSend?.();
  };
  const preconditions = preconditionsOf(operation, known);
  const lost = guard.lostSignal;
  // An apply that changes nothing is answered without a look at it.
  const scope = lost === undefined || follow(operation.signal, lost) ? undefined : new LateLink(operation.signal, lost);
  try {
    return await run(
      scope === undefined
        ? { ...operation, preconditions, beforeSend }
        : {
            ...operation,
            preconditions,
            beforeSend,
            get signal() {
              return scope.signal;
            },
          },
    );
  } catch (error) {
    // Whatever was made of it on the way, the caller sees why nothing was sent.
    throw refusal ? refusal.error : error;
  } finally {
    scope?.[Symbol.dispose]();
  }
}

function preconditionsOf(operation: Operation, known: FenceOptions['known']): Preconditions | undefined {
  const { verb, preconditions, current } = operation;
  if (preconditions !== undefined) return preconditions;
  if (verb !== 'update' && verb !== 'patch' && verb !== 'delete') return undefined;
  const { uid, resourceVersion } = current?.metadata ?? known?.(operation) ?? {};
  // The object may have changed since; for a delete it is enough that it is the same object.
  if (verb === 'delete') return uid === undefined ? undefined : { uid };
  return uid === undefined && resourceVersion === undefined ? undefined : { uid, resourceVersion };
}
