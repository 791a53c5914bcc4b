import { expect, test } from 'vitest';
import { LaterIterator } from './later-iterator.js';

/** What it goes through, and what has happened to it. */
function source(values: readonly string[]) {
  const seen = { opened: 0, left: 0 };
  async function* elements(): AsyncGenerator<string, void, undefined> {
    try {
      yield* values;
    } finally {
      seen.left++;
    }
  }
  const open = async () => {
    seen.opened++;
    return elements();
  };
  return { seen, open };
}

const done = { value: undefined, done: true };

test('opens with the first call, once, however many come at a time', async () => {
  const { seen, open } = source(['a', 'b']);
  const iterator = new LaterIterator(open);
  expect(seen.opened).toBe(0);
  const all = await Promise.all([iterator.next(), iterator.next(), iterator.next()]);
  expect(all.map(({ value }) => value)).toEqual(['a', 'b', undefined]);
  expect([seen, await iterator.next()]).toEqual([{ opened: 1, left: 1 }, done]);
});

test('what cannot be opened fails once, then ends', async () => {
  const iterator = new LaterIterator<string>(() => Promise.reject(new Error('refused')));
  await expect(iterator.next()).rejects.toThrow('refused');
  expect(await iterator.next()).toEqual(done);
});

test('leaving the loop leaves what was opened; before the first call nothing is opened', async () => {
  const { seen, open } = source(['a', 'b']);
  for await (const _ of new LaterIterator(open)) break;
  expect(seen).toEqual({ opened: 1, left: 1 });
  const unused = new LaterIterator(open);
  expect([await unused.return(), await unused.next(), seen.opened]).toEqual([done, done, 1]);
  await expect(new LaterIterator(open).throw(new Error('mine'))).rejects.toThrow('mine');
});
