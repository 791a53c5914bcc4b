import { expect, test } from 'vitest';
import { ElementIterator } from './element-iterator.js';

/** A source in the test's hands: what is there, and who waits. */
class Source {
  there: string[] = [];
  stops = 0;
  resolve: (element: string | undefined) => void = () => {};
  reject: (error: unknown) => void = () => {};

  take() {
    return this.there.shift();
  }

  wait() {
    return new Promise<string | undefined>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  stop() {
    this.stops++;
  }
}

const done = { value: undefined, done: true };

test('what is there comes at once, what is not is waited for, the end stays the end', async () => {
  const source = new Source();
  const iterator = new ElementIterator(source);
  const first = iterator.next();
  source.resolve('a');
  expect(await first).toEqual({ value: 'a', done: false });
  source.there = ['b', 'c'];
  expect([await iterator.next(), await iterator.next()]).toEqual([
    { value: 'b', done: false },
    { value: 'c', done: false },
  ]);
  const last = iterator.next();
  source.resolve(undefined);
  expect([await last, await iterator.next(), source.stops]).toEqual([done, done, 1]);
});

test('calls before the last has settled are served in order', async () => {
  const source = new Source();
  const iterator = new ElementIterator(source);
  const all = Promise.all([iterator.next(), iterator.next(), iterator.next()]);
  source.there = ['b', 'c'];
  source.resolve('a');
  expect((await all).map(({ value }) => value)).toEqual(['a', 'b', 'c']);
});

test('a failure comes once, then the end', async () => {
  const source = new Source();
  const iterator = new ElementIterator(source);
  const failed = iterator.next();
  source.reject(new Error('broken'));
  await expect(failed).rejects.toThrow('broken');
  expect([await iterator.next(), source.stops]).toEqual([done, 1]);
});

test('leaving the loop, throwing into it and disposal stop the source', async () => {
  const left = new Source();
  left.there = ['a', 'b'];
  for await (const element of new ElementIterator(left)) if (element === 'a') break;
  expect(left).toMatchObject({ stops: 1, there: ['b'] });

  const thrown = new Source();
  await expect(new ElementIterator(thrown).throw(new Error('mine'))).rejects.toThrow('mine');
  expect(thrown.stops).toBe(1);

  const disposed = new Source();
  disposed.there = ['a'];
  const iterator = new ElementIterator(disposed);
  await iterator[Symbol.asyncDispose]();
  expect([await iterator.next(), disposed.stops]).toEqual([done, 1]);
});
