import type { Cache } from '../../cache/cache.js';
import { clientRuntime } from '../../client/client-runtime.js';
import type { Client, Key } from '../../client/interfaces.js';
import { type ConditionLike, isCondition } from '../../object/conditions.js';
import { type Duration, durationMs } from '../../object/duration.js';
import { formatGvk } from '../../object/gvk.js';
import { formatKey, type ObjectKey } from '../../object/key.js';
import type { KindRef, Scope } from '../../object/kind.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable, isAbortOf, link } from '../../runtime/signals.js';
import { isTimeout } from '../../runtime/stop-reasons.js';
import { WaitTimeoutError } from './wait-timeout-error.js';

/** Where to look: at the server, by a watch of the one object, or at a cache that holds the kind. */
export type WaitSource = Pick<Client, 'retryingWatch'> | Cache;

/** Options of {@link waitFor}. */
export interface WaitForOptions {
  /** Rejects with a `WaitTimeoutError` after that. @default '30s' */
  readonly timeout?: Duration | 'never';
  /** Ends the waiting; it rejects with the signal's reason then. */
  readonly signal?: AbortSignal;
  /** The condition, for the error: `'it is filled'`. @default 'the predicate holds' */
  readonly what?: string;
  /** @default that of the client */
  readonly runtime?: Partial<Pick<Runtime, 'clock'>>;
}

export const waitForOptionNames = optionNames<WaitForOptions>({
  timeout: true,
  signal: true,
  what: true,
  runtime: true,
});

/**
 * Waits until an object is in the expected state (`watchtools.UntilWithSync`, `wait.PollUntilContextTimeout`), and
 * resolves to it. `isDone` is called with the current state and after each change; it gets undefined while the object
 * does not exist. Rejects with a `WaitTimeoutError`, which shows the last state, when the time is over; at once with an
 * error of `isDone`, and if the server refuses access.
 *
 * @example
 * const cart = await waitFor(client, Cart, key, (cart) => cart?.status?.items === 3, { timeout: '1m' });
 */
export async function waitFor<R extends KubeObject, S extends Scope, T extends R | undefined>(
  source: WaitSource,
  kind: KindRef<R, S>,
  key: Key<S>,
  isDone: (object: R | undefined) => object is T,
  options?: WaitForOptions,
): Promise<T>;
export async function waitFor<R extends KubeObject, S extends Scope>(
  source: WaitSource,
  kind: KindRef<R, S>,
  key: Key<S>,
  isDone: (object: R | undefined) => boolean,
  options?: WaitForOptions,
): Promise<R | undefined>;
export async function waitFor<R extends KubeObject, S extends Scope>(
  source: WaitSource,
  kind: KindRef<R, S>,
  key: Key<S>,
  isDone: (object: R | undefined) => boolean,
  options: WaitForOptions = {},
): Promise<R | undefined> {
  const { timeout = '30s', what = 'the predicate holds' } = options;
  refuseUnknownOptions('waitFor', options, waitForOptionNames);
  refuseBadKey(kind, key);
  const { clock } = resolveRuntime({ ...clientRuntime(source), ...options.runtime });
  const timeoutMs = durationMs(timeout, 'waitFor: timeout');
  using scope = link({ signals: [options.signal], timeoutMs, clock, what: 'waiting' });
  const { signal } = scope;
  const seen: Seen<R> = { isKnown: false };
  const states =
    'retryingWatch' in source ? watched(source, kind, key, signal, seen) : cached(source, kind, key, signal);
  try {
    for await (const { object } of states) {
      seen.object = object;
      seen.isKnown = true;
      if (isDone(object)) return object;
    }
  } catch (error) {
    const isOver = isTimeout(signal.reason) && !options.signal?.aborted && isAbortOf(signal, error);
    if (!isOver) throw error;
  }
  options.signal?.throwIfAborted();
  const { object: last, isKnown, failure } = seen;
  throw new WaitTimeoutError({ kind: kind.kind, key, timeout, what, last, isKnown, cause: failure });
}

/**
 * Waits until a condition of the object's status has this status, and is about its present generation where it says which.
 * For the rest see {@link waitFor}.
 *
 * @example
 * await waitForCondition(client, Deployment, key, 'Available');
 */
