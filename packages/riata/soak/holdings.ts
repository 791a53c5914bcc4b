import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Scheduler, Timer, TimerOptions } from 'riata/runtime';
import { systemClock } from 'riata/runtime';

/**
 * The system's clock, with a count of pending timers and sleeps. It may go faster, so that waits of seconds pass in
 * less.
 */
export class CountingClock implements Scheduler {
  readonly #pending = new Set<object>();
  readonly #speed: number;
  readonly #start = systemClock.now();

  constructor({ speed = 1 }: { readonly speed?: number } = {}) {
    this.#speed = speed;
  }

  get pending(): number {
    return this.#pending.size;
  }

  now(): number {
    return this.#start + (systemClock.now() - this.#start) * this.#speed;
  }

  monotonic(): number {
    return systemClock.monotonic() * this.#speed;
  }

  after(ms: number, fn: () => void, options?: TimerOptions): Timer {
    const mark = {};
    this.#pending.add(mark);
    const run = () => {
      this.#pending.delete(mark);
      fn();
    };
    const timer = systemClock.after(ms / this.#speed, run, options);
    const cancel = () => {
      this.#pending.delete(mark);
      timer.cancel();
    };
    return { cancel, [Symbol.dispose]: cancel };
  }

  async sleep(ms: number, options?: TimerOptions & { readonly signal?: AbortSignal }): Promise<void> {
    const mark = {};
    this.#pending.add(mark);
    try {
      await systemClock.sleep(ms / this.#speed, options);
    } finally {
      this.#pending.delete(mark);
    }
  }

  yield(): Promise<void> {
    return systemClock.yield();
  }
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** What the heap and its array buffers hold once garbage is gone, in MB. */
export function heldMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

/** TCP sockets that this process has open. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'TCPSocketWrap').length;
}

/** What is open: for the message of a test that has waited for none to be. */
export function socketsText(): string {
  const { _getActiveHandles: activeHandles } = process as unknown as { _getActiveHandles(): object[] };
  const sockets = activeHandles.call(process).filter((handle) => handle instanceof Socket);
  return sockets
    .map(({ localPort, remotePort, readyState, bytesRead, bytesWritten }) => {
      const kind = readyState === 'open' ? '' : `${readyState}, `;
      return `${localPort} to ${remotePort} (${kind}${bytesRead} B read, ${bytesWritten} B written)`;
    })
    .join(', ');
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
