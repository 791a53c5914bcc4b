import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable, link } from '../../runtime/signals.js';
import { Removed } from '../../runtime/stop-reasons.js';
import { failureFields, readableError } from '../loop/failure-fields.js';
import { placeRequest, type Request, type RequestQueue, requestFor } from '../loop/request.js';
import { type ChannelItem, PushChannel } from './push-channel.js';
import type { Source } from './source.js';
import type { SourceFailures } from './source-failures.js';
import { type SourceSlot, withSlot } from './source-slot.js';

/** The input of a {@link channelSource}: an iterable to read once, or a function that starts over after a failure. */
export type Channel<T> = AsyncIterable<T> | ((options: { readonly signal: AbortSignal }) => AsyncIterable<T>);

/** Options of {@link channelSource}. */
export interface ChannelSourceOptions<T> {
  /** Which keys an item leads to. @default the key that it is, or that of the object that it is */
  readonly map?: (item: T) => Iterable<Request>;
  /** In logs, and as the cause of what comes from it. @default 'channel' */
  readonly name?: string;
  /** Of the keys. @default 0 */
  readonly priority?: number;
  /**
   * Reads on only while fewer keys than this are ready in the queue: this many different keys may wait, however many
   * come (`source.WithBufferSize`). @default 1024
   */
  readonly bufferSize?: number;
  /** @default the controller's */
  readonly runtime?: Partial<Runtime>;
}

export const channelSourceOptionNames = optionNames<ChannelSourceOptions<unknown>>({
  map: true,
  name: true,
  priority: true,
  bufferSize: true,
  runtime: true,
});

const lookAgainMs = 50;

/**
 * Keys from an async iterable (`source.Channel`, with `event.GenericEvent`). A key that is already queued is not queued
 * twice; while many keys are queued, nothing is read, so the writer has to wait. Errors are logged: a function is called
 * again after a while, an iterable has ended then. `PushChannel` is an iterable to push into.
 *
 * @example
 * control(Cart).source(() => channelSource(messagesOf(broker), { map: (message) => [message.cart] }))
 */
export function channelSource(channel: Channel<ChannelItem>, options?: ChannelSourceOptions<ChannelItem>): Source;
export function channelSource<T>(
  channel: Channel<T>,
  options: ChannelSourceOptions<T> & Required<Pick<ChannelSourceOptions<T>, 'map'>>,
): Source;
export function channelSource<T>(channel: Channel<T>, options: ChannelSourceOptions<T> = {}): Source {
  refuseUnknownOptions('channelSource', options, channelSourceOptionNames);
  const { name = 'channel', priority = 0, bufferSize = 1024 } = options;
  const map = options.map ?? ((item: T) => [keyOfItem(item as ChannelItem)]);
  const slot: SourceSlot<ChannelWork<T>> = { sort: 'channel', value: { channel, map, priority, bufferSize } };
  let reader: ChannelReader<T> | undefined;
  const source: Source = {
    name,
    async start(queue, { signal, runtime: given, cluster, failures }) {
      const runtime = resolveRuntime({ ...given, ...options.runtime });
      reader = new ChannelReader<T>({ name, slot, queue, runtime, cluster, failures });
      void reader.run(signal);
    },
  };
  return withSlot(source, slot, (before) => reader?.switched(before));
}

/** What a reader reads, and how. */
interface ChannelWork<T> {
  readonly channel: Channel<T>;
  readonly map: (item: T) => Iterable<Request>;
  readonly priority: number;
  readonly bufferSize: number;
}

interface ChannelParts<T> {
  readonly name: string;
  readonly slot: SourceSlot<ChannelWork<T>>;
  readonly queue: RequestQueue;
  readonly runtime: Runtime;
  readonly cluster: string | undefined;
  readonly failures: SourceFailures | undefined;
}

