import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import type { Random } from '../src/runtime/random.js';

/** A TCP proxy that does to connections what bad networks do. It sees bytes only, so TLS goes through it. */
export interface ChaosProxy extends AsyncDisposable {
  readonly port: number;
  /** What was done so far. */
  readonly done: Readonly<Record<Mischief, number>>;
  /** Does something bad to some of the open connections. */
  act(): void;
  /** From now on, everything passes as it should; connections that are stuck are ended. */
  calm(): void;
}

export type Mischief = 'reset' | 'close' | 'stall' | 'refuse';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  stalled: boolean;
}

export async function startChaosProxy(target: URL, random: Random): Promise<ChaosProxy> {
  const pairs = new Set<Pair>();
  const done: Record<Mischief, number> = { reset: 0, close: 0, stall: 0, refuse: 0 };
  let refusing = 0;
  const server = createServer((near) => {
    if (refusing > 0) {
      refusing--;
      done.refuse++;
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    const pair: Pair = { near, far, stalled: false };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    near.on('data', (bytes) => pair.stalled || far.write(bytes));
    far.on('data', (bytes) => pair.stalled || near.write(bytes));
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    done,
    act() {
      for (const pair of pairs) {
        if (random.next() < 0.5) continue;
        const what = random.pick(['reset', 'close', 'stall', 'refuse'] as const);
        if (what === 'refuse') {
          refusing = random.int(1, 3);
          pair.near.destroy();
          continue;
        }
        done[what]++;
        if (what === 'reset') pair.near.resetAndDestroy();
        else if (what === 'close') pair.near.end();
        else pair.stalled = true;
      }
    },
    calm() {
      refusing = 0;
      for (const pair of pairs) if (pair.stalled) pair.near.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const { near, far } of pairs) {
        near.destroy();
        far.destroy();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
