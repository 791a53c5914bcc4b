import type { KubeObject } from '../../object/meta.js';
import { describeRequest } from '../errors/redact.js';
import { TransportError } from '../errors/transport-error.js';
import { BodyReader, type BodyReaderOptions } from './body-reader.js';
import { ElementIterator } from './element-iterator.js';
import { apiErrorWithOrigin, type NamedExchanger, redacting } from './stream-origin.js';
import type { ElementTimer } from './stream-timer.js';
import { transformed } from './transformed.js';
import { type WatchDecodeOptions, WatchDecoder } from './watch-decoder.js';
import type { WatchEvent } from './watch-event.js';

export type { Bookmark, WatchEvent, WatchEventType } from './watch-event.js';

/** How a watch is read. */
export interface WatchStreamOptions<T = KubeObject> extends WatchDecodeOptions, BodyReaderOptions {
  /** Transforms each object before any reader sees it; not bookmarks and errors. @default none */
  readonly transform?: (object: T) => T;
  /**
   * Longest time from the first byte of an event to its last; then the watch ends with a `TransportError`. 0 = none.
   * @default 30000
   */
  readonly eventTimeoutMs?: number;
  /** The timer of the stream's opener, which then also limits incomplete events. @default one of its own */
  readonly timer?: ElementTimer;
}

const defaultEventTimeoutMs = 30_000;

/** Takes the events of a watch. */
export interface WatchConsumer<T> {
  /** Called with each event, in order. What it throws ends the watch and goes to `onEnd`. */
  onEvent(event: WatchEvent<T>): void;
  /** Called once, last. Without `error` the server closed the stream as it regularly does, or `stop` was called. */
  onEnd(error?: unknown): void;
}

/**
 * The events of one watch (`watch.Interface`), decoded while the bytes come in. Read it once: by `for await`, which is
 * what ranging over `ResultChan` is in Go, or by `consume`. The request is sent by the first of these, or by `open`.
 *
 * What the server reports inside the stream is an `ERROR` event, and so is what cannot be decoded or breaks off in the
 * middle of an event; after such a one the stream ends. A lost connection is no event: reading fails with a
 * `TransportError`. A refused request fails with an `ApiError`. No piece of work blocks the event loop for more than about
 * 10 ms, a single huge object excepted. A reader that is slow slows the server down, which may then end the watch.
 */
export class WatchStream<T = KubeObject> implements AsyncIterable<WatchEvent<T>>, AsyncDisposable {
  readonly #reader: BodyReader<WatchEvent<T>, void>;
  #read = false;

  constructor(exchanger: NamedExchanger, options: WatchStreamOptions<T> = {}) {
    const decoder = transformed<WatchEvent<T>, void>(
      new WatchDecoder<T>({
        redact: redacting(exchanger),
        locate: (error) => apiErrorWithOrigin(error, exchanger),
        ...options,
      }),
      onObjects(options.transform),
    );
    const limitMs = options.eventTimeoutMs ?? defaultEventTimeoutMs;
    const incomplete = { limitMs, error: (bytes: number) => incompleteEvent(exchanger, bytes, limitMs) };
    this.#reader = new BodyReader(exchanger, decoder, { ...options, watch: true, incomplete });
  }

  /** Sends the request and resolves when the response has started; rejects if the server refuses. */
  async open(): Promise<this> {
    await this.#reader.open();
    return this;
  }

  /** Ends the watch (`Interface.Stop`): nothing more comes, and `for await` ends. May be called more than once. */
  stop(): void {
    this.#reader.stop();
  }

  /** Calls `consumer` with each event as it comes, without the cost of a promise for each. */
  consume(consumer: WatchConsumer<T>): void {
    this.#claim();
    void this.#reader
      .consume(consumer.onEvent.bind(consumer))
      .then((outcome) => ('error' in outcome ? consumer.onEnd(outcome.error) : consumer.onEnd()));
  }

  [Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>, void, undefined> {
    let claimed = false;
    return new ElementIterator<WatchEvent<T>>({
      take: () => (claimed ? this.#reader.take() : undefined),
      wait: async () => {
        if (!claimed) this.#claim();
        claimed = true;
        const next = await this.#reader.next();
        if ('error' in next) throw next.error;
        return 'element' in next ? next.element : undefined;
      },
      stop: () => claimed && this.stop(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  #claim(): void {
    if (this.#read) throw new TypeError('watch: a stream can be read once; send the request again for another reading');
    this.#read = true;
  }
}

/** Reads the answer to a WATCH request event by event; see {@link WatchStream}. */
export function watchStream<T = KubeObject>(
  exchanger: NamedExchanger,
  options?: WatchStreamOptions<T>,
): WatchStream<T> {
  return new WatchStream<T>(exchanger, options);
}

function incompleteEvent(exchanger: NamedExchanger, bytes: number, limitMs: number): TransportError {
  const origin = exchanger.origin?.();
  const what = origin === undefined ? 'watch' : describeRequest(origin.method, origin.url);
  return new TransportError(
    `${what}: an event was still incomplete after ${limitMs / 1_000} s, with ${bytes} bytes of it; taken for dead`,
    { kind: 'idle-timeout', requestSent: true },
  );
}

function onObjects<T>(
  transform: ((object: T) => T) | undefined,
): ((event: WatchEvent<T>) => WatchEvent<T>) | undefined {
  if (transform === undefined) return undefined;
  return (event) =>
    event.type === 'BOOKMARK' || event.type === 'ERROR' ? event : { ...event, object: transform(event.object) };
}
