import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { Random, Timer } from 'riata/runtime';
import { systemClock } from 'riata/runtime';
import { longestStallMs, type Mischief } from './faulty-network.js';
import { resetSocket } from './reset-socket.js';

const newline = 0x0a;

/** One request through a gateway, and its answer. */
export class Exchange {
  readonly isWatch: boolean;
  readonly #near: IncomingMessage;
  readonly #answer: ServerResponse;
  readonly #onEnd: () => void;
  readonly #timers = new Set<Timer>();
  #far: ClientRequest | undefined;
  #isOver = false;
  #isStalled = false;
  #isLost = false;
  /** What came to be late. */
  #late: (() => void)[] | undefined;
  /** After so many bytes of the answer, `#then` is done. */
  #left = Number.POSITIVE_INFINITY;
  #then: () => void = () => {};
  /** What is put into a watch after the next whole event. */
  #event: string | undefined;

  constructor(near: IncomingMessage, answer: ServerResponse, isWatch: boolean, onEnd: () => void) {
    this.#near = near;
    this.#answer = answer;
    this.isWatch = isWatch;
    this.#onEnd = onEnd;
    near.on('error', () => this.end());
    answer.on('error', () => this.end()).on('close', () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  suffer(what: Mischief, random: Random): void {
    if (what === 'reset') this.#reset();
    else if (what === 'stall') {
      this.swallow(random.int(0, 3_000));
      this.#after(random.int(100, longestStallMs), () => this.end());
    } else if (what === 'truncate') this.#cutAfter(random.int(0, 3_000), () => this.end());
    // In the middle of something or not: the reader of the body sees a proper end.
    else if (what === 'close') this.#cutAfter(random.int(0, 3_000), () => this.#answer.end());
    else if (what === 'lose') this.#isLost = true;
    else if (what === 'event 410') this.#event = errorEvent(410);
    else if (what === 'event 500') this.#event = errorEvent(500);
    else if (what === 'delay' && this.#late === undefined) {
      this.#late = [];
      this.#after(random.int(1, 300), () => {
        const late = this.#late ?? [];
        this.#late = undefined;
        for (const pass of late) pass();
      });
    }
  }

  /** Nothing comes through any more, at once or after some bytes of the answer, without an error. */
  swallow(bytes?: number): void {
    if (bytes === undefined) this.#isStalled = true;
    else this.#cutAfter(bytes, () => {});
  }

  forward(far: ClientRequest): void {
    this.#far = far;
    far.on('error', () => this.#when(() => this.end()));
    far.on('response', (response) => {
      if (this.#isLost) {
        this.#reset();
        return;
      }
      this.#when(() => {
        this.#answer.writeHead(response.statusCode ?? 502, withoutHops(response.headers));
        this.#answer.flushHeaders();
      });
      response.on('data', (bytes: Buffer) => this.#when(() => this.#pass(bytes)));
      response.on('end', () => this.#when(() => this.#answer.end()));
      response.on('error', () => this.#when(() => this.end()));
    });
    this.#near.pipe(far);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    // A write in flight is done all the same: the server has all of it.
    if (this.isWatch || this.#near.method === 'GET') this.#far?.destroy();
    if (!this.#answer.writableFinished) this.#answer.destroy();
    this.#onEnd();
  }

  /** Now, later, or never. */
  #when(pass: () => void): void {
    if (this.#isOver || this.#isStalled) return;
    if (this.#late !== undefined) this.#late.push(() => this.#when(pass));
    else pass();
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > this.#left) {
      this.#answer.write(bytes.subarray(0, this.#left));
      this.#then();
      this.#isStalled = true;
      return;
    }
    this.#left -= bytes.length;
    this.#answer.write(bytes);
    if (this.#event === undefined || bytes.at(-1) !== newline) return;
    this.#answer.end(this.#event);
    this.#isStalled = true;
  }

  #cutAfter(bytes: number, then: () => void): void {
    this.#left = Math.min(this.#left, bytes);
    this.#then = then;
  }

  #reset(): void {
    resetSocket(this.#near.socket);
    this.end();
  }

  #after(ms: number, fn: () => void): void {
    const timer = systemClock.after(ms, () => {
      this.#timers.delete(timer);
      fn();
    });
    this.#timers.add(timer);
  }
}

const reasons: Readonly<Record<number, string>> = { 410: 'Expired', 429: 'TooManyRequests', 500: 'InternalError' };

/** What a server says that is not well. */
export function statusOf(code: number): object {
  const reason = reasons[code] ?? 'Unknown';
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: 'made up', reason, code };
}

/** The same, as the last line of a watch. */
function errorEvent(code: number): string {
  return `${JSON.stringify({ type: 'ERROR', object: statusOf(code) })}\n`;
}

function withoutHops(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  const { connection: _, 'keep-alive': __, 'transfer-encoding': ___, ...rest } = headers;
  return rest;
}
