import type { KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { abortable } from '../../runtime/signals.js';
import { failureFields, readableError } from '../loop/failure-fields.js';
import { placeRequest, type Request, type RequestQueue, requestFor } from '../loop/request.js';
import type { Source } from './source.js';
import type { SourceFailures } from './source-failures.js';

/** The items of a channel, without a `map`. */
export type ChannelItem = Request | Pick<KubeObject, 'metadata'>;

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
  const { name = 'channel' } = options;
  const map = options.map ?? ((item: T) => [keyOfItem(item as ChannelItem)]);
  return {
    name,
    async start(queue, { signal, runtime: given, cluster, failures }) {
      const runtime = resolveRuntime({ ...given, ...options.runtime });
      const { priority = 0, bufferSize = 1024 } = options;
      const reader = new ChannelReader<T>({ name, map, queue, runtime, cluster, priority, bufferSize, failures });
      void reader.run(channel, signal);
    },
  };
}

interface ChannelParts<T> {
  readonly name: string;
  readonly map: (item: T) => Iterable<Request>;
  readonly queue: RequestQueue;
  readonly runtime: Runtime;
  readonly cluster: string | undefined;
  readonly priority: number;
  readonly bufferSize: number;
  readonly failures: SourceFailures | undefined;
}

class ChannelReader<T> {
  readonly #parts: ChannelParts<T>;

  constructor(parts: ChannelParts<T>) {
    this.#parts = parts;
  }

  async run(channel: Channel<T>, signal: AbortSignal): Promise<void> {
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
        const next = await abortable(iterator.next(), signal);
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
    const { queue, bufferSize, runtime } = this.#parts;
    while (queue.len() >= bufferSize) await runtime.clock.sleep(lookAgainMs, { signal, background: true });
  }

  /** One item that cannot be read is no reason to lose the others. */
  #take(item: T): void {
    const { name, map, queue, runtime, cluster, priority } = this.#parts;
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
