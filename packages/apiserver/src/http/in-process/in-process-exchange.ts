import type { Duplex } from 'node:stream';
import { onAbort, type Random, type Scheduler, type Timer } from 'riata/runtime';
import type { Reply, ReplyHeaders } from '../reply.js';
import { InProcessError, type InProcessErrorKind } from './in-process-error.js';
import type { TransportFlow, TransportRequest, TransportSink } from './transport.js';
import { UpgradedDuplex } from './upgraded-duplex.js';

/** More than this on its way to a client makes the server wait. */
const highWaterBytes = 256 * 1024;

type Step =
  | { readonly head: { readonly status: number; readonly headers: ReplyHeaders } }
  | { readonly bytes: Uint8Array }
  | { readonly end: 'complete' | 'broken' };

/**
 * One request and its answer, seen from the server as a {@link Reply}. The server's bytes are buffered here and passed
 * to the client in turns of the event loop, in order.
 */
export class InProcessExchange implements Reply {
  readonly #request: TransportRequest;
  readonly #sink: TransportSink;
  readonly #clock: Scheduler;
  readonly #cuts: Random | undefined;
  readonly #onDone: () => void;
  readonly #gone = new AbortController();
  #steps: Step[] = [];
  #bufferedBytes = 0;
  #started = false;
  #ended = false;
  #done = false;
  #paused = false;
  /** There while a turn is coming in which steps are handed over. */
  #underWay: Disposable | undefined;
  #waiting: (() => void)[] = [];
  #limit: Timer | undefined;
  #abortListener: Disposable | undefined;
  #upgraded: UpgradedDuplex | undefined;

  constructor(
    request: TransportRequest,
    sink: TransportSink,
    options: { readonly clock: Scheduler; readonly cuts?: Random },
    onDone: () => void,
  ) {
    this.#request = request;
    this.#sink = sink;
    this.#clock = options.clock;
    this.#cuts = options.cuts;
    this.#onDone = onDone;
  }

  /** Aborts when the client does not wait for the answer any more. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Begins to listen to the client. False when it has already given up. */
  start(): boolean {
    const { signal, headersTimeoutMs = 0 } = this.#request;
    this.#abortListener = onAbort(signal, () => this.#finish(signal?.reason));
    if (this.#done) return false;
    this.#limitTo(headersTimeoutMs, 'headers-timeout', `no response within ${headersTimeoutMs} ms`);
    return true;
  }

  /** Ends the exchange with an error for the client. */
  fail(kind: InProcessErrorKind, what: string, requestSent = true): void {
    const { method, path } = this.#request;
    this.#finish(new InProcessError(`${method} ${path.split('?', 1)[0]}: ${what}`, kind, requestSent));
  }

  /** Ends the exchange with this very error for the client. */
  break(error: unknown): void {
    this.#finish(error);
  }

  get started(): boolean {
    return this.#started;
  }

  get ended(): boolean {
    return this.#ended || this.#done;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.#started) return;
    this.#started = true;
    this.#queue({ head: { status, headers } });
  }

  write(bytes: Uint8Array): boolean {
    if (this.ended) return true;
    this.#bufferedBytes += bytes.length;
    this.#queue({ bytes });
    return this.#bufferedBytes <= highWaterBytes;
  }

  end(): void {
    if (this.ended) return;
    this.#ended = true;
    this.#queue({ end: 'complete' });
  }

  abort(): void {
    if (this.ended) return;
    this.#ended = true;
    this.#queue({ end: 'broken' });
  }

  drained(): Promise<void> {
    if (this.#done || this.#bufferedBytes <= highWaterBytes) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Takes the connection over for another protocol. The server's side of it; the client's is the flow. */
  upgrade(): Duplex {
    this.#upgraded = new UpgradedDuplex({
      head: (status, headers) => this.head(status, headers),
      write: (bytes) => this.write(Uint8Array.from(bytes)),
      drained: () => this.drained(),
      end: () => this.end(),
      abort: () => this.abort(),
      onDrain: () => {
        if (!this.#done) this.#sink.onDrain?.();
      },
    });
    return this.#upgraded;
  }

  readonly #flow: TransportFlow = {
    write: (bytes) => this.#upgraded?.takeBytes(Uint8Array.from(bytes)) ?? true,
    endWriting: () => this.#upgraded?.takeEnd(),
    pause: () => {
      this.#paused = true;
      this.#limit?.cancel();
    },
    resume: () => {
      if (!this.#paused) return;
      this.#paused = false;
      this.#limitIdle();
      this.#handOver();
    },
    abort: (reason) => {
      if (reason === undefined) this.fail('aborted', 'aborted');
      else this.#finish(reason);
    },
  };

  #queue(step: Step): void {
    if (this.#done) return;
    this.#steps.push(step);
    this.#handOver();
  }

  /** Sees to it that what waits is handed over in a turn of its own. */
  #handOver(): void {
    if (this.#underWay !== undefined || this.#paused || this.#done || this.#steps.length === 0) return;
    this.#underWay = track(this.#clock);
    void this.#clock.yield().then(() => this.#turn());
  }

  #turn(): void {
    try {
      // A callback of the client may pause or end the exchange, or make the server write more.
      while (!this.#paused && !this.#done) {
        const step = this.#steps.shift();
        if (step === undefined) break;
        this.#give(step);
      }
    } catch (error) {
      this.#finish(error);
    }
    this.#underWay?.[Symbol.dispose]();
    this.#underWay = undefined;
    this.#handOver();
  }

  #give(step: Step): void {
    if ('head' in step) {
      const { status, headers } = step.head;
      this.#limitIdle();
      this.#sink.onHeaders(status, copyHeaders(headers), this.#flow);
    } else if ('bytes' in step) {
      this.#giveBytes(step.bytes);
    } else if (step.end === 'broken') {
      this.fail('reset', 'the server has broken the answer off');
    } else {
      this.#close();
      this.#sink.onEnd();
    }
  }

