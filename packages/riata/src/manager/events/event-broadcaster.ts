import { hostname } from 'node:os';
import { type Duration, durationMs } from '../../object/duration.js';
import type { Counter } from '../../runtime/metrics.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { Shutdown, Timeout } from '../../runtime/stop-reasons.js';
import type { Timer } from '../../runtime/time/clock.js';
import { type CorrelatorOptions, EventCorrelator } from './event-correlator.js';
import { EventNames, type EventNotice, type EventSubject, referenceOf } from './event-notice.js';
import type { EventInput, EventRecorder } from './event-recorder.js';
import { EventSeriesKeeper } from './event-series-keeper.js';
import { type EventClient, EventSink } from './event-sink.js';
import type { EventWrite } from './event-write.js';

/** Options of an {@link EventBroadcaster}. */
export interface EventBroadcasterOptions {
  /**
   * As which Events: `v1` counts and combines what is alike, message included (`record`); `events.k8s.io/v1` keeps series,
   * with the message of the first (`events`). @default 'v1'
   */
  readonly api?: 'v1' | 'events.k8s.io/v1';
  /** Who of several replicas says so. @default the name of the host */
  readonly instance?: string;
  /** Of `v1`. @default as client-go */
  readonly correlator?: CorrelatorOptions;
  /** Events that may wait; further ones are dropped. @default 1000 */
  readonly queueSize?: number;
  /** How long what waits may take to be written when it ends. @default '5s' */
  readonly flushTimeout?: Duration;
  readonly runtime?: Partial<Runtime>;
}

export const eventBroadcasterOptionNames = optionNames<EventBroadcasterOptions>({
  api: true,
  instance: true,
  correlator: true,
  queueSize: true,
  flushTimeout: true,
  runtime: true,
});

const finishMs = 360_000;
const refreshMs = 1_800_000;

/**
 * Owns the queue of events to write (`record.EventBroadcaster`, `events.EventBroadcaster`), and creates recorders.
 * Writes one event after the other while it runs; transient failures are retried up to 12 times within two minutes,
 * while the others wait. When it is stopped, it tries each pending event one last time, within `flushTimeout`.
 */
export class EventBroadcaster implements AsyncDisposable {
  readonly name = 'events';
  readonly #runtime: Runtime;
  readonly #instance: string;
  readonly #queueSize: number;
  readonly #flushMs: number;
  readonly #sink: EventSink;
  readonly #correlator: EventCorrelator | undefined;
  readonly #series: EventSeriesKeeper | undefined;
  readonly #results: Counter<'result'>;
  readonly #stopping = new AbortController();
  readonly #deadline = new AbortController();
  readonly #timers: Timer[] = [];
  /** Recorded events that are not processed yet. */
  readonly #notices: EventNotice[] = [];
  /** Writes that no notice caused: series that are reported again, or end. */
  readonly #writes: EventWrite[] = [];
  #dropped = 0;
  #wake: () => void = () => {};
  #work: Promise<void> | undefined;

