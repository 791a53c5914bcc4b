import { isAbortOf, type Scheduler } from 'riata/runtime';
import type { OperatorEndpoints } from './open-endpoints.js';
import type { OperatorEndpoint } from './operator-endpoint.js';
import { readEvents, StreamedReplica } from './operator-stream.js';
import { windowMs } from './top-model.js';

/** All replicas of an operator, kept up to date by their streams. Dispose it to stop. */
export interface FollowedOperator extends AsyncDisposable {
  /** Those that run, as far as they have sent their state; while none has, those that ran last. At least one. */
  readonly replicas: readonly StreamedReplica[];
  /** Why a stream is lost at the moment, or no Pod is found; undefined if all is well. */
  trouble(): string | undefined;
}

/** A lost stream is opened again after this time. */
const againMs = 1_000;
/** Pods are looked for so often; while a stream is lost, after each try. */
const lookMs = 5_000;

interface Followed {
  readonly replica: StreamedReplica;
  readonly ready: Promise<void>;
  readonly running: Promise<void>;
  readonly stop: AbortController;
}

/**
 * Follows the streams of all replicas, also of Pods that replace others later. Resolves when each has sent its state, and
 * rejects if one cannot be read.
 */
export async function followOperator(
  endpoints: OperatorEndpoints,
  { clock, signal }: { readonly clock: Pick<Scheduler, 'sleep'>; readonly signal: AbortSignal },
): Promise<FollowedOperator> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const troubles = new Map<OperatorEndpoint | 'pods', string>();
  const followed = new Map<OperatorEndpoint, Followed>();
  let last: readonly StreamedReplica[] = [];
  const update = () => {
    const known = [...followed.values()].map(({ replica }) => replica).filter(({ state }) => state !== undefined);
    if (known.length > 0) last = known;
  };
  const sync = () => {
    const current = new Set(endpoints.all);
    for (const [endpoint, { stop: ended }] of followed) {
      if (current.has(endpoint)) continue;
      ended.abort();
      followed.delete(endpoint);
      troubles.delete(endpoint);
    }
    for (const endpoint of current) {
      if (!followed.has(endpoint)) followed.set(endpoint, follow(endpoint, { clock, signal: either, troubles }));
    }
  };
  const all: Promise<void>[] = [];
  const look = async () => {
    for (;;) {
      try {
        await clock.sleep(troubles.size > 0 ? againMs : lookMs, { signal: either });
      } catch {
        return;
      }
      try {
        await endpoints.refresh();
        troubles.delete('pods');
        sync();
      } catch (error) {
        if (isAbortOf(either, error)) return;
        troubles.set('pods', (error as Error).message);
      }
    }
  };
  const close = async () => {
    stop.abort();
    await Promise.all([...all, ...[...followed.values()].map(({ running }) => running)]);
  };
  sync();
  const first = [...followed.values()];
  try {
    await Promise.all(first.map(({ ready }) => ready));
  } catch (error) {
    await close();
    signal.throwIfAborted();
    throw error;
  }
  all.push(look());
  return {
    get replicas() {
      update();
      return last;
    },
    trouble: () => troubles.values().next().value,
    [Symbol.asyncDispose]: close,
  };
}

/** Follows one stream until it is stopped, and opens it again when it is lost. */
function follow(
  endpoint: OperatorEndpoint,
  parts: {
    readonly clock: Pick<Scheduler, 'sleep'>;
    readonly signal: AbortSignal;
    readonly troubles: Map<OperatorEndpoint | 'pods', string>;
  },
): Followed {
  const { clock, troubles } = parts;
  const stop = new AbortController();
  const signal = AbortSignal.any([parts.signal, stop.signal]);
  const replica = new StreamedReplica(windowMs);
  let started = () => {};
  let failed = (_: unknown) => {};
  const ready = new Promise<void>((resolve, reject) => {
    started = resolve;
    failed = reject;
  });
  // Read for the first ones alone: they are for the user, while later ones may be of an operator that starts.
  ready.catch(() => {});
  const run = async () => {
    while (!signal.aborted) {
      try {
        for await (const event of readEvents(await endpoint.stream('/debug/stream', { signal }))) {
          replica.take(event);
          troubles.delete(endpoint);
          started();
        }
        if (signal.aborted) return;
        troubles.set(endpoint, `${endpoint.name}: the stream ended`);
      } catch (error) {
        failed(error);
        if (signal.aborted) return;
        troubles.set(endpoint, (error as Error).message);
      }
      try {
        await clock.sleep(againMs, { signal });
      } catch {
        return;
      }
    }
  };
  return { replica, ready, running: run(), stop };
}
