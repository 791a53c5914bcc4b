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

test('an owner that is dropped without being disposed is not kept in memory', async () => {
  const dropped = (() => {
    const owner = new Owner();
    takeRejections(owner.take);
    return new WeakRef(owner);
  })();
  await turn();
  collectGarbage();
  expect(dropped.deref()).toBeUndefined();
  // The next one that comes and goes leaves nothing behind.
  takeRejections(() => false)[Symbol.dispose]();
  const left = process.listeners('unhandledRejection').filter((each) => Object.getOwnPropertySymbols(each).length > 0);
  expect(left).toEqual([]);
});
