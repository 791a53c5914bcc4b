import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Random, Timer } from 'riata/runtime';
import { systemClock } from 'riata/runtime';
import { type FaultyNetwork, longestStallMs, type Mischief } from './faulty-network.js';
import { resetSocket } from './reset-socket.js';

/** A TCP proxy that does to connections what bad networks do. It sees bytes only, so TLS goes through it. */
export interface ChaosProxy extends FaultyNetwork {
  readonly port: number;
}

type Fault = Extract<Mischief, 'reset' | 'close' | 'stall' | 'refuse' | 'truncate' | 'delay'>;
const faults: readonly Fault[] = ['reset', 'close', 'stall', 'refuse', 'truncate', 'delay'];

export async function startChaosProxy(target: URL, random: Random): Promise<ChaosProxy> {
  const pairs = new Set<Pair>();
  const done: Partial<Record<Mischief, number>> = {};
  let refusing = 0;
  const count = (what: Mischief) => {
    done[what] = (done[what] ?? 0) + 1;
  };
  const server = createServer((near) => {
    if (refusing > 0) {
      refusing--;
      count('refuse');
      resetSocket(near);
      return;
    }
    const pair: Pair = new Pair(near, connect(Number(target.port), target.hostname), () => pairs.delete(pair));
    pairs.add(pair);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}`,
    done,
    act() {
      for (const pair of pairs) {
        if (random.next() < 0.5) continue;
        const what = random.pick(faults);
        if (what === 'refuse') refusing = random.int(1, 3);
        else count(what);
        pair.suffer(what, random);
      }
    },
    calm() {
      refusing = 0;
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) pair.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One connection through the proxy. */
class Pair {
  readonly #near: Socket;
  readonly #far: Socket;
  readonly #onEnd: () => void;
  readonly #timers = new Set<Timer>();
  #isStalled = false;
  /** What came to be late. */
  #late: (() => void)[] | undefined;
  /** So many bytes still get through to the client. */
  #left = Number.POSITIVE_INFINITY;

  constructor(near: Socket, far: Socket, onEnd: () => void) {
    this.#near = near;
    this.#far = far;
    this.#onEnd = onEnd;
    near.on('data', (bytes) => this.#pass(far, bytes));
    far.on('data', (bytes) => this.#pass(near, bytes));
    for (const socket of [near, far]) socket.on('error', () => this.end()).on('close', () => this.end());
  }

  suffer(what: Fault, random: Random): void {
    if (what === 'reset') resetSocket(this.#near);
    else if (what === 'close') this.#near.end();
    else if (what === 'refuse') this.end();
    else if (what === 'truncate') this.#left = Math.min(this.#left, random.int(0, 2_000));
    else if (what === 'stall') {
      this.#isStalled = true;
      this.#after(random.int(100, longestStallMs), () => this.end());
    } else if (this.#late === undefined) {
      this.#late = [];
      this.#after(random.int(1, 300), () => {
        const late = this.#late ?? [];
        this.#late = undefined;
        for (const pass of late) pass();
      });
    }
  }

  end(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#near.destroy();
    this.#far.destroy();
    this.#onEnd();
  }

  #pass(to: Socket, bytes: Buffer): void {
    if (this.#isStalled) return;
    if (this.#late !== undefined) this.#late.push(() => this.#pass(to, bytes));
    else if (to === this.#near && bytes.length > this.#left) {
      to.end(bytes.subarray(0, this.#left));
      this.#isStalled = true;
    } else {
      if (to === this.#near) this.#left -= bytes.length;
      to.write(bytes);
    }
  }

  #after(ms: number, fn: () => void): void {
    const timer = systemClock.after(ms, () => {
      this.#timers.delete(timer);
      fn();
    });
    this.#timers.add(timer);
  }
}
