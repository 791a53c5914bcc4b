import { expect, test } from 'vitest';
import { VirtualClock } from '../runtime/time/virtual-clock.js';
import { WorkQueue } from './work-queue.js';

test('shows keys that are ready and keys that wait for their time, and none that a worker has', async () => {
  const clock = new VirtualClock();
  const queue = new WorkQueue<string, string>({ name: 'q', clock, merge: (a, b) => `${a} ${b}`, priority: true });
  queue.add('taken');
  queue.tryGet();
  queue.add('ready', { note: 'why', priority: 5 });
  queue.addAfter('late', 1_000, { note: 'retry' });
  await clock.advance(400);
  expect(queue.pending()).toEqual([
    { key: 'ready', note: 'why', priority: 5 },
    { key: 'late', note: 'retry', priority: 0, dueMs: 600 },
  ]);
  expect(queue.pending(1)).toHaveLength(1);
});
