import type { Runtime } from '../runtime/runtime.js';
import { abortable, link } from '../runtime/signals.js';
import type { Clusters } from './clusters/clusters.js';
import type { Leadership } from './election/leadership.js';
import type { ManagedControllers } from './managed-controllers.js';
import { startOrder } from './runnable.js';
import type { RunnableGroups } from './runnable-group.js';
import type { ManagerShards } from './sharding/manager-shards.js';
import { watchStopping } from './watch-stopping.js';

/** After this share of the timeout, the signals of reconciles abort, whatever their `drain`. */
const hurriedShare = 2 / 3;

/** For runnables whose turn to stop did not come in time. */
const lastMomentMs = 500;

/** What {@link gracefulStop} stops. */
export interface GracefulStopParts {
  readonly groups: RunnableGroups;
  readonly clusters: Clusters;
  readonly controllers: ManagedControllers;
  readonly leadership: Leadership;
  readonly shards: ManagerShards | undefined;
  readonly runtime: Pick<Runtime, 'clock' | 'log'>;
  /** As it was given, and in milliseconds. */
  readonly timeout: string;
  readonly timeoutMs: number;
}

/** Stops the groups in reverse order, then releases the lease. Resolves to the names of runnables that did not end in time. */
export async function gracefulStop(reason: unknown, parts: GracefulStopParts): Promise<readonly string[]> {
  const { groups, clusters, controllers, leadership, shards, runtime, timeoutMs } = parts;
  const { clock, log } = runtime;
  let runnables: () => readonly string[] = () => [];
  const active = () => ({ reconciles: controllers.active, runnables: runnables() });
  using _stopping = watchStopping(runtime, active, parts.timeout);
  using _hurry = clock.after(timeoutMs * hurriedShare, () => controllers.hurry(), { background: true });
  using patience = link({ timeoutMs, clock });
  const stopAll = async () => {
    for (const stage of [...startOrder].reverse()) {
      runnables = () => groups[stage].running;
      await groups[stage].stop(reason);
      if (stage === 'others') await clusters.close();
    }
    runnables = () => ['leader election'];
    await leadership.release(reason);
  };
  leadership.resign(reason);
  await abortable(stopAll(), patience.signal).catch((error: unknown) => {
    if (!patience.signal.aborted) throw error;
    leadership.abandon(reason);
    shards?.abandon(reason);
  });
  // The groups whose turn did not come: all at once, and for a moment.
  using moment = link({ timeoutMs: lastMomentMs, clock });
  const rest = Promise.all(startOrder.map((stage) => groups[stage].stop(reason)));
  await abortable(rest, moment.signal).catch(() => {});
  const unfinished = startOrder.flatMap((stage) => groups[stage].running);
  if (unfinished.length > 0) log.warn('graceful stop timed out, not waiting any longer', { unfinished });
  return unfinished;
}
