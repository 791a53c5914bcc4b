import type { ReconcileRecord } from '../../controller/loop/reconcile-record.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';
import type { WebhookRecord } from '../../webhook/webhook-route.js';
import type { EndpointRoute, EndpointSink } from '../probes/http-endpoint.js';
import { LoopLag } from '../probes/loop-lag.js';
import { estimateBytes } from './cache-bytes.js';
import { collectState, type StateSource } from './collect-state.js';
import type { DebugState, SnapshotEvent } from './debug-state.js';
import { maskedCall } from './masking/masked-call.js';
import { ReconcileTally } from './reconcile-tally.js';
import { sample } from './sample.js';
import { type StateTexts, stateDelta, stateTexts } from './state-delta.js';

const tickMs = 250;
const ticksPerState = 4;
/** Caches are measured this often, in states. */
const statesPerMeasure = 30;
/** Records in one event: 200 a second. */
const mostPerTick = 50;
const mostInSnapshot = 500;
const pulseMs = 100;

/** A state that was sent, and what is measured from then on. */
interface Watched extends Disposable {
  readonly tallies: Map<string, ReconcileTally>;
  readonly lag: LoopLag;
  bytes: ReadonlyMap<string, number>;
  state: DebugState;
  texts: StateTexts;
  ticks: number;
  states: number;
  cpu: { readonly ms: number | undefined; readonly atMs: number };
  reconciles: ReconcileRecord[];
  lastCall: WebhookRecord | undefined;
}

/**
 * Serves `/debug/stream`, server-sent events for tools and people: a `snapshot` first, then each second a `delta` of what
 * has changed, and four times a second the `reconciles` and `webhookCalls` that have ended. All callers share one look at
 * the manager. While nobody listens, nothing is collected or measured.
 */
export class DebugStream {
  readonly #source: StateSource;
  readonly #clock: Scheduler;
  readonly #startedAt: number;
  readonly #sinks = new Set<EndpointSink>();
  /** Those that did not keep up. */
  readonly #late = new Set<EndpointSink>();
  #watched: Watched | undefined;

