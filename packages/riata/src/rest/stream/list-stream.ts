import type { KubeList, KubeObject, ListMeta } from '../../object/meta.js';
import { counted } from '../errors/decode-error.js';
import { isTransportError, TransportError } from '../errors/transport-error.js';
import { BodyReader, type BodyReaderOptions } from './body-reader.js';
import { ElementIterator } from './element-iterator.js';
import { type ListDecodeOptions, ListDecoder, type ListEnd } from './list-decoder.js';
import { type NamedExchanger, redacting, withOrigin } from './stream-origin.js';
import { transformed } from './transformed.js';

/** How a list is read. */
export interface ListStreamOptions<T = KubeObject> extends ListDecodeOptions, BodyReaderOptions {
  /** Transforms each item before any reader sees it. @default none */
  readonly transform?: (item: T) => T;
}

/**
 * The items of one LIST answer, decoded one by one while the bytes come in; the body is never held as a whole. Read it
 * once, in one of three ways: `for await`, `consume` or `collect`. The request is sent by the first of these, or by `open`.
 *
 * `apiVersion` and `kind` are on every item. A body that breaks off or is no list fails with a `DecodeError`, a
 * lost connection with a `TransportError`, both after the items that came before and saying how many; a refusal with an
 * `ApiError`. No piece of work blocks the event loop for more than about 10 ms, a single huge object excepted. A reader that
 * is slow slows the server down.
 */
export class ListStream<T = KubeObject> implements AsyncIterable<T>, AsyncDisposable {
  readonly #exchanger: NamedExchanger;
  readonly #decoder: ListDecoder<T>;
  readonly #reader: BodyReader<T, ListEnd>;
  #read = false;
  #end: ListEnd | undefined;

  constructor(exchanger: NamedExchanger, options: ListStreamOptions<T> = {}) {
    this.#exchanger = exchanger;
    this.#decoder = new ListDecoder<T>({ redact: redacting(exchanger), ...options });
    this.#reader = new BodyReader(exchanger, transformed<T, ListEnd>(this.#decoder, options.transform), options);
  }

  /** The list's metadata as far as it is known: complete after the last item, before it if the server sent it first. */
  get metadata(): ListMeta | undefined {
    return this.#decoder.metadata;
  }

  /** Kind, metadata and number of items, once all of them were read. */
  get end(): ListEnd | undefined {
    return this.#end;
  }

  /** Sends the request and resolves when the response has started; rejects if the server refuses. */
  async open(): Promise<this> {
    await this.#reader.open();
    return this;
  }

  /** Ends the request. Nothing more comes; `for await` just ends, `consume` and `collect` reject. */
  stop(): void {
    this.#reader.stop();
  }

  /** Calls `onItem` with each item. Resolves when the list is complete; rejects with what `onItem` throws. */
  async consume(onItem: (item: T) => void): Promise<ListEnd> {
    this.#claim();
    const outcome = await this.#reader.consume(onItem);
    if ('error' in outcome) throw this.#located(outcome.error);
    if ('stopped' in outcome) throw new Error(`list: stopped after ${counted(this.#decoder.count, 'item')}`);
    this.#end = outcome.result;
    return outcome.result;
  }

  /** All items at once, as the server's list object. */
  async collect(): Promise<KubeList<T>> {
    const items: T[] = [];
    const { apiVersion, kind, metadata } = await this.consume((item) => {
      items.push(item);
    });
    return { apiVersion, kind, metadata, items };
  }

  [Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let claimed = false;
    return new ElementIterator<T>({
      take: () => (claimed ? this.#reader.take() : undefined),
      wait: async () => {
        if (!claimed) this.#claim();
        claimed = true;
        const next = await this.#reader.next();
        if ('element' in next) return next.element;
        if ('error' in next) throw this.#located(next.error);
        if ('result' in next) this.#end = next.result;
        return undefined;
      },
      stop: () => claimed && this.stop(),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  /** Adds how many items came before a connection broke; adds the request to errors from the body. */
  #located(error: unknown): unknown {
    if (!isTransportError(error)) return withOrigin(error, this.#exchanger);
    if (!this.#reader.answered) return error;
    const { message, kind, requestSent } = error;
    return new TransportError(`${message}; ${counted(this.#decoder.count, 'item')} came before`, {
      kind,
      requestSent,
      cause: error,
    });
  }

  #claim(): void {
    if (this.#read) throw new TypeError('list: a stream can be read once; send the request again for another reading');
    this.#read = true;
  }
}

/** Reads the answer to a LIST request item by item; see {@link ListStream}. */
export function listStream<T = KubeObject>(exchanger: NamedExchanger, options?: ListStreamOptions<T>): ListStream<T> {
  return new ListStream<T>(exchanger, options);
}
