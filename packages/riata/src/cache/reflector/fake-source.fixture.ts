import type { ListOptions, WatchOptions } from '../../client/options.js';
import type { KubeList } from '../../object/meta.js';
import { ApiError } from '../../rest/errors/api-error.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import type { WatchConsumer } from '../../rest/stream/watch-stream.js';
import { onAbort } from '../../runtime/signals.js';
import { type Thing, thing } from '../informer/informer.fixture.js';
import type { ListerWatcher, WatchSource } from './list-watch.js';

class FakeWatch implements WatchSource<Thing> {
  readonly #waiting: WatchEvent<Thing>[];
  readonly #onEnd: (watch: FakeWatch) => void;
  #consumer: WatchConsumer<Thing> | undefined;

  constructor(first: WatchEvent<Thing>[], onEnd: (watch: FakeWatch) => void) {
    this.#waiting = first;
    this.#onEnd = onEnd;
  }

  push(event: WatchEvent<Thing>): void {
    if (this.#consumer === undefined) this.#waiting.push(event);
    else this.#consumer.onEvent(event);
  }

  consume(consumer: WatchConsumer<Thing>): void {
    this.#consumer = consumer;
    for (const event of this.#waiting.splice(0)) consumer.onEvent(event);
  }

  stop(): void {
    this.#onEnd(this);
    const consumer = this.#consumer;
    this.#consumer = undefined;
    consumer?.onEnd();
  }

  // biome-ignore lint/correctness/useYield: there is `consume`
  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<Thing>> {
    throw new Error('expected to be read by consume');
  }
}

/** A server of things, without bytes (`fcache.FakeControllerSource`): lists, and watches from any version it remembers. */
export class FakeSource implements ListerWatcher<Thing> {
  /** Of the requests, with their resourceVersion. */
  readonly requests: string[] = [];
  /** Thrown by every request while it is there. */
  failure: Error | undefined;
  readonly #objects = new Map<string, Thing>();
  readonly #watches = new Set<FakeWatch>();
  #history: { readonly version: number; readonly event: WatchEvent<Thing> }[] = [];
  #version = 0;

  /** Adds or updates. */
  put(name: string): Thing {
    const old = this.#objects.get(name);
    this.#version += 1;
    const next = thing(name, this.#version, old?.metadata.uid ?? `uid-${this.#version}`);
    this.#objects.set(name, next);
    this.#report({ type: old === undefined ? 'ADDED' : 'MODIFIED', object: structuredClone(next) as Thing });
    return next;
  }

  delete(name: string): void {
    const uid = this.#objects.get(name)?.metadata.uid;
    this.#objects.delete(name);
    this.#version += 1;
    this.#report({ type: 'DELETED', object: thing(name, this.#version, uid) });
  }

  /** Ends all watches. */
  disconnect(): void {
    for (const watch of [...this.#watches]) watch.stop();
  }

  /** Drops the history: a watch from before has to list. */
  compact(): void {
    this.#history = [];
  }

  async list({ resourceVersion }: ListOptions): Promise<KubeList<Thing>> {
    this.#asked(`list ${resourceVersion ?? '-'}`);
    const items = structuredClone([...this.#objects.values()]) as Thing[];
    const metadata = { resourceVersion: String(this.#version) };
    return { apiVersion: 'test.riata.dev/v1', kind: 'ThingList', metadata, items };
  }

  async watch({ resourceVersion, signal }: WatchOptions): Promise<WatchSource<Thing>> {
    this.#asked(`watch ${resourceVersion ?? '-'}`);
    const from = Number(resourceVersion);
    const missed = this.#history.filter(({ version }) => version > from);
    if (missed.length !== this.#version - from) throw gone();
    const watch = new FakeWatch(
      missed.map(({ event }) => event),
      (ended) => this.#watches.delete(ended),
    );
    this.#watches.add(watch);
    onAbort(signal, () => watch.stop());
    return watch;
  }

  #asked(request: string): void {
    this.requests.push(request);
    if (this.failure !== undefined) throw this.failure;
  }

  #report(event: WatchEvent<Thing>): void {
    this.#history.push({ version: this.#version, event });
    for (const watch of [...this.#watches]) watch.push(structuredClone(event) as WatchEvent<Thing>);
  }
}

function gone(): ApiError {
  return new ApiError({
    ...{ apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure' },
    ...{ code: 410, reason: 'Expired', message: 'too old resource version' },
  });
}
