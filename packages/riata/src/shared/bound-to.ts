import type { Placement } from '../client/interfaces.js';
import type { KubeClient } from '../client/kube-client.js';
import type { Answers, Operation, Run, Verb } from '../client/operation/operation.js';
import { link } from '../runtime/signals.js';

/**
 * A client whose calls abort with `signal`, in addition to the signal of the call itself. For code with a lifetime, such as
 * a handler that can be removed.
 */
export function boundTo<P extends Placement>(client: KubeClient<P>, signal: AbortSignal): KubeClient<P> {
  return client.wrap((run) => (operation) => {
    const own = operation.signal;
    if (own === undefined || own === signal) return run({ ...operation, signal });
    return runLinked(run, operation, own, signal);
  });
}

async function runLinked<V extends Verb>(
  run: Run,
  operation: Operation<V>,
  own: AbortSignal,
  signal: AbortSignal,
): Promise<Answers[V]> {
  const both = link(own, signal);
  // A stream outlives the call that opened it, so it stays linked.
  const isStream = operation.verb === 'watch' || operation.verb === 'list' || operation.verb === 'connect';
  try {
    return await run({ ...operation, signal: both.signal });
  } finally {
    if (!isStream) both[Symbol.dispose]();
  }
}
