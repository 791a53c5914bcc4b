/** Decides whether an unhandled rejection is its own, and if so handles it. */
export type RejectionTaker = (reason: unknown) => boolean;

/** The one listener of a process, shared by all copies of the package: it holds the functions that take rejections. */
const takersKey: unique symbol = Symbol.for('riata.rejectionTakers') as never;

interface RejectionListener {
  (reason: unknown): void;
  readonly [takersKey]: Set<RejectionTaker>;
}

const event = 'unhandledRejection';

/**
 * Keeps the process alive on rejections that `taker` recognizes, until the result is disposed. All others have the
 * usual effect: listeners of the program decide, and without listeners Node does, as `--unhandled-rejections` says.
 */
export function takeRejections(taker: RejectionTaker): Disposable {
  const listener = installed() ?? install();
  const takers = listener[takersKey];
  takers.add(taker);
  return {
    [Symbol.dispose]: () => {
      takers.delete(taker);
      if (takers.size === 0) process.off(event, listener);
    },
  };
}

function installed(): RejectionListener | undefined {
  return process.listeners(event).find((listener): listener is RejectionListener => takersKey in listener);
}

function install(): RejectionListener {
  const takers = new Set<RejectionTaker>();
  const listener: RejectionListener = Object.assign(
    (reason: unknown) => {
      for (const taker of takers) if (taker(reason)) return;
      // The program has listeners of its own.
      if (process.listenerCount(event) > 1) return;
      // A listener keeps Node from doing anything; so the rejection is raised again, without one.
      process.off(event, listener);
      void Promise.reject(reason);
      setImmediate(() => {
        if (takers.size > 0 && installed() === undefined) process.on(event, listener);
      });
    },
    { [takersKey]: takers },
  );
  process.on(event, listener);
  return listener;
}
