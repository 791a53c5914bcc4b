import { silentLogger, VirtualClock, WorkQueue } from 'riata';
import { itemExponentialFailureRateLimiter } from 'riata/queue';
import { expect, test } from 'vitest';

test('a worker', async () => {
  const done: string[] = [];
  let failures = 0;
  const work = async (key: string) => {
    if (key === 'b' && failures++ === 0) throw new Error('not yet');
    done.push(key);
    if (done.length === 2) queue.shutDown();
  };
  const log = silentLogger;
  const queue = new WorkQueue({ name: 'sites' });
  queue.add('a');
  queue.add('a'); // still waiting: merged
  queue.add('b');

  for await (const { key } of queue) {
    try {
      await work(key);
      queue.forget(key); // resets the backoff
    } catch (error) {
      log.error('processing failed, retrying', { key, error });
      queue.addRateLimited(key);
    }
  } // ends after queue.shutDown()
  expect(done).toEqual(['a', 'b']);
});

test('options', async () => {
  const clock = new VirtualClock();
  const queue = new WorkQueue<{ namespace: string; name: string }, { reasons: string[] }>({
    id: ({ namespace, name }) => `${namespace}/${name}`,
    merge: (earlier, later) => ({ reasons: [...earlier.reasons, ...later.reasons] }),
    priority: true,
    fairness: ({ namespace }) => namespace,
    rateLimiter: () => itemExponentialFailureRateLimiter({ baseMs: 100, maxMs: 60_000, jitter: 0.1 }),
    clock,
  });
  queue.add({ namespace: 'big', name: 'a' }, { note: { reasons: ['changed'] } });
  queue.add({ namespace: 'big', name: 'a' }, { note: { reasons: ['resync'] } });
  queue.add({ namespace: 'big', name: 'b' });
  queue.add({ namespace: 'small', name: 'c' });
  queue.addAfter({ namespace: 'small', name: 'd' }, 5_000, { priority: 10 });
  const order: string[] = [];
  const take = () => {
    for (let item = queue.tryGet(); item !== undefined; item = queue.tryGet()) {
      order.push([item.key.name, ...(item.note?.reasons ?? [])].join(' '));
      queue.done(item.key);
    }
  };
  take();
  expect(order.splice(0)).toEqual(['a changed resync', 'c', 'b']);
  await clock.advance(5_000); // no real time passes
  const item = queue.tryGet();
  expect([item?.key.name, item?.priority]).toEqual(['d', 10]);
});
