import { type LinkedSignal, link } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import { TimeSlice } from '../../runtime/time/time-slice.js';
import type { ResponseHeaders, TransportFlow, TransportSink } from '../transport/transport.js';
import { type ElementTimer, StreamTimer } from './stream-timer.js';

/** How an {@link Exchanger} sends. */
export interface ExchangerOptions {
  readonly signal?: AbortSignal;
  /** The answer has no end. */
  readonly watch?: boolean;
  readonly headersTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
}

/** A request that can be sent, e.g. a `RestRequest`: calls the sink as a transport does, for answers of success only. */
export interface Exchanger {
  exchange(sink: TransportSink, options?: ExchangerOptions): unknown;
}

/** Options of all readers of a body. */
export interface BodyReaderOptions {
  /** Aborting ends the request; reading then fails with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Slices the work by this clock. @default systemClock */
  readonly clock?: Scheduler;
  /** Longest wait for the answer to begin. 0 = none. @default the transport's own */
  readonly headersTimeoutMs?: number;
  /** Longest silence between two pieces of the body. 0 = none. @default the transport's own */
  readonly idleTimeoutMs?: number;
}

/** Turns the bytes of a body into elements; see `ListDecoder` and `WatchDecoder`. */
export interface BodyDecoder<E, R> {
  /** True when nothing more can come out of it, whatever further bytes say. */
  readonly failed: boolean;
  /** Bytes of an incomplete element, where that is known. */
  readonly incompleteBytes?: number;
  /** Takes a copy of the chunk. */
  push(chunk: Uint8Array): void;
  next(): E | undefined;
  /** No more bytes come, for whatever reason; elements may follow. */
  flush(): void;
  /** Says what there is to say at the end, or throws; elements may follow. */
  finish(): R;
}

/** How long an element may take from its first byte to its last. */
export interface IncompleteLimit {
  readonly limitMs: number;
  /** The error after that time, with so many bytes of the element. */
  readonly error: (bytes: number) => unknown;
}

/** What a {@link BodyReader} works with, beside its options. */
export interface BodyReaderParts {
  /** The answer has no end. */
  readonly watch?: boolean;
  readonly incomplete?: IncompleteLimit;
  /** The timer of the stream's opener. @default one of its own */
  readonly timer?: ElementTimer;
}

/** Received but not yet decoded bytes, past which the server has to wait. */
const HIGH_WATER = 256 * 1024;

/**
 * Why no data is let in. `no-reader`: only `open` was called. `turn`: the slice is over, until the event loop has turned.
 * `backlog`: there are elements that the reader has not taken.
 */
type Hold = 'no-reader' | 'turn' | 'backlog';

type Outcome<R> = { readonly result: R } | { readonly error: unknown } | { readonly stopped: true };

/**
 * Moves a body from an exchange through a decoder to one reader, who either is called with each element (`consume`) or
 * asks for each (`next`). Work is cut into slices, and the flow is paused while elements wait: for the event loop's next
 * turn, or for a slow reader.
 */
export class BodyReader<E, R> implements TransportSink {
  readonly #exchanger: Exchanger;
  readonly #decoder: BodyDecoder<E, R>;
  readonly #scope: LinkedSignal;
  readonly #slice: TimeSlice;
  readonly #options: ExchangerOptions;
  readonly #incomplete: IncompleteLimit | undefined;
  /** Knows for how long the decoder holds a part of an element. */
  readonly #timer: ElementTimer;
  readonly #ownTimer: StreamTimer | undefined;
  #started = false;
  #flow: TransportFlow | undefined;
  /** Why the flow is paused, if it is. */
  #hold: Hold | undefined = 'no-reader';
  /** Bytes that came since the decoder had no more elements. */
  #unread = 0;
  /** How the exchange ended, if it did. */
  #exchangeEnd: { readonly error?: unknown } | undefined;
  #flushed = false;
  #finished: { readonly result: R } | undefined;
  #outcome: Outcome<R> | undefined;
  /** Set by `consume`. */
  #onElement: ((element: E) => void) | undefined;
  #wakes: (() => void)[] = [];

