import type { Logger } from '../../runtime/log/logger.js';

/** Calls a function of the user's and returns its answer, undefined if it threw. `what` names it in the log. */
export type ContainedCall = <T>(what: string, call: () => T) => T | undefined;

/** Logs errors of the user's own functions, which must not end a worker or the process. */
export function containedCall(controller: string, log: Logger): ContainedCall {
  return (what, call) => {
    const report = (error: unknown) => log.error(`the controller's ${what} failed`, { controller, error });
    try {
      const answer = call();
      if (answer instanceof Promise) answer.catch(report);
      return answer;
    } catch (error) {
      report(error);
      return undefined;
    }
  };
}
