import { expectTypeOf, test } from 'vitest';
import type { WorkItem } from './queue-entry.js';
import { WorkQueue } from './work-queue.js';

test('keys are strings and notes none unless said otherwise', () => {
  const queue = new WorkQueue();
  expectTypeOf(queue).toEqualTypeOf<WorkQueue<string, undefined>>();
  expectTypeOf(queue.get()).resolves.toEqualTypeOf<WorkItem<string, undefined> | undefined>();
  // @ts-expect-error no notes here
  queue.add('a', { note: 'b' });
});

test('the type of keys comes from id, that of notes from merge', () => {
  const queue = new WorkQueue({
    id: (key: { name: string }) => key.name,
    merge: (a: readonly string[], b: readonly string[]) => [...a, ...b],
  });
  expectTypeOf(queue.tryGet()).toEqualTypeOf<WorkItem<{ name: string }, readonly string[]> | undefined>();
  // @ts-expect-error a key is an object here
  queue.add('a');
});

test('keys other than strings need an id', () => {
  // @ts-expect-error no options at all
  new WorkQueue<{ name: string }>();
  // @ts-expect-error no id among them
  new WorkQueue<{ name: string }>({ name: 'a' });
  new WorkQueue<{ name: string }>({ id: (key) => key.name });
  new WorkQueue<`${string}/${string}`>({ name: 'a' });
});

test('a loop gives items', async () => {
  for await (const item of new WorkQueue<string, number>()) {
    expectTypeOf(item).toEqualTypeOf<WorkItem<string, number>>();
    // @ts-expect-error what a worker gets cannot be changed
    item.note = 1;
  }
});
