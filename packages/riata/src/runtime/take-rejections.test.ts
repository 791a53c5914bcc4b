import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { takeRejections } from './take-rejections.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** An owner as a manager is: it knows its own failures, and has much in memory. */
class Owner {
  readonly taken: unknown[] = [];
  readonly take = (reason: unknown): boolean => {
    const isOwn = reason instanceof Error && reason.message === 'own';
    if (isOwn) this.taken.push(reason);
    return isOwn;
  };
}

test('takes what is its own until it is disposed, also after a collection of garbage', async () => {
  const owner = new Owner();
  const before = process.listenerCount('unhandledRejection');
  {
    using _ = takeRejections(owner.take);
    collectGarbage();
    void Promise.reject(new Error('own'));
    await turn();
    expect(owner.taken).toHaveLength(1);
  }
  expect(process.listenerCount('unhandledRejection')).toBe(before);
});

/** Takers that the process knows. Other tests of this worker may have left some. */
function takers(): number {
  const key = Symbol.for('riata.rejectionTakers');
  const sets = process
    .listeners('unhandledRejection')
    .map((each) => (each as unknown as Record<symbol, Set<unknown> | undefined>)[key]);
  return sets.reduce((sum, set) => sum + (set?.size ?? 0), 0);
}

function drop(): WeakRef<Owner> {
  const owner = new Owner();
  takeRejections(owner.take);
  return new WeakRef(owner);
}

test('an owner that is dropped without being disposed is not kept in memory', async () => {
  const dropped = drop();
  await turn();
  collectGarbage();
  expect(dropped.deref()).toBeUndefined();
});

test('owners that were dropped are forgotten when their number has doubled', async () => {
  const before = takers();
  for (let round = 0; round < 20; round += 1) {
    for (let count = 0; count < 50; count += 1) drop();
    await turn();
    collectGarbage();
  }
  expect(takers()).toBeLessThan(2 * before + 200);
});
