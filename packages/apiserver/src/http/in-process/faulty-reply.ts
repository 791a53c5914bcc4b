import { Buffer } from 'node:buffer';
import type { Scheduler, Timer } from 'riata/runtime';
import type { Fault, FaultAnswer, FaultEvent, FaultPoint } from '../../faults.js';
import { statusOf } from '../../status/refusal.js';
import { type Reply, type ReplyHeaders, sendBytes } from '../reply.js';

/** More than this held back makes the server wait. */
const highWaterBytes = 256 * 1024;
const newline = 0x0a;

export interface FaultyReplyOptions {
  readonly clock: Scheduler;
  /** Whether the answer is made of events, one to a line. */
  readonly watch: boolean;
  /** Called with the error of a hook, to end the exchange with it. */
  readonly onError: (error: unknown) => void;
}

/**
 * The answer to a request with a {@link Fault}: the server's bytes are delayed, cut or lost on their way to `to`.
 * Delays run on the clock, and the order is kept.
 */
export class FaultyReply implements Reply {
  readonly #to: Reply;
  readonly #fault: Fault;
  readonly #clock: Scheduler;
  readonly #watch: boolean;
  readonly #onError: (error: unknown) => void;
  #started = false;
  #ended = false;
  /** Nothing passes any more: lost, cut or stalled. */
  #closed = false;
  #stalled = false;
  #bytes = 0;
  #events = 0;
  /** Bytes of an event whose end has not come. */
  #rest: Uint8Array | undefined;
  /** Delayed steps; their times never decrease. */
  #held: { readonly at: number; readonly step: () => void; readonly bytes: number }[] = [];
  #heldBytes = 0;
  #lastAt = 0;
  #timer: Timer | undefined;
  #waiting: (() => void)[] = [];

  constructor(to: Reply, fault: Fault, options: FaultyReplyOptions) {
    this.#to = to;
    this.#fault = fault;
    this.#clock = options.clock;
    this.#watch = options.watch;
    this.#onError = options.onError;
  }

  get started(): boolean {
    return this.#started;
  }

  get ended(): boolean {
    return this.#ended || this.#to.ended;
  }

