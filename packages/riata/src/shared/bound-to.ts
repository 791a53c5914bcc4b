import type { Placement } from '../client/interfaces.js';
import type { KubeClient } from '../client/kube-client.js';
import type { Answers, Operation, Run, Verb } from '../client/operation/operation.js';
import { link } from '../runtime/signals.js';

/**
 * A client whose calls end with `signal`, as if it was given to each; one that a call names itself counts, too. For code
 * that has a lifetime, such as a handler that may be removed.
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
  // What streams goes on after the call has resolved, so it stays linked.
  const isStream = operation.verb === 'watch' || operation.verb === 'list' || operation.verb === 'connect';
  try {
    return await run({ ...operation, signal: both.signal });
  } finally {
    if (!isStream) both[Symbol.dispose]();
  }
}
