import type { Client, Key } from '../client/interfaces.js';
import { ReportedProblems } from '../manager/reported-problems.js';
import type { KindRef, Scope } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { describeError } from '../runtime/log/describe-error.js';
import type { Runtime } from '../runtime/runtime.js';

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/**
 * Follows one object until the signal aborts: `onChange` is called with each state, undefined if it does not exist. It
 * watches that object alone, so that a right to it by name is enough. Failures are logged and retried, also those that
 * waiting alone does not mend: a role may be granted later.
 */
export async function watchObject<R extends KubeObject, S extends Scope>(
  client: Client,
  kind: KindRef<R, S>,
  key: Key<S>,
  parts: {
    readonly onChange: (object: R | undefined) => void;
    readonly signal: AbortSignal;
    readonly runtime: Pick<Runtime, 'clock' | 'log'>;
  },
): Promise<void> {
  const { onChange, signal, runtime } = parts;
  const { namespace, name } = key as { readonly namespace?: string; readonly name: string };
  const problems = new ReportedProblems(runtime.clock);
  const subject = `${kind.kind} ${name}`;
  const failed = (error: unknown) => {
    const level = problems.isNews(subject, describeError(error)) ? 'warn' : 'debug';
    runtime.log[level]('cannot watch an object, will be retried', { object: subject, namespace, error });
  };
  for (let retryMs = firstRetryMs; !signal.aborted; retryMs = Math.min(retryMs * 2, longestRetryMs)) {
    try {
      let isThere = false;
      const options = { namespace, fieldSelector: { 'metadata.name': name }, signal, onRetry: failed };
      for await (const event of client.retryingWatch(kind, options)) {
        if (event.type === 'RESET') isThere = false;
        else if (event.type === 'SYNCED') {
          if (!isThere) onChange(undefined);
          problems.isResolved(subject);
          retryMs = firstRetryMs;
        } else if (event.type === 'DELETED') onChange(undefined);
        else if (event.type === 'ADDED' || event.type === 'MODIFIED') {
          isThere = true;
          onChange(event.object as R);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      failed(error);
    }
    await runtime.clock.sleep(retryMs, { signal, background: true }).catch(() => {});
  }
}