  constructor(exchanger: Exchanger, decoder: BodyDecoder<E, R>, options: BodyReaderOptions & BodyReaderParts = {}) {
    const { signal, clock = systemClock, watch = false, headersTimeoutMs, idleTimeoutMs } = options;
    this.#exchanger = exchanger;
    this.#decoder = decoder;
    this.#slice = TimeSlice.of(clock);
    this.#scope = link(signal);
    this.#incomplete = options.incomplete;
    this.#ownTimer = options.timer === undefined ? new StreamTimer(clock) : undefined;
    this.#timer = options.timer ?? (this.#ownTimer as StreamTimer);
    this.#options = {
      signal: this.#scope.signal,
      watch,
      ...(headersTimeoutMs !== undefined && { headersTimeoutMs }),
      ...(idleTimeoutMs !== undefined && { idleTimeoutMs }),
    };
  }

  /** Whether the response has started. */
  get answered(): boolean {
    return this.#flow !== undefined;
  }

  /** Sends the request, once, and resolves when the response has started; rejects if none comes. */
  async open(): Promise<void> {
    this.#start();
    while (!this.#flow && !this.#exchangeEnd && !this.#outcome) await this.#change();
    if (this.#flow) return;
    const outcome = this.#outcome ?? this.#exchangeEnd;
    if (outcome && 'error' in outcome) throw outcome.error;
  }

  /** Hands every element to `onElement`. Rejects with what it throws, after ending the exchange. */
  async consume(onElement: (element: E) => void): Promise<Outcome<R>> {
    this.#onElement = onElement;
    this.#read();
    if (this.#flow || this.#exchangeEnd) this.#advance();
    while (!this.#outcome) await this.#change();
    return this.#outcome;
  }

  /** The next element, if it is there and no turn of the event loop is due. Nothing before the first `next`. */
  take(): E | undefined {
    if (this.#outcome || this.#hold === 'no-reader' || this.#slice.isSpent) return undefined;
    const entered = this.#slice.enter();
    const element = this.#pull();
    this.#slice.leave(entered);
    return element;
  }

  /** The next element, or how it all ended. */
  async next(): Promise<{ readonly element: E } | Outcome<R>> {
    this.#read();
    for (;;) {
      if (this.#outcome) return this.#outcome;
      const entered = this.#slice.enter();
      const element = this.#pull();
      this.#slice.leave(entered);
      if (element !== undefined) {
        if (this.#slice.isSpent) await this.#slice.wait();
        return { element };
      }
      if (!this.#outcome) await this.#change();
    }
  }

  /** Ends the exchange, if it has not ended. */
  stop(): void {
    this.#settle({ stopped: true });
  }

  onHeaders(_status: number, _headers: ResponseHeaders, flow: TransportFlow): void {
    this.#flow = flow;
    if (this.#outcome) flow.abort();
    else if (this.#hold) flow.pause();
    this.#wake();
  }

  onData(chunk: Uint8Array): void {
    if (this.#outcome) return;
    this.#decoder.push(chunk);
    this.#unread += chunk.length;
    if (this.#onElement && this.#hold !== 'turn') this.#advance();
    else {
      if (this.#unread > HIGH_WATER) this.#pause('backlog');
      this.#wake();
    }
  }

  onEnd(): void {
    this.#endExchange({});
  }

  onError(error: unknown): void {
    if (this.#scope.signal.aborted) this.#settle({ error: this.#scope.signal.reason });
    else this.#endExchange({ error });
  }

  /** The stream has a reader from now on. */
  #read(): void {
    if (this.#hold === 'no-reader') this.#hold = this.#flow && 'backlog';
    this.#start();
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#exchanger.exchange(this, this.#options);
  }

  #endExchange(end: { readonly error?: unknown }): void {
    if (this.#exchangeEnd || this.#outcome) return;
    this.#exchangeEnd = end;
    // Without a response there is no reader that would release the signal later.
    if (!this.#flow && 'error' in end) this.#settle({ error: end.error });
    if (this.#onElement && this.#hold !== 'turn') this.#advance();
    this.#wake();
  }

  /** Called with each element: goes as far as it can before the slice is over. */
  #advance(): void {
    const entered = this.#slice.enter();
    try {
      while (!this.#outcome) {
        const element = this.#pull();
        if (element === undefined) break;
        this.#onElement?.(element);
        if (this.#slice.isOver(entered)) {
          this.#pause('turn');
          void this.#slice.wait().then(() => {
            this.#hold = 'backlog';
            this.#advance();
          });
          break;
        }
      }
    } catch (error) {
      this.#settle({ error });
    }
    this.#slice.leave(entered);
  }

  /** The next element that is there; else lets the flow go on, or settles. */
  #pull(): E | undefined {
    try {
      for (;;) {
        const element = this.#decoder.next();
        if (element !== undefined) {
          this.#timer.whole();
          return element;
        }
        if (this.#decoder.failed) {
          this.#settle({ result: this.#decoder.finish() });
          return undefined;
        }
        this.#unread = 0;
        if (this.#finished) {
          this.#settle(this.#finished);
          return undefined;
        } else if (this.#exchangeEnd === undefined) {
          this.#noteIncomplete();
          this.#resume();
          // A flow may hand out at once what it held back, the end too; and that may have ended the slice.
          if (this.#hold === 'turn' || (this.#unread === 0 && this.#exchangeEnd === undefined)) return undefined;
        } else if (!this.#flushed) {
          this.#flushed = true;
          this.#decoder.flush();
        } else if ('error' in this.#exchangeEnd) {
          this.#settle({ error: this.#exchangeEnd.error });
          return undefined;
        } else this.#finished = { result: this.#decoder.finish() };
      }
    } catch (error) {
      this.#settle({ error });
      return undefined;
    }
  }

  #noteIncomplete(): void {
    if (this.#incomplete === undefined) return;
    if ((this.#decoder.incompleteBytes ?? 0) > 0) this.#timer.part(this.#incomplete.limitMs, this.#giveUpIncomplete);
    else this.#timer.whole();
  }

  readonly #giveUpIncomplete = (): void => {
    if (this.#incomplete === undefined || this.#exchangeEnd) return;
    // The rest may have come: the reader is slow, not the server.
    if (this.#unread > 0 || this.#hold) this.#timer.part(this.#incomplete.limitMs, this.#giveUpIncomplete);
    else this.#settle({ error: this.#incomplete.error(this.#decoder.incompleteBytes ?? 0) });
  };

  #settle(outcome: Outcome<R>): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    this.#timer.whole();
    this.#ownTimer?.[Symbol.dispose]();
    if (!this.#exchangeEnd) {
      const reason = 'error' in outcome ? outcome.error : new Error('the stream was stopped by its reader');
      if (this.#flow) this.#flow.abort(reason);
      else if (this.#started) this.#scope.abort(reason);
    }
    this.#scope[Symbol.dispose]();
    this.#wake();
  }

  #pause(hold: Hold): void {
    const isPaused = this.#hold !== undefined;
    this.#hold = hold;
    if (!isPaused) this.#flow?.pause();
  }

  #resume(): void {
    if (this.#hold === undefined) return;
    this.#hold = undefined;
    this.#flow?.resume();
  }

  /** Resolves when anything has happened. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#wakes.push(resolve));
  }

  #wake(): void {
    for (const wake of this.#wakes.splice(0)) wake();
  }
}
