import type { ConnectedClient } from 'riata/client';
import { Deployment } from 'riata/kinds';
import { computeStatus } from 'riata/patterns';
import type { Scheduler } from 'riata/runtime';
import { explainRollout } from './explain-rollout.js';
import type { RolloutProblem } from './rollout-problem.js';

/** What {@link waitForRollout} takes. */
export interface WaitForRolloutOptions {
  readonly timeoutMs: number;
  readonly clock: Scheduler;
  readonly signal: AbortSignal;
  /** Called when the state changes: `1 of 2 replicas are available`. */
  onProgress?(state: string): void;
}

/** Between two looks at the cluster. */
const intervalMs = 1_000;
/** A problem that waiting does not solve is reported after this time: until then, a rollout may be between two states. */
const graceMs = 10_000;

/**
 * Waits until a Deployment runs its newest template. Resolves to what is wrong: nothing if it is ready, at once if waiting
 * makes no sense, else after the timeout.
 */
export async function waitForRollout(
  client: ConnectedClient,
  key: { readonly namespace: string; readonly name: string },
  options: WaitForRolloutOptions,
): Promise<RolloutProblem[]> {
  const { clock, signal, timeoutMs, onProgress } = options;
  const end = clock.monotonic() + timeoutMs;
  let stuckSince: number | undefined;
  let shown = '';
  for (;;) {
    const deployment = await client.get(Deployment, key, { signal });
    const { status, message } = computeStatus(deployment, { clock });
    if (status === 'Current') return [];
    if (message !== shown) onProgress?.(message);
    shown = message;
    const problems = await explainRollout(client, deployment, signal);
    const now = clock.monotonic();
    const isStuck = problems.length > 0 && problems.every(({ mayPass }) => !mayPass);
    stuckSince = isStuck ? (stuckSince ?? now) : undefined;
    if (stuckSince !== undefined && now - stuckSince >= graceMs) return problems;
    if (now >= end) return problems.length > 0 ? problems : [timedOut(deployment, message, timeoutMs)];
    await clock.sleep(intervalMs, { signal });
  }
}

function timedOut({ metadata }: Deployment, state: string, timeoutMs: number): RolloutProblem {
  return {
    type: 'not-ready',
    object: `Deployment ${metadata.namespace}/${metadata.name}`,
    message: `not ready after ${Math.round(timeoutMs / 1000)} s: ${state}`,
    remedy: 'look at its Pods, or wait longer by --timeout',
    mayPass: true,
  };
}
