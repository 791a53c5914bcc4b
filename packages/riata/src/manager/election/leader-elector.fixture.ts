import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { seededRandom } from '../../runtime/random.js';
import { Shutdown } from '../../runtime/stop-reasons.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { LockServer, ProcessClock, type ProcessClockOptions } from './election.fixture.js';
import { type ElectionOutcome, LeaderElector } from './leader-elector.js';
import type { LeaderElectorOptions } from './leader-elector-options.js';

/** Work that ends when its signal aborts. */
export const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));

/** A lock server and the candidates of a test, on one virtual clock. */
export function election() {
  const clock = new VirtualClock();
  const server = new LockServer(clock);
  const join = (identity: string, given: Partial<LeaderElectorOptions> & { process?: ProcessClockOptions } = {}) => {
    const { process: asked, ...options } = given;
    const process = new ProcessClock(clock, asked);
    const log = memoryLogger();
    const metrics = memoryMetrics();
    const stop = new AbortController();
    const abandon = new AbortController();
    const reported: string[] = [];
    const elector = new LeaderElector({
      lock: server.lock(identity, process),
      onStartedLeading: (signal) => {
        reported.push('started');
        signal.addEventListener('abort', () => reported.push(`abort ${(signal.reason as Error).name}`));
        return untilAborted(signal);
      },
      onStoppedLeading: () => void reported.push('stopped'),
      onNewLeader: (leader) => void reported.push(`new leader ${leader}`),
      runtime: { clock: process, random: seededRandom(identity), log, metrics },
      ...options,
    });
    const result: { outcome?: ElectionOutcome | undefined; error?: unknown } = {};
    const ran = elector.run({ signal: stop.signal, abandon: abandon.signal }).then(
      (outcome) => void Object.assign(result, outcome),
      (error: unknown) => void Object.assign(result, { error }),
    );
    return { elector, process, log, metrics, reported, result, ran, stop: () => stop.abort(new Shutdown()), abandon };
  };
  return { clock, server, join };
}

/** Who stands in the lock. */
export const holder = (server: LockServer) => server.state?.record.holderIdentity;
