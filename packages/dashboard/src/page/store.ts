import { batch, type Signal, signal } from '@preact/signals';
import type { ReconcileRecord } from 'riata/controller';
import type { DebugState, DeltaEvent, RecordsEvent, SnapshotEvent } from 'riata/manager';
import type { WebhookRecord } from 'riata/webhook';
import { applyDelta } from './apply-delta.js';
import { parseRoute, type Route } from './route.js';

/** One second of a chart; undefined where nothing was measured. */
export interface Point {
  readonly at: number;
  readonly values: Readonly<Record<string, number | undefined>>;
}

/** What was seen of the stream in the last second, and how much of it was sent. */
export interface Sampling {
  readonly seen: number;
  readonly sent: number;
}

const mostPoints = 120;
const mostRecords = 2_000;

/** Everything that pages show, kept up to date by `/debug/stream`. */
export class Store {
  readonly connection: Signal<'connecting' | 'live' | 'lost'> = signal('connecting');
  readonly state: Signal<DebugState | undefined> = signal(undefined);
  /** The newest ones, oldest first. */
  readonly records: Signal<readonly ReconcileRecord[]> = signal([]);
  readonly calls: Signal<readonly WebhookRecord[]> = signal([]);
  /** By the name of a controller; `''` for the process. */
  readonly charts: Signal<ReadonlyMap<string, readonly Point[]>> = signal(new Map());
  readonly sampling: Signal<Sampling> = signal({ seen: 0, sent: 0 });
  readonly route: Signal<Route>;
  /** Of the server, so that ages are right where the clock of the browser is not. */
  readonly now: Signal<number> = signal(0);
  #counted = { seen: 0, sent: 0 };

  constructor(hash: string) {
    this.route = signal(parseRoute(hash));
  }

  /**
   * Follows the stream. The browser connects again by itself after a lost connection, and not after an answer with another
   * status: `onClosed` is called then.
   */
  follow(source: EventSource, onClosed: () => void = () => {}): void {
    const on = <T>(event: string, take: (data: T) => void) =>
      source.addEventListener(event, (message) =>
        batch(() => take(JSON.parse((message as MessageEvent<string>).data) as T)),
      );
    on<SnapshotEvent>('snapshot', (event) => this.#snapshot(event));
    on<DeltaEvent>('delta', (event) => this.#delta(event));
    on<RecordsEvent<ReconcileRecord>>('reconciles', ({ records, seen }) => {
      this.records.value = newest(this.records.value, records);
      this.#counted = { seen: this.#counted.seen + seen, sent: this.#counted.sent + records.length };
    });
    on<RecordsEvent<WebhookRecord>>('webhookCalls', ({ records }) => {
      this.calls.value = newest(this.calls.value, records);
    });
    source.addEventListener('error', () => {
      this.connection.value = 'lost';
      if (source.readyState === 2) onClosed();
    });
  }

  #snapshot({ at, state, reconciles, webhookCalls }: SnapshotEvent): void {
    this.connection.value = 'live';
    this.now.value = at;
    this.state.value = state;
    this.records.value = reconciles;
    this.calls.value = webhookCalls;
  }

  #delta(event: DeltaEvent): void {
    const before = this.state.value;
    if (before === undefined) return;
    // Deltas come late from a process that is busy.
    const seconds = Math.max(0.5, (event.at - this.now.value) / 1_000);
    this.now.value = event.at;
    const state = applyDelta(before, event);
    this.state.value = state;
    this.sampling.value = this.#counted;
    this.#counted = { seen: 0, sent: 0 };
    const charts = new Map(this.charts.value);
    const add = (name: string, values: Point['values']) =>
      charts.set(name, [...(charts.get(name) ?? []), { at: event.at, values }].slice(-mostPoints));
    const { loopLagMs, rssBytes, cpuPercent } = state.process;
    add('', { loopLagMs, rss: rssBytes / 1_048_576, cpuPercent });
    const earlier = new Map(before.controllers.map((each) => [each.id, each]));
    for (const controller of state.controllers) {
      const isNew = event.changed.controllers?.some(({ id }) => id === controller.id) === true;
      const old = earlier.get(controller.id)?.outcomes ?? {};
      const since = (names: readonly string[]) =>
        names.reduce((sum, name) => sum + (controller.outcomes[name] ?? 0) - (old[name] ?? 0), 0);
      const perSecond = (names: readonly string[]) => Math.max(0, since(names)) / seconds;
      const oldest = controller.waiting.reduce((first, { since: from = first }) => Math.min(first, from), event.at);
      const latency = isNew && controller.latency.count > 0 ? controller.latency : undefined;
      add(controller.id, {
        rate: perSecond(Object.keys(controller.outcomes)),
        errors: perSecond(['error', 'terminal_error', 'gave_up']),
        ...{ queued: controller.queued, ageMs: Math.max(0, event.at - oldest) },
        ...{ p50: latency?.p50, p95: latency?.p95 },
      });
    }
    this.charts.value = charts;
  }
}

function newest<T>(known: readonly T[], more: readonly T[]): readonly T[] {
  return [...known, ...more].slice(-mostRecords);
}
