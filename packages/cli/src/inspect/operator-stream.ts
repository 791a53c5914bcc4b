import { applyDelta } from '@riata/dashboard';
import type { ReconcileRecord } from 'riata/controller';
import type { DebugState, DeltaEvent, RecordsEvent, SnapshotEvent } from 'riata/manager';

/** An event of `/debug/stream`. */
export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Reads server-sent events out of the bytes of a stream. */
export async function* readEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of bytes) {
    text += decoder.decode(part, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const [event, data] = ['event', 'data'].map((name) => fieldOf(text.slice(0, end), name));
      text = text.slice(end + 2);
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) };
    }
  }
}

function fieldOf(block: string, name: string): string | undefined {
  const line = block.split('\n').find((each) => each.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}

/** Reconciles of one controller within a time. */
export interface Counted {
  /** The operator's wall time, in milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
  readonly errors: number;
  /** Of those of this time; 0 without any. */
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly waitedMs: number;
}

const failures = ['error', 'terminal_error', 'gave_up'];
/** A controller has a history of 256 reconciles by default, the snapshot 500 at most: so many may be the newest ones only. */
const mostInHistory = 256;
const mostInSnapshot = 500;
const mostRecords = 500;

/** One replica, as its stream shows it. */
export class StreamedReplica {
  readonly #windowMs: number;
  readonly #counted = new Map<string, Counted[]>();
  #state: DebugState | undefined;
  #atMs = 0;
  #records: ReconcileRecord[] = [];
  #sampling = { seen: 0, sent: 0 };
  #lastSampling = { seen: 0, sent: 0 };

  /** @param windowMs how long counts are kept */
  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Undefined before the first event. */
  get state(): DebugState | undefined {
    return this.#state;
  }

  /** The operator's wall time of the last event. */
  get atMs(): number {
    return this.#atMs;
  }

  /** The newest ones, oldest first; a sample of them if there are more than 200 a second. */
  get records(): readonly ReconcileRecord[] {
    return this.#records;
  }

  /** How many reconciles ended in the last second, and how many of them were sent. */
  get sampling(): { readonly seen: number; readonly sent: number } {
    return this.#lastSampling;
  }

  /** What is known of a controller within the window, oldest first. */
  counted(controller: string): readonly Counted[] {
    return this.#counted.get(controller) ?? [];
  }

  take({ event, data }: StreamEvent): void {
    if (event === 'snapshot') this.#takeSnapshot(data as SnapshotEvent);
    else if (event === 'delta') this.#takeDelta(data as DeltaEvent);
    else if (event === 'reconciles') {
      const { records, seen } = data as RecordsEvent<ReconcileRecord>;
      this.#records = [...this.#records, ...records].slice(-mostRecords);
      this.#sampling = { seen: this.#sampling.seen + seen, sent: this.#sampling.sent + records.length };
    }
  }

  #takeSnapshot({ at, state, reconciles }: SnapshotEvent): void {
    const isFirst = this.#state === undefined;
    this.#state = state;
    this.#atMs = at;
    this.#records = [...reconciles].slice(-mostRecords);
    // A later one comes to a reader that was too slow, or after a restart: counts start anew with it.
    if (!isFirst) return;
    for (const { id } of state.controllers) {
      const own = reconciles.filter(({ controller, reconcileID }) => controller === id && reconcileID !== '');
      const ends = own.map(({ startedAt, durationMs }) => startedAt + durationMs);
      const isCut = own.length >= mostInHistory || reconciles.length >= mostInSnapshot;
      const fromMs = Math.max(at - this.#windowMs, isCut ? Math.min(...ends, at) : 0);
      const recent = own.filter((_, index) => (ends[index] as number) >= fromMs);
      const durations = recent.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
      this.#note(id, {
        ...{ fromMs, toMs: at, count: recent.length },
        errors: recent.filter(({ outcome }) => failures.includes(outcome)).length,
        medianMs: durations[Math.floor(durations.length / 2)] ?? 0,
        p95Ms: durations[Math.min(durations.length - 1, Math.floor(durations.length * 0.95))] ?? 0,
        waitedMs: Math.max(0, ...recent.map(({ queuedMs }) => queuedMs)),
      });
    }
  }

  #takeDelta(delta: DeltaEvent): void {
    const before = this.#state;
    if (before === undefined) return;
    const state = applyDelta(before, delta);
    this.#state = state;
    const fromMs = this.#atMs;
    this.#atMs = delta.at;
    this.#lastSampling = this.#sampling;
    this.#sampling = { seen: 0, sent: 0 };
    const earlier = new Map(before.controllers.map((each) => [each.id, each.outcomes]));
    for (const { id, outcomes, latency } of state.controllers) {
      const old = earlier.get(id) ?? {};
      const since = (names: readonly string[]) =>
        names.reduce((sum, name) => sum + (outcomes[name] ?? 0) - (old[name] ?? 0), 0);
      const count = Math.max(0, since(Object.keys(outcomes)));
      const { p50, p95, queuedMax } = count > 0 ? latency : { p50: 0, p95: 0, queuedMax: 0 };
      const span = { fromMs, toMs: delta.at, count, errors: Math.max(0, since(failures)) };
      this.#note(id, { ...span, medianMs: p50, p95Ms: p95, waitedMs: queuedMax });
    }
  }

  #note(controller: string, counted: Counted): void {
    const kept = (this.#counted.get(controller) ?? []).filter(({ toMs }) => toMs > counted.toMs - this.#windowMs);
    this.#counted.set(controller, [...kept, counted]);
  }
}
