import { expect, test } from 'vitest';
import type { Request } from '../loop/request.js';
import { channelSource } from './channel-source.js';
import { sourceBench } from './source.fixture.js';
import { inCluster } from './source.js';

/** An async iterable that gives what is pushed into it. */
class Pipe<T> implements AsyncIterable<T> {
  readonly #items: T[] = [];
  #wake = () => {};
  #failure: Error | undefined;
  #done = false;
  read = 0;
  returned = 0;

  push(...items: readonly T[]): void {
    this.#items.push(...items);
    this.#wake();
  }

  fail(error: Error): void {
    this.#failure = error;
    this.#wake();
  }

  end(): void {
    this.#done = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    try {
      for (;;) {
        const item = this.#items.shift();
        if (item !== undefined) {
          this.read += 1;
          yield item;
        } else if (this.#failure !== undefined) throw this.#failure;
        else if (this.#done) return;
        else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      this.returned += 1;
    }
  }
}

const object = (name: string) => ({
  metadata: { namespace: 'shop', name, uid: 'u', resourceVersion: '1', creationTimestamp: '' },
});

test('keys and objects come as they are read; the same key waits once', async () => {
  const { clock, run, take, end } = sourceBench();
  const pipe = new Pipe<Request | ReturnType<typeof object>>();
  await run(channelSource(pipe, { name: 'broker', priority: 5 }));
  pipe.push({ namespace: 'shop', name: 'a' }, object('b'), { namespace: 'shop', name: 'a' });
  await clock.settle();
  expect(take()).toMatchObject([
    { name: 'shop/a', priority: 5, causes: [{ source: 'broker', count: 2 }] },
    { name: 'shop/b', priority: 5, causes: [{ source: 'broker', count: 1 }] },
  ]);
  await end();
});

test('anything else through map; what cannot be read is logged, and the rest comes', async () => {
  const { clock, log, run, names, end } = sourceBench();
  const pipe = new Pipe<{ readonly carts: readonly string[] | undefined }>();
  await run(
    channelSource(pipe, {
      map: ({ carts }) => {
        if (carts === undefined) throw new Error('no carts');
        return carts.map((name) => ({ name }));
      },
    }),
  );
  pipe.push({ carts: ['a', 'b'] }, { carts: undefined }, { carts: [] }, { carts: ['c'] });
  await clock.settle();
  expect(names()).toEqual(['a', 'b', 'c']);
  expect(log.messages('error')).toEqual(['cannot map a channel item to a key']);
  const strange = new Pipe<Request>();
  await run(channelSource(strange));
  strange.push('a' as never);
  await clock.settle();
  expect(String(log.records.at(-1)?.fields.error)).toContain('give `map` for anything else');
  await end();
});

test('while many keys wait, nothing is read', async () => {
  const { clock, run, names, queue, end } = sourceBench();
  const pipe = new Pipe<Request>();
  pipe.push(...Array.from({ length: 100 }, (_, n) => ({ name: `n${n}` })));
  await run(channelSource(pipe, { bufferSize: 10 }));
  await clock.advance(10_000);
  expect([queue.len(), pipe.read]).toEqual([10, 10]);
  expect(names()).toHaveLength(10);
  await clock.advance(50);
  expect([queue.len(), pipe.read]).toEqual([10, 20]);
  await end();
  expect(clock.pending).toBe(0);
});

test('an iterable that fails has ended; a function is called again, later each time', async () => {
  const { clock, log, run, names, end } = sourceBench();
  const broken = new Pipe<Request>();
  await run(channelSource(broken, { name: 'once' }));
  broken.push({ name: 'a' });
  broken.fail(new Error('cut'));
  await clock.advance(600_000);
  expect(names()).toEqual(['a']);
  expect(log.messages('error')).toEqual(['channel failed']);
  const started: number[] = [];
  await run(
    channelSource(
      () => {
        started.push(clock.monotonic());
        const pipe = new Pipe<Request>();
        if (started.length < 4) pipe.fail(new Error('cut'));
        else pipe.push({ name: 'b' });
        return pipe;
      },
      { name: 'again' },
    ),
  );
  await clock.advance(10_000);
  expect(names()).toEqual(['b']);
  expect(started.map((ms) => ms - (started[0] ?? 0))).toEqual([0, 200, 600, 1400]);
  await end();
  expect(clock.pending).toBe(0);
});

test('ends with its signal, and gives the iterator back', async () => {
  const { clock, run, names, end } = sourceBench();
  const pipe = new Pipe<Request>();
  await run(channelSource(pipe));
  await end();
  pipe.push({ name: 'late' }, { name: 'later' });
  await clock.settle();
  expect(names()).toEqual([]);
  expect(pipe.returned).toBe(1);
});

test('a channel may end', async () => {
  const { clock, log, run, names, end } = sourceBench();
  const pipe = new Pipe<Request>();
  await run(channelSource(pipe));
  pipe.push({ name: 'a' });
  pipe.end();
  await clock.settle();
  expect(names()).toEqual(['a']);
  expect(log.messages('error')).toEqual([]);
  await end();
});

test('in one of several clusters', async () => {
  const { clock, run, queue, end } = sourceBench();
  const pipe = new Pipe<Request>();
  await run(inCluster(channelSource(pipe), 'east'));
  pipe.push({ name: 'a' }, { name: 'b', cluster: 'west' });
  await clock.settle();
  expect([queue.tryGet()?.key, queue.tryGet()?.key]).toEqual([
    { name: 'a', cluster: 'east' },
    { name: 'b', cluster: 'west' },
  ]);
  await end();
});