export async function waitForCondition<R extends KubeObject, S extends Scope>(
  source: WaitSource,
  kind: KindRef<R, S>,
  key: Key<S>,
  type: string,
  options: WaitForOptions & {
    /** @default 'True' */
    readonly status?: Condition['status'];
  } = {},
): Promise<R> {
  const { status = 'True', ...wait } = options;
  const isMet = (object: R | undefined): object is R => object !== undefined && hasCondition(object, type, status);
  return waitFor(source, kind, key, isMet, { what: `condition ${type} is ${status}`, ...wait });
}

/**
 * Waits until the object is deleted. With a `uid`, another one of the same name counts as deleted. See {@link waitFor}.
 */
export async function waitForDeletion<R extends KubeObject, S extends Scope>(
  source: WaitSource,
  kind: KindRef<R, S>,
  key: Key<S> & { readonly uid?: string },
  options: WaitForOptions = {},
): Promise<void> {
  const { uid } = key;
  const isGone = (object: R | undefined) => object === undefined || (uid !== undefined && object.metadata.uid !== uid);
  await waitFor(source, kind, key, isGone, { what: 'it is gone', ...options });
}

/** A watch of all namespaces would take another object of the same name for the one that is meant. */
function refuseBadKey(kind: KindRef, key: Partial<ObjectKey> | undefined): void {
  const isNamespaced = kind.scope === 'Namespaced';
  if (key?.name && Boolean(key.namespace) === isNamespaced) return;
  const place = isNamespaced ? 'a name and a namespace' : 'a name and no namespace';
  throw new TypeError(`waitFor: the key of a ${kind.kind} must have ${place}, got ${JSON.stringify(key)}`);
}

/** The last known state. */
interface Seen<R extends KubeObject> {
  object?: R;
  /** False until the server has said whether there is one. */
  isKnown: boolean;
  /** Of the watch, which is tried again. */
  failure?: unknown;
}

interface State<R extends KubeObject> {
  readonly object: R | undefined;
}

async function* watched<R extends KubeObject>(
  client: Pick<Client, 'retryingWatch'>,
  kind: KindRef<R>,
  { namespace, name }: ObjectKey,
  signal: AbortSignal,
  seen: Seen<R>,
): AsyncGenerator<State<R>> {
  await using watch = client.retryingWatch(kind, {
    ...{ namespace, fieldSelector: { 'metadata.name': name }, signal },
    onRetry: (error) => {
      seen.failure = error;
    },
  });
  let isListing = false;
  let isThere = false;
  for await (const event of watch) {
    if (event.type === 'RESET') {
      isListing = true;
      isThere = false;
    } else if (event.type === 'SYNCED') {
      isListing = false;
      seen.failure = undefined;
      if (!isThere) yield { object: undefined };
    } else if (event.type !== 'BOOKMARK') {
      isThere = event.type !== 'DELETED';
      if (isThere || !isListing) yield { object: isThere ? event.object : undefined };
    }
  }
}

async function* cached<R extends KubeObject, S extends Scope>(
  cache: Cache,
  kind: KindRef<R, S>,
  key: Key<S>,
  signal: AbortSignal,
): AsyncGenerator<State<R>> {
  if (!cache.holds(kind)) {
    throw new Error(
      `waitFor: ${formatGvk(kind.gvk)} is not in the cache; declare it by use(), or wait with a client instead`,
    );
  }
  await using use = cache.use(kind);
  const desired = formatKey(key as ObjectKey);
  let hasChanged = true;
  let wake = () => {};
  const registration = use.informer.addEventHandler(
    {
      onChange: (change) => {
        if (change.key !== desired) return;
        hasChanged = true;
        wake();
      },
    },
    { name: `waits for ${kind.kind} ${desired}` },
  );
  try {
    for (;;) {
      if (hasChanged) {
        hasChanged = false;
        // By the reader, as it shows what this process has written before the watch does.
        yield { object: await cache.find(kind, key, { signal }) };
        continue;
      }
      const turn = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await abortable(turn, signal);
    }
  } finally {
    await registration.remove();
  }
}

function hasCondition(object: KubeObject, type: string, status: Condition['status']): boolean {
  const { conditions } =
    (object as { readonly status?: { readonly conditions?: readonly ConditionLike[] } }).status ?? {};
  if (!isCondition(conditions, type, status)) return false;
  const { generation } = object.metadata;
  const found = conditions?.find((condition) => condition.type === type) as { readonly observedGeneration?: number };
  return found.observedGeneration === undefined || generation === undefined || found.observedGeneration >= generation;
}
