import { expect, test } from 'vitest';
import type { Request } from '../loop/request.js';
import { channelSource } from './channel-source.js';
import { PushChannel } from './push-channel.js';
import { sourceBench } from './source.fixture.js';

test('items come in order, whether they were pushed before or after the read; then it ends', async () => {
  const channel = new PushChannel<number>();
  channel.push(1, 2, 3);
  const read: number[] = [];
  const reading = (async () => {
    for await (const item of channel) {
      read.push(item);
      if (item === 3) channel.push(4);
      if (item === 4) channel.push(5, 6);
      if (item === 5) channel.close();
    }
  })();
  await reading;
  expect(read).toEqual([1, 2, 3, 4, 5, 6]);
  expect(channel.size).toBe(0);
  expect(() => channel.push(7)).toThrow('the channel is closed');
});

test('each item goes to one reader', async () => {
  const channel = new PushChannel<number>();
  const [a, b] = [channel[Symbol.asyncIterator](), channel[Symbol.asyncIterator]()];
  const waiting = [a.next(), b.next()];
  channel.push(1, 2, 3);
  expect((await Promise.all(waiting)).map(({ value }) => value)).toEqual([1, 2]);
  expect(channel.size).toBe(1);
  expect(await b.next()).toEqual({ done: false, value: 3 });
});

test('a reader that leaves takes nothing with it', async () => {
  const channel = new PushChannel<number>();
  const first = channel[Symbol.asyncIterator]();
  const waiting = first.next();
  await first.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  channel.push(1);
  expect(await first.next()).toEqual({ done: true, value: undefined });
  expect(await channel[Symbol.asyncIterator]().next()).toEqual({ done: false, value: 1 });
});

test('much of it', async () => {
  const channel = new PushChannel<number>();
  const numbers = Array.from({ length: 10_000 }, (_, n) => n);
  for (const number of numbers) channel.push(number);
  const iterator = channel[Symbol.asyncIterator]();
  for (const number of numbers) expect((await iterator.next()).value).toBe(number);
  expect(channel.size).toBe(0);
});

test('a source that ends leaves what comes later to the next one', async () => {
  const channel = new PushChannel<Request>();
  const [first, second] = [sourceBench(), sourceBench()];
  await first.run(channelSource(channel));
  channel.push({ name: 'a' });
  await first.clock.settle();
  expect(first.names()).toEqual(['a']);
  await first.end();
  channel.push({ name: 'b' });
  await first.clock.settle();
  await second.run(channelSource(channel));
  expect([first.names(), second.names()]).toEqual([[], ['b']]);
  await second.end();
});
