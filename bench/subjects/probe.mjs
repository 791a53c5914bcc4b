// What is measured inside the measured process.
import { readFileSync } from 'node:fs';

const MB = 1024 * 1024;

/**
 * Highest resident memory of this process in MB. The kernel's VmHWM, as the `maxRSS` of a child begins with the size of
 * its parent.
 */
export function peakMb() {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

export const rssMb = () => process.memoryUsage.rss() / MB;

/** CPU of the whole process, all threads, in ms; since `from` or since the process began. */
export function cpuMs(from) {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

/**
 * Longest time between two turns of the event loop: by the clock, and by the CPU time of this thread alone, which leaves
 * out what other processes took away (Node 24).
 */
export class LoopProbe {
  longestMs = 0;
  longestCpuMs = process.threadCpuUsage ? 0 : undefined;
  #timer;

  start() {
    let at = performance.now();
    let cpu = process.threadCpuUsage?.();
    this.#timer = setInterval(() => {
      const now = performance.now();
      // The timer itself waits a millisecond.
      this.longestMs = Math.max(this.longestMs, now - at - 1);
      at = now;
      if (cpu === undefined) return;
      const since = process.threadCpuUsage(cpu);
      this.longestCpuMs = Math.max(this.longestCpuMs, (since.user + since.system) / 1000);
      cpu = process.threadCpuUsage();
    }, 1);
    return this;
  }

  stop() {
    clearInterval(this.#timer);
    return { blockMs: this.longestMs, blockCpuMs: this.longestCpuMs };
  }
}

/** Hands figures to the process that measures, and ends this one. */
export function report(figures) {
  process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
}
