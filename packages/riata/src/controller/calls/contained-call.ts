import type { Logger } from '../../runtime/log/logger.js';

/** Calls a function of the user's; gives what it gave, undefined if it threw. `what` names it in the log. */
export type ContainedCall = <T>(what: string, call: () => T) => T | undefined;

/** What the user's own functions throw must not end a worker, nor the process: it goes to the log. */
export function containedCall(controller: string, log: Logger): ContainedCall {
  return (what, call) => {
    const tell = (error: unknown) => log.error(`the controller's ${what} failed`, { controller, error });
    try {
      const answer = call();
      if (answer instanceof Promise) answer.catch(tell);
      return answer;
    } catch (error) {
      tell(error);
      return undefined;
    }
  };
}
