import type { Added, Manager } from '../../manager/manager.js';
import { ReportedProblems } from '../../manager/reported-problems.js';
import { isApiError } from '../../rest/errors/api-error.js';
import { isRequestTimeout } from '../../rest/errors/request-timeout.js';
import { isTransportError } from '../../rest/errors/transport-error.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { PolicyObject } from './policy-objects.js';

/** The field manager of applied policies. */
const fieldManager = 'riata-policies';
const retryMs = 5_000;

/**
 * Applies the objects of a policy once, when the manager leads: one writer is enough, and a replica of an older version
 * does not take back what a newer one applied. Policies come before their bindings. A failure that can pass, such as a
 * lost answer or an overloaded server, is retried; a refusal ends the manager.
 */
export function installPolicy(manager: Manager, name: string, objects: readonly PolicyObject[]): Added {
  const { connection, runtime } = manager;
  const { clock, log } = runtime;
  return manager.add({
    name: `policy ${name}`,
    stage: 'leader',
    run: async ({ signal }) => {
      const problems = new ReportedProblems(clock);
      for (const left = [...objects]; left.length > 0; ) {
        try {
          await connection.apply(left[0] as never, { fieldManager, force: true, signal });
          left.shift();
        } catch (error) {
          if (signal.aborted || !canPass(error)) throw error;
          const level = problems.isNews(name, describeError(error)) ? 'error' : 'debug';
          log[level]('cannot install the policy, will be retried', { policy: name, error });
          await clock.sleep(retryMs, { signal });
        }
      }
    },
  });
}

/** Whether the same write may succeed later: an apply can be repeated, whatever became of the first one. */
function canPass(error: unknown): boolean {
  if (isApiError(error)) return error.code >= 500 || [408, 409, 429].includes(error.code);
  return isTransportError(error) || isRequestTimeout(error);
}