  constructor(source: StateSource, clock: Scheduler) {
    this.#source = source;
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** How many listen. */
  get listeners(): number {
    return this.#sinks.size;
  }

  readonly route: EndpointRoute = ({ signal }) => ({
    contentType: 'text/event-stream',
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
    body: 'retry: 2000\n\n',
    stream: (sink) => {
      if (signal.aborted) return;
      this.#watched ??= this.#watch();
      sink.write(this.#snapshot(this.#watched));
      this.#sinks.add(sink);
      signal.addEventListener('abort', () => this.#leave(sink), { once: true });
    },
  });

  #leave(sink: EndpointSink): void {
    this.#sinks.delete(sink);
    this.#late.delete(sink);
    if (this.#sinks.size > 0) return;
    this.#watched?.[Symbol.dispose]();
    this.#watched = undefined;
  }

  #watch(): Watched {
    const { clock, source } = { clock: this.#clock, source: this.#source };
    const tallies = new Map<string, ReconcileTally>();
    for (const record of source.explain) tallyOf(tallies, record).add(record, { isOld: true });
    const ended = source.onReconciled((record) => {
      tallyOf(tallies, record).add(record);
      watched.reconciles.push(record);
    });
    const lag = new LoopLag(clock, pulseMs);
    let timer: Timer;
    const tick = () => {
      this.#tick(watched);
      timer = clock.after(tickMs, tick, { background: true });
    };
    timer = clock.after(tickMs, tick, { background: true });
    const empty = { tallies, lag, bytes: new Map(), ticks: 0, states: 0, reconciles: [], lastCall: undefined };
    const watched: Watched = {
      ...empty,
      cpu: { ms: clock.cpuMs?.(), atMs: clock.monotonic() },
      state: collectState(source, clock, { ...empty, ...this.#measure(lag) }),
      texts: new Map(),
      [Symbol.dispose]: () => {
        timer.cancel();
        lag[Symbol.dispose]();
        ended[Symbol.dispose]();
      },
    };
    watched.texts = stateTexts(watched.state);
    watched.lastCall = source.webhookCalls.at(-1);
    this.#measureCaches(watched);
    return watched;
  }

  #measure(lag: LoopLag, cpu?: Watched['cpu']) {
    const [ms, atMs] = [this.#clock.cpuMs?.(), this.#clock.monotonic()];
    const isMeasured = cpu?.ms !== undefined && ms !== undefined && atMs > cpu.atMs;
    const cpuPercent = isMeasured ? (100 * (ms - (cpu.ms as number))) / (atMs - cpu.atMs) : undefined;
    return { startedAt: this.#startedAt, loopLagMs: lag.take(), cpuPercent, cpu: { ms, atMs } };
  }

  #measureCaches(watched: Watched): void {
    // A cache that has been closed has no size.
    estimateBytes(this.#source).then(
      (bytes) => {
        watched.bytes = bytes;
      },
      () => {},
    );
  }

  #snapshot(watched: Watched): string {
    const { explain, webhookCalls, mask } = this.#source;
    const event: SnapshotEvent = {
      ...{ version: 1, at: this.#clock.now(), state: watched.state },
      reconciles: explain.slice(-mostInSnapshot),
      webhookCalls: webhookCalls.slice(-mostInSnapshot).map((call) => maskedCall(call, mask)),
    };
    return format('snapshot', event);
  }

  #tick(watched: Watched): void {
    const at = this.#clock.now();
    const { reconciles } = watched;
    watched.reconciles = [];
    if (reconciles.length > 0) {
      const records = sample(reconciles, mostPerTick, ({ error }) => error !== undefined);
      this.#send('reconciles', { at, records, seen: reconciles.length });
    }
    const { webhookCalls, mask } = this.#source;
    const calls = webhookCalls.slice(
      watched.lastCall === undefined ? 0 : webhookCalls.lastIndexOf(watched.lastCall) + 1,
    );
    if (calls.length > 0) {
      watched.lastCall = calls.at(-1);
      const records = sample(calls, mostPerTick, ({ outcome }) => outcome !== 'allowed');
      this.#send('webhookCalls', { at, records: records.map((call) => maskedCall(call, mask)), seen: calls.length });
    }
    watched.ticks += 1;
    if (watched.ticks % ticksPerState === 0) this.#sendState(watched, at);
  }

  #sendState(watched: Watched, at: number): void {
    watched.states += 1;
    if (watched.states % statesPerMeasure === 0) this.#measureCaches(watched);
    const measured = this.#measure(watched.lag, watched.cpu);
    watched.cpu = measured.cpu;
    const { tallies, bytes } = watched;
    const state = collectState(this.#source, this.#clock, { ...measured, tallies, bytes });
    const texts = stateTexts(state);
    const delta = stateDelta(watched.texts, { state, texts });
    watched.state = state;
    watched.texts = texts;
    if (delta !== undefined) this.#send('delta', { at, ...delta });
  }

  /** A caller who does not keep up misses events, and gets a snapshot once it reads again. */
  #send(event: string, data: unknown): void {
    const text = format(event, data);
    for (const sink of this.#sinks) {
      if (sink.isFull) this.#late.add(sink);
      else if (this.#late.delete(sink)) sink.write(this.#snapshot(this.#watched as Watched));
      else sink.write(text);
    }
  }
}

function tallyOf(tallies: Map<string, ReconcileTally>, { controller }: ReconcileRecord): ReconcileTally {
  const known = tallies.get(controller);
  if (known !== undefined) return known;
  const tally = new ReconcileTally();
  tallies.set(controller, tally);
  return tally;
}

function format(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data, replacer)}\n\n`;
}

function replacer(_: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value;
}