  #giveBytes(bytes: Uint8Array): void {
    const length = this.#cuts === undefined ? bytes.length : pieceLength(this.#cuts, bytes.length);
    // A copy of its own for the client: nothing is shared.
    const piece = bytes.slice(0, length);
    if (length < bytes.length) this.#steps.unshift({ bytes: bytes.subarray(length) });
    this.#bufferedBytes -= length;
    if (this.#bufferedBytes <= highWaterBytes) this.#release();
    this.#limitIdle();
    if (length > 0) this.#sink.onData(piece);
  }

  #limitIdle(): void {
    const { idleTimeoutMs = 0 } = this.#request;
    this.#limitTo(idleTimeoutMs, 'idle-timeout', `nothing came for ${idleTimeoutMs} ms`);
  }

  #limitTo(ms: number, kind: InProcessErrorKind, what: string): void {
    this.#limit?.cancel();
    if (ms > 0 && !this.#done) this.#limit = this.#clock.after(ms, () => this.fail(kind, what), { background: true });
  }

  #finish(error: unknown): void {
    if (this.#done) return;
    this.#close();
    this.#upgraded?.destroy();
    this.#gone.abort(error);
    this.#sink.onError(error);
  }

  #close(): void {
    this.#done = true;
    this.#steps = [];
    this.#bufferedBytes = 0;
    this.#limit?.cancel();
    this.#abortListener?.[Symbol.dispose]();
    this.#release();
    this.#onDone();
  }

  #release(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** A virtual clock must know of work in flight; other clocks don't track it. */
function track(clock: Scheduler & { track?(what: string): Disposable }): Disposable {
  return clock.track?.('bytes of an in-process answer') ?? { [Symbol.dispose]() {} };
}

/** Short pieces are as likely as long ones. */
function pieceLength(random: Random, length: number): number {
  return length === 0 ? 0 : random.int(1, random.next() < 0.5 ? Math.min(length, 8) : length);
}

function copyHeaders(headers: ReplyHeaders): ReplyHeaders {
  const copied: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) copied[name] = typeof value === 'string' ? value : [...value];
  return copied;
}
