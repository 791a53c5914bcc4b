import type { Reader } from '../../client/interfaces.js';
import type { ListOptions } from '../../client/options.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { Runtime } from '../../runtime/runtime.js';
import { placeRequest, type Request, type RequestQueue, requestFor } from '../loop/request.js';

/** The keys that are due: always the same, or those that a function returns at that time. */
export type TimedKeys =
  | Iterable<Request>
  | ((options: { readonly signal: AbortSignal }) => Iterable<Request> | Promise<Iterable<Request>>);

/** All objects of a kind, or some, for `intervalSource` and `cronSource`; from the cache if it holds the kind. */
export function allOf<R extends KubeObject>(
  reader: Pick<Reader, 'list'>,
  kind: KindRef<R>,
  selection: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'> = {},
): TimedKeys {
  return async ({ signal }) => {
    const { items } = await reader.list(kind, { ...selection, signal });
    return items.map((object) => requestFor(object));
  };
}

/** Where keys go that are due. */
export interface TimedKeysTarget {
  readonly name: string;
  readonly queue: RequestQueue;
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  /** Of keys that do not name one. */
  readonly cluster: string | undefined;
}

/**
 * Puts all keys into the queue. If they cannot be had, that is logged and tried again, later each time, until the next
 * ones are due.
 */
export async function enqueueDue(
  due: { readonly value: { readonly keys: TimedKeys; readonly priority: number } },
  target: TimedKeysTarget,
  nextMs: number,
): Promise<void> {
  const { name, queue, signal, runtime, cluster } = target;
  const { clock, log } = runtime;
  const deadline = clock.monotonic() + nextMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { keys, priority } = due.value;
      const found = typeof keys === 'function' ? await keys({ signal }) : keys;
      const note = [{ source: name, count: 1, atMs: clock.monotonic() }];
      for (const request of found) queue.add(placeRequest(request, cluster), { note, priority });
      return;
    } catch (error) {
      if (signal.aborted) return;
      log.error('source failed to list its keys, will be retried', { source: name, attempt, error });
    }
    const delayMs = Math.min(1_000 * 2 ** (attempt - 1), 60_000);
    if (clock.monotonic() + delayMs >= deadline) return;
    await clock.sleep(delayMs, { signal, background: true }).catch(() => {});
    if (signal.aborted) return;
  }
}
