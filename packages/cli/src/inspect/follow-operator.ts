import { isAbortOf, type Scheduler } from 'riata/runtime';
import type { OperatorEndpoints } from './open-endpoints.js';
import type { OperatorEndpoint } from './operator-endpoint.js';
import { readEvents, StreamedReplica } from './operator-stream.js';
import { windowMs } from './top-model.js';

/** All replicas of an operator, kept up to date by their streams. Dispose it to stop. */
export interface FollowedOperator extends AsyncDisposable {
  readonly replicas: readonly StreamedReplica[];
  /** Why a stream is lost at the moment; undefined if none is. */
  trouble(): string | undefined;
}

const againMs = 1_000;

/** Follows the streams of all replicas. Resolves when each has sent its state, and rejects if one cannot be read. */
export async function followOperator(
  { all }: OperatorEndpoints,
  { clock, signal }: { readonly clock: Pick<Scheduler, 'sleep'>; readonly signal: AbortSignal },
): Promise<FollowedOperator> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const troubles = new Map<OperatorEndpoint, string>();
  const followed = all.map((endpoint) => {
    const replica = new StreamedReplica(windowMs);
    let started = () => {};
    let failed = (_: unknown) => {};
    const ready = new Promise<void>((resolve, reject) => {
      started = resolve;
      failed = reject;
    });
    const run = async () => {
      for (;;) {
        try {
          for await (const event of readEvents(await endpoint.stream('/debug/stream', { signal: either }))) {
            replica.take(event);
            troubles.delete(endpoint);
            started();
          }
          troubles.set(endpoint, `${endpoint.name}: the stream ended`);
        } catch (error) {
          if (isAbortOf(either, error)) return failed(error);
          // The first one is for the user; later, the operator may be restarting.
          if (replica.state === undefined) return failed(error);
          troubles.set(endpoint, (error as Error).message);
        }
        try {
          await clock.sleep(againMs, { signal: either });
        } catch {
          return;
        }
      }
    };
    return { replica, ready, running: run() };
  });
  const close = async () => {
    stop.abort();
    await Promise.all(followed.map(({ running }) => running));
  };
  try {
    await Promise.all(followed.map(({ ready }) => ready));
  } catch (error) {
    for (const { ready } of followed) ready.catch(() => {});
    await close();
    signal.throwIfAborted();
    throw error;
  }
  return {
    replicas: followed.map(({ replica }) => replica),
    trouble: () => troubles.values().next().value,
    [Symbol.asyncDispose]: close,
  };
}
