import type { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import type { PopProcessFunc, Queue } from '../informer/queue.js';
import type { KeyListerGetter } from '../store/store.js';

/** The items in the tests of queues. */
export interface Thing {
  readonly name: string;
  readonly val: number;
}

export const thing = (name: string, val: number): Thing => ({ name, val });
export const nameOf = ({ name }: Thing) => name;

/** Knows just these. */
export function knowing(...things: Thing[]): KeyListerGetter<Thing> {
  return {
    listKeys: () => things.map(nameOf),
    getByKey: (key) => things.find(({ name }) => name === key),
  };
}

/** A deletion's object as the tests compare it. */
export const gone = (name: string, val?: number) =>
  ({ key: name, obj: val === undefined ? undefined : thing(name, val) }) as DeletedFinalStateUnknown<Thing>;

/** The next queued item; fails on an empty queue instead of waiting. */
export async function popNow<T, A>(queue: Queue<T, A>, process: PopProcessFunc<A> = () => {}): Promise<A> {
  if (queue.list().length === 0) throw new Error('nothing is in line');
  return queue.pop(process);
}

/** All queued items. */
export async function popAll<T, A>(queue: Queue<T, A>): Promise<A[]> {
  const items: A[] = [];
  while (queue.list().length > 0) items.push(await popNow(queue));
  return items;
}