  get bufferedBytes(): number {
    return this.#heldBytes + this.#to.bufferedBytes;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.#started || this.ended) return;
    this.#started = true;
    const { cut, stall, fail, answerDelayMs = 0 } = this.#fault;
    this.#pass(answerDelayMs, 0, () => {
      if (cut === 'answer') return this.#cut();
      if (stall === 'answer') return this.#stall();
      if (fail !== undefined) {
        this.#closed = true;
        return sendFault(this.#to, fail);
      }
      this.#to.head(status, headers);
      this.#break();
    });
  }

  write(bytes: Uint8Array): boolean {
    if (this.ended) return true;
    if (this.#watch) for (const event of this.#eventsIn(bytes)) this.#writeEvent(event);
    else this.#pass(0, bytes.length, () => this.#give(bytes));
    return this.bufferedBytes <= highWaterBytes;
  }

  end(): void {
    if (this.ended) return;
    this.#ended = true;
    this.#release();
    const rest = this.#rest;
    this.#pass(0, 0, () => {
      // The answer to a watch may be none, but a refusal.
      if (rest !== undefined) this.#give(rest);
      if (!this.#closed) this.#to.end();
    });
  }

  abort(): void {
    if (this.ended) return;
    this.#ended = true;
    this.#release();
    this.#pass(0, 0, () => this.#cut());
  }

  async drained(): Promise<void> {
    while (!this.ended && this.#heldBytes > highWaterBytes) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    await this.#to.drained();
  }

  /** Called when the exchange has ended. */
  close(): void {
    this.#closed = true;
    this.#ended = true;
    this.#timer?.cancel();
    this.#held = [];
    this.#heldBytes = 0;
    this.#release();
  }

  #writeEvent(bytes: Uint8Array): void {
    const number = ++this.#events;
    const delay = this.#delayOf(number, bytes);
    if (this.ended) return;
    this.#pass(delay, bytes.length, () => {
      this.#give(bytes);
      this.#break(number);
    });
  }

  /** An error in a hook goes to the client: the server may be in the middle of another client's write. */
  #delayOf(number: number, bytes: Uint8Array): number {
    const { eventDelayMs = 0 } = this.#fault;
    if (typeof eventDelayMs === 'number') return eventDelayMs;
    try {
      return eventDelayMs(eventOf(number, bytes));
    } catch (error) {
      this.#onError(error);
      return 0;
    }
  }

  /** Whole events; an incomplete one waits for its rest. */
  *#eventsIn(written: Uint8Array): Iterable<Uint8Array> {
    let bytes = this.#rest === undefined ? written : Buffer.concat([this.#rest, written]);
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline)) {
      yield bytes.subarray(0, end + 1);
      bytes = bytes.subarray(end + 1);
    }
    this.#rest = bytes.length === 0 ? undefined : bytes;
  }

  /** Runs a step after a delay, and not before earlier steps. */
  #pass(delayMs: number, bytes: number, step: () => void): void {
    const at = Math.max(this.#lastAt, this.#clock.monotonic() + delayMs);
    this.#lastAt = at;
    if (this.#held.length === 0 && at <= this.#clock.monotonic()) {
      step();
      return;
    }
    this.#held.push({ at, step, bytes });
    this.#heldBytes += bytes;
    if (this.#held.length === 1) this.#later();
  }

  #later(): void {
    const first = this.#held[0];
    if (first === undefined) return;
    this.#timer = this.#clock.after(first.at - this.#clock.monotonic(), () => this.#passDue());
  }

  #passDue(): void {
    const now = this.#clock.monotonic();
    while (this.#held[0] !== undefined && this.#held[0].at <= now) {
      const { step, bytes } = this.#held.shift()!;
      this.#heldBytes -= bytes;
      step();
    }
    if (this.#heldBytes <= highWaterBytes) this.#release();
    this.#later();
  }

  #give(bytes: Uint8Array): void {
    if (this.#stalled) this.#heldBytes += bytes.length;
    if (this.#closed) return;
    const left = this.#bytesLeft() - this.#bytes;
    this.#bytes += bytes.length;
    this.#to.write(bytes.length > left ? bytes.subarray(0, left) : bytes);
    if (bytes.length >= left) this.#break();
  }

  /** How many bytes may pass at all. */
  #bytesLeft(): number {
    const limit = (point: FaultPoint | undefined) =>
      typeof point === 'object' && 'afterBytes' in point ? point.afterBytes : Number.POSITIVE_INFINITY;
    return Math.min(limit(this.#fault.cut), limit(this.#fault.stall));
  }

  /** Breaks off where the fault says so. */
  #break(events = 0): void {
    const reached = (point: FaultPoint | undefined): boolean => {
      if (typeof point !== 'object' || this.#closed) return false;
      if ('afterBytes' in point) return this.#bytes >= point.afterBytes;
      return this.#watch && events >= point.afterEvents;
    };
    if (reached(this.#fault.cut)) this.#cut();
    else if (reached(this.#fault.stall)) this.#stall();
  }

  #cut(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ended = true;
    this.#to.abort();
  }

  /** The server continues to write until it notices that the client has gone. */
  #stall(): void {
    this.#closed = true;
    this.#stalled = true;
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Answers with a Status that was made up. */
function sendFault(reply: Reply, { code, reason = '', message, retryAfterSeconds }: FaultAnswer): void {
  const details = retryAfterSeconds === undefined ? undefined : { retryAfterSeconds };
  const status = statusOf('Failure', code, reason, message ?? `a fault made on purpose: ${code}`, details);
  const after: ReplyHeaders = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private', ...after };
  sendBytes(reply, code, headers, Buffer.from(JSON.stringify(status)));
}

function eventOf(number: number, bytes: Uint8Array): FaultEvent {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return {
    number,
    type: /^\{"type":"([A-Z]+)"/.exec(text)?.[1] ?? '',
    get object() {
      return (JSON.parse(text) as { readonly object: unknown }).object;
    },
  };
}