class ChannelReader<T> {
  readonly #parts: ChannelParts<T>;
  /** Aborts when another channel takes the place of the one that is read. */
  #switching = new AbortController();
  #signal: AbortSignal | undefined;
  #hasEnded = false;

  constructor(parts: ChannelParts<T>) {
    this.#parts = parts;
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#hasEnded = false;
    while (!signal.aborted && !this.#hasEnded) {
      this.#switching = new AbortController();
      using scope = link(signal, this.#switching.signal);
      await this.#follow(this.#parts.slot.value.channel, scope.signal);
      this.#hasEnded = !this.#switching.signal.aborted;
    }
  }

  /** The slot holds another channel, perhaps: what was pushed into the former one is not lost. */
  switched({ channel: before }: ChannelWork<T>): void {
    const { channel } = this.#parts.slot.value;
    if (channel === before || this.#signal === undefined) return;
    if (before instanceof PushChannel) for (const item of before.takeAll()) this.#take(item as T);
    this.#switching.abort(new Removed('another channel is read'));
    // The former one may have ended before.
    if (this.#hasEnded) void this.run(this.#signal);
  }

  /** Resolves when the channel has ended, or the signal has aborted. */
  async #follow(channel: Channel<T>, signal: AbortSignal): Promise<void> {
    const { name, runtime } = this.#parts;
    const { clock, log } = runtime;
    for (let failures = 0; !signal.aborted; ) {
      const began = clock.monotonic();
      try {
        await this.#read(typeof channel === 'function' ? channel({ signal }) : channel, signal);
        log.debug('channel ended', { source: name });
        return;
      } catch (error) {
        if (signal.aborted) return;
        const isOver = typeof channel !== 'function';
        failures = clock.monotonic() - began > 60_000 ? 1 : failures + 1;
        log.error(isOver ? 'channel failed' : 'channel failed, starting it again', {
          source: name,
          error,
        });
        if (isOver) return;
      }
      await clock.sleep(Math.min(100 * 2 ** failures, 30_000), { signal, background: true }).catch(() => {});
    }
  }

  async #read(items: AsyncIterable<T>, signal: AbortSignal): Promise<void> {
    const iterator = items[Symbol.asyncIterator]();
    try {
      for (;;) {
        await this.#room(signal);
        const coming = iterator.next();
        const next = await abortable(coming, signal).catch((error: unknown) => {
          // As another channel takes its place, an item that this one has given is taken, too: nothing else reads it again.
          const isSwitched = this.#signal?.aborted === false;
          coming.then((late) => late.done || !isSwitched || this.#take(late.value)).catch(() => {});
          throw error;
        });
        if (next.done) return;
        this.#take(next.value);
      }
    } catch (error) {
      // Not waited for: it may not come back before what it waits for does.
      void Promise.resolve(iterator.return?.()).catch(() => {});
      throw error;
    }
  }

  async #room(signal: AbortSignal): Promise<void> {
    const { queue, slot, runtime } = this.#parts;
    while (queue.len() >= slot.value.bufferSize) await runtime.clock.sleep(lookAgainMs, { signal, background: true });
  }

  /** One item that cannot be read is no reason to lose the others. */
  #take(item: T): void {
    const { name, slot, queue, runtime, cluster } = this.#parts;
    const { map, priority } = slot.value;
    const { clock, log } = runtime;
    try {
      const note = [{ source: name, count: 1, atMs: clock.monotonic() }];
      for (const request of map(item)) queue.add(placeRequest(request, cluster), { note, priority });
    } catch (error) {
      this.#parts.failures?.count(name, 'map');
      log.error('cannot map a channel item to a key', { source: name, ...failureFields(readableError(error)) });
    }
  }
}

function keyOfItem(item: ChannelItem): Request {
  if (typeof item !== 'object' || item === null || !('metadata' in item || 'name' in item)) {
    throw new TypeError('expected a key { namespace, name } or an object; give `map` for anything else');
  }
  return 'metadata' in item ? requestFor(item) : item;
}
