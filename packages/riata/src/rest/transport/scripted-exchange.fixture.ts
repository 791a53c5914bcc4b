import type { Scheduler } from '../../runtime/time/clock.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { Exchanger, ExchangerOptions } from '../stream/body-reader.js';
import type { TransportFlow, TransportSink } from './transport.js';

/** A server in the test's hands. Chunks are overwritten after each call, as a transport may do. */
export class Script implements Exchanger, TransportFlow {
  sink: TransportSink | undefined;
  options: ExchangerOptions | undefined;
  paused = false;
  pauses = 0;
  aborted: unknown;
  /** What came while paused. */
  readonly held: string[] = [];

  exchange(sink: TransportSink, options: ExchangerOptions = {}): void {
    this.sink = sink;
    this.options = options;
    options.signal?.addEventListener('abort', () => this.abort(options.signal?.reason));
  }

  headers(): this {
    this.sink?.onHeaders(200, {}, this);
    return this;
  }

  send(text: string): void {
    const chunk = Buffer.from(text);
    this.sink?.onData(chunk);
    chunk.fill(0x58);
  }

  end(): void {
    this.sink?.onEnd();
  }

  pause(): void {
    this.paused = true;
    this.pauses++;
  }

  resume(): void {
    this.paused = false;
    while (!this.paused && this.held.length > 0) this.send(this.held.shift() as string);
  }

  abort(reason?: unknown): void {
    if (this.aborted !== undefined) return;
    this.aborted = reason;
    this.sink?.onError(reason);
  }
}

/** A clock on which every look takes `stepMs`, so that work lasts; counts the turns asked for. */
export function busyClock(stepMs: number): Scheduler & { turns: number } {
  let now = 0;
  const clock = new VirtualClock();
  return {
    turns: 0,
    now: () => clock.now(),
    monotonic: () => {
      now += stepMs;
      return now;
    },
    after: (ms, fn) => clock.after(ms, fn),
    sleep: (ms) => clock.sleep(ms),
    async yield() {
      this.turns++;
      await clock.yield();
    },
  };
}

/** An item of a list of Pods. */
export const item = (n: number) => `{"metadata":{"name":"p${n}"}}`;