  constructor(client: EventClient, options: EventBroadcasterOptions = {}) {
    refuseUnknownOptions('EventBroadcaster', options, eventBroadcasterOptionNames);
    const { api = 'v1', queueSize = 1000 } = options;
    if (api !== 'v1' && api !== 'events.k8s.io/v1') {
      throw new TypeError(`EventBroadcaster: api must be "v1" or "events.k8s.io/v1", got ${JSON.stringify(api)}`);
    }
    if (!(queueSize >= 1)) throw new RangeError(`EventBroadcaster: queueSize must be ≥ 1, got ${queueSize}`);
    this.#runtime = resolveRuntime(options.runtime);
    const { clock, random, metrics } = this.#runtime;
    this.#instance = options.instance ?? hostname();
    this.#queueSize = queueSize;
    this.#flushMs = durationMs(options.flushTimeout ?? '5s', 'EventBroadcaster: flushTimeout');
    this.#sink = new EventSink(client, this.#runtime);
    const names = new EventNames(random);
    if (api === 'v1') this.#correlator = new EventCorrelator(clock, names, options.correlator);
    else this.#series = new EventSeriesKeeper(names, { finishMs, remembered: options.correlator?.remembered });
    this.#results = metrics.counter({
      name: 'riata_events_total',
      help: 'Events that were recorded, by outcome.',
      labels: ['result'],
    });
  }

  /** A recorder for one component: it is the source that the Events name (`NewRecorder`). At any time. */
  recorder(component: string): EventRecorder {
    return { event: (object, event) => this.#record(component, object, event) };
  }

  /** Writes until the signal aborts, and then what waits; resolves when that is done (`StartRecordingToSink`). */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    using _stop = onAbort(signal, () => this.#stop());
    await this.#start();
  }

  /**
   * Stops it as an abort of `run` does (`Shutdown`). If it never ran, pending events are written. May be called again.
   */
  async close(): Promise<void> {
    this.#stop();
    await this.#start();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #record(component: string, object: EventSubject, event: EventInput): void {
    const { clock, log } = this.#runtime;
    try {
      const { type, reason, message } = event;
      if (type !== 'Normal' && type !== 'Warning') throw new TypeError(`type must be Normal or Warning, got ${type}`);
      if (typeof reason !== 'string' || reason === '')
        throw new TypeError(`reason must be one word, got ${String(reason) || 'none'}`);
      if (typeof message !== 'string') throw new TypeError(`message must be a string, got ${typeof message}`);
      const { fieldPath } = event;
      const regarding = { ...referenceOf(object), ...(fieldPath && { fieldPath }) };
      log.debug('event', { component, type, reason, message, object: regarding });
      const related = event.related && referenceOf(event.related);
      this.#queue({
        ...{ type, reason, message, action: event.action, annotations: event.annotations, regarding, related },
        ...{ component, instance: this.#instance, atMs: clock.now() },
      });
    } catch (error) {
      this.#unfit(component, ((event ?? {}) as Partial<EventInput>).reason, error);
    }
  }

  #queue(notice: EventNotice): void {
    const { component, reason } = notice;
    const { log } = this.#runtime;
    if (this.#stopping.signal.aborted) {
      this.#count('dropped');
      log.debug('event dropped, recording has ended', { component, reason });
    } else if (this.#notices.length < this.#queueSize) {
      this.#notices.push(notice);
      this.#wake();
    } else {
      this.#count('dropped');
      this.#dropped += 1;
      if (this.#dropped === 1) log.warn('dropping events, too many wait to be written', { component, reason });
    }
  }

  #start(): Promise<void> {
    this.#work ??= this.#run();
    return this.#work;
  }

  #stop(): void {
    if (this.#stopping.signal.aborted) return;
    const { clock } = this.#runtime;
    this.#timers.push(
      clock.after(this.#flushMs, () => this.#deadline.abort(new Timeout('events: flushTimeout is over')), {
        background: true,
      }),
    );
    this.#stopping.abort(new Shutdown('events are recorded no more'));
    this.#wake();
  }

  async #run(): Promise<void> {
    const series = this.#series;
    const { clock, log } = this.#runtime;
    if (series !== undefined) {
      this.#every(finishMs, () => series.finish(clock.now()));
      this.#every(refreshMs, () => series.refresh());
    }
    try {
      while (await this.#next()) await this.#writeNext();
      let lost = 0;
      for (const write of series?.flush() ?? []) if ((await this.#write(write)) === 'failed') lost += 1;
      if (this.#deadline.signal.aborted) {
        const left = this.#notices.length + this.#writes.length;
        this.#results.with({ result: 'failed' }).inc(left);
        lost += left;
      }
      if (lost > 0) log.warn('events lost, there was no time to write them', { lost });
    } finally {
      this.#stop();
      for (const timer of this.#timers) timer.cancel();
    }
  }

  /** Resolves to true when there is something to write, to false when there will be nothing more. */
  async #next(): Promise<boolean> {
    while (!this.#deadline.signal.aborted) {
      if (this.#notices.length + this.#writes.length > 0) return true;
      if (this.#stopping.signal.aborted) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return false;
  }

  async #writeNext(): Promise<void> {
    const own = this.#writes.shift();
    if (own !== undefined) {
      await this.#write(own);
      return;
    }
    const notice = this.#notices.shift() as EventNotice;
    this.#reportDropped();
    const writes = this.#writesOf(notice);
    if (writes === undefined) return;
    if (writes.length === 0) this.#count(this.#series === undefined ? 'spam' : 'counted');
    for (const each of writes) await this.#write(each);
  }

  /** Undefined if it is such that nothing can be made of it: no reason to write no others. */
  #writesOf(notice: EventNotice): readonly EventWrite[] | undefined {
    try {
      const write = this.#correlator?.correlate(notice);
      return this.#series?.observe(notice) ?? (write ? [write] : []);
    } catch (error) {
      this.#unfit(notice.component, notice.reason, error);
      return undefined;
    }
  }

  #unfit(component: string, reason: string | undefined, error: unknown): void {
    this.#count('invalid');
    this.#runtime.log.error('cannot record an event', { component, reason, error });
  }

  async #write(write: EventWrite) {
    const signals = { stopping: this.#stopping.signal, deadline: this.#deadline.signal };
    const outcome = await this.#sink.write(write, signals);
    this.#count(outcome);
    return outcome;
  }

  #reportDropped(): void {
    // Not before there is room again: otherwise it would be logged for each dropped event.
    if (this.#dropped === 0 || this.#notices.length > this.#queueSize / 2) return;
    this.#runtime.log.warn('events dropped, too many waited to be written', { dropped: this.#dropped });
    this.#dropped = 0;
  }

  #every(ms: number, task: () => EventWrite[]): void {
    const { clock } = this.#runtime;
    const at = this.#timers.length;
    const again = () => {
      if (this.#stopping.signal.aborted) return;
      // While the server takes nothing, the next time will do.
      if (this.#writes.length < this.#queueSize) this.#writes.push(...task());
      this.#wake();
      this.#timers[at] = clock.after(ms, again, { background: true });
    };
    this.#timers[at] = clock.after(ms, again, { background: true });
  }

  #count(result: 'written' | 'refused' | 'failed' | 'dropped' | 'spam' | 'counted' | 'invalid'): void {
    this.#results.with({ result }).inc();
  }
}
