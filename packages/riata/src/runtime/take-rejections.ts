/** Decides whether an unhandled rejection is its own, and if so handles it. */
export type RejectionTaker = (reason: unknown) => boolean;

/** The one listener of a process, shared by all copies of the package: it holds the functions that take rejections. */
const takersKey: unique symbol = Symbol.for('riata.rejectionTakers') as never;

/** A taker that its owner alone keeps in memory. */
interface KeptTaker extends RejectionTaker {
  readonly isGone?: () => boolean;
}

interface RejectionListener {
  (reason: unknown): void;
  readonly [takersKey]: Set<KeptTaker>;
  /** Where there are many takers, those that are gone are looked for when there are so many. */
  sweepAt?: number;
}

/** So many are asked at each start. */
const mostAsked = 16;

const event = 'unhandledRejection';

/**
 * Keeps the process alive on rejections that `taker` recognizes, until the result is disposed. All others have the
 * usual effect: listeners of the program decide, and without listeners Node does, as `--unhandled-rejections` says.
 *
 * The process does not keep `taker` in memory; the result does. A manager that is dropped without being stopped, as when a
 * test simulates its crash, is collected with all that it holds.
 */
export function takeRejections(taker: RejectionTaker): Disposable {
  const listener = installed() ?? install();
  const takers = listener[takersKey];
  sweep(listener);
  const weak = weakly(taker);
  takers.add(weak);
  const kept = { taker };
  return {
    [Symbol.dispose]: () => {
      takers.delete(weak);
      Reflect.deleteProperty(kept, 'taker');
      if (takers.size === 0) process.off(event, listener);
    },
  };
}

/**
 * Removes takers that are gone. Where there are many, it does so when their number has doubled: to ask all of them at each
 * start took a twelfth of the time of simulations, which drop thousands of managers.
 */
function sweep(listener: RejectionListener): void {
  const takers = listener[takersKey];
  if (takers.size > mostAsked && takers.size < (listener.sweepAt ?? 0)) return;
  for (const each of takers) if (each.isGone?.()) takers.delete(each);
  listener.sweepAt = 2 * takers.size;
}

function weakly(taker: RejectionTaker): KeptTaker {
  const ref = new WeakRef(taker);
  return Object.assign((reason: unknown) => ref.deref()?.(reason) ?? false, {
    isGone: () => ref.deref() === undefined,
  });
}

function installed(): RejectionListener | undefined {
  return process.listeners(event).find((listener): listener is RejectionListener => takersKey in listener);
}

function install(): RejectionListener {
  const takers = new Set<KeptTaker>();
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
