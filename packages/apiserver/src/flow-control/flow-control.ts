import { onAbort, type Scheduler } from 'riata/runtime';
import type { UserInfo } from '../authentication/user-info.js';
import type { ReplyHeaders } from '../http/reply.js';
import { isLongRunning, type RequestInfo } from '../http/request-info.js';
import { PlainRefusal } from '../http/status-answer.js';
import type { FlowClassifier, FlowSchema } from './flow-classifier.js';
import type { FlowMetrics } from './flow-metrics.js';
import { PriorityLevel, type RejectReason, type Waiting } from './priority-level.js';
import { RetryAfter } from './retry-after.js';

/** What {@link FlowControl} works with. */
export interface FlowControlParts {
  readonly classifier: Pick<FlowClassifier, 'observe' | 'levels' | 'schemaOf'>;
  readonly clock: Scheduler;
  readonly metrics: FlowMetrics;
  /** How many requests are executed at once, exempt ones aside. */
  readonly seats: number;
}

/** A request that asks for a seat. */
export interface Arrival {
  readonly user: UserInfo;
  readonly info: RequestInfo;
  /** How long the whole request may take: it waits for a fourth of that. */
  readonly timeoutMs: number;
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** A request's part in flow control. */
export interface Turn {
  /** Headers that name the FlowSchema and the priority level. */
  readonly headers: ReplyHeaders;
  /** Resolves when the request has a seat, rejects with 429; undefined: it has one. */
  readonly ready: Promise<void> | undefined;
  /** Gives the seat back. Later calls do nothing. */
  leave(): void;
}

/**
 * Limits how many requests are executed at once (API Priority and Fairness). Each priority level has seats; a request
 * without a seat waits in the queue of its flow, or is rejected. Free seats are lent to other levels.
 */
export class FlowControl {
  readonly #parts: FlowControlParts;
  readonly #levels = new Map<string, PriorityLevel>();
  readonly #retryAfter = new Map<string, RetryAfter>();
  #configured = false;
  /** How many requests wait, at all levels: mostly none. */
  #waiting = 0;

  constructor(parts: FlowControlParts) {
    this.#parts = parts;
    parts.metrics.nominalLimits = () => {
      this.#configure();
      return [...this.#levels].map(([name, { seats }]) => [name, seats]);
    };
  }

  /** Observes every write of the storage. */
  observe(table: string): void {
    if (this.#parts.classifier.observe(table)) this.#configured = false;
  }

  /** Asks for a seat; undefined for requests that last, which need none: all but watches, until they have begun. */
  enter(arrival: Arrival): Turn | undefined {
    const { user, info } = arrival;
    if (isLongRunning(info) && info.verb !== 'watch') return undefined;
    this.#configure();
    const schema = this.#parts.classifier.schemaOf(user, info);
    const level = schema && this.#levels.get(schema.level);
    if (schema === undefined || level === undefined) return undefined;
    if (level.waiting === 0 && this.#hasSeat(level)) {
      level.enter();
      this.#parts.metrics.dispatched(schema);
      return new TakenSeat(schema.headers, () => this.#leave(level, schema));
    }
    return this.#wait(level, schema, arrival);
  }

  #wait(level: PriorityLevel, schema: FlowSchema, arrival: Arrival): Turn {
    const { clock, metrics } = this.#parts;
    const { signal, timeoutMs } = arrival;
    const turn = new QueuedTurn(schema.headers, {
      flow: flowOf(schema, arrival),
      onStart: () => metrics.dispatched(schema),
      onLeave: () => this.#leave(level, schema),
    });
    const refused = level.wait(turn);
    if (refused !== undefined) {
      turn.reject(this.#reject(schema, refused));
      return turn;
    }
    this.#waiting += 1;
    metrics.queued(schema, 1);
    const giveUp = (error: unknown) => {
      level.remove(turn);
      turn.reject(error);
    };
    const late = () => giveUp(this.#reject(schema, 'time-out'));
    const timer = clock.after(timeoutMs / 4, late, { background: true });
    const listener = onAbort(signal, () => {
      metrics.rejected(schema, 'time-out');
      giveUp(signal.reason);
    });
    const stopWaiting = () => {
      this.#waiting -= 1;
      timer.cancel();
      listener[Symbol.dispose]();
      metrics.queued(schema, -1);
    };
    turn.ready.then(stopWaiting, stopWaiting);
    return turn;
  }

  #reject(schema: FlowSchema, reason: RejectReason): PlainRefusal {
    const { metrics, clock } = this.#parts;
    metrics.rejected(schema, reason);
    let retryAfter = this.#retryAfter.get(schema.level);
    if (retryAfter === undefined) {
      retryAfter = new RetryAfter();
      this.#retryAfter.set(schema.level, retryAfter);
    }
    retryAfter.drop(Math.floor(clock.now() / 1000));
    return new PlainRefusal(429, 'Too many requests, please try again later.', {
      'retry-after': String(retryAfter.seconds),
    });
  }

  #leave(level: PriorityLevel, schema: FlowSchema): void {
    level.leave();
    this.#parts.metrics.finished(schema);
    if (this.#waiting === 0) return;
    this.#dispatch(level);
    // A seat that is free now may be lent.
    for (const other of this.#levels.values()) if (other !== level && other.waiting > 0) this.#dispatch(other);
  }

  #dispatch(level: PriorityLevel): void {
    while (level.waiting > 0 && this.#hasSeat(level)) {
      const next = level.next();
      if (next === undefined) return;
      level.enter();
      next.start();
    }
  }

  /** Whether a request of the level can be executed now, on a seat of its own or of a level that needs it not. */
  #hasSeat(level: PriorityLevel): boolean {
    if (level.hasFreeSeat) return true;
    if (!level.mayBorrow) return false;
    let free = 0;
    for (const other of this.#levels.values()) free += other.lendable - other.borrowed;
    return free > 0;
  }

  /** Divides the seats among the levels. */
  #configure(): void {
    if (this.#configured) return;
    this.#configured = true;
    const specs = this.#parts.classifier.levels();
    const shares = specs.reduce((sum, spec) => sum + spec.shares, 0);
    for (const spec of specs) {
      let level = this.#levels.get(spec.name);
      if (level === undefined) {
        level = new PriorityLevel();
        this.#levels.set(spec.name, level);
      }
      level.configure(spec, shares === 0 ? 0 : Math.ceil((this.#parts.seats * spec.shares) / shares));
    }
    const names = new Set(specs.map(({ name }) => name));
    for (const [name, level] of this.#levels) {
      if (!names.has(name) && level.executing === 0 && level.waiting === 0) this.#levels.delete(name);
      else this.#dispatch(level);
    }
  }
}

/** The turn of a request that has a seat from the start. */
class TakenSeat implements Turn {
  readonly headers: ReplyHeaders;
  readonly ready = undefined;
  #leave: (() => void) | undefined;

  constructor(headers: ReplyHeaders, leave: () => void) {
    this.headers = headers;
    this.#leave = leave;
  }

  leave(): void {
    this.#leave?.();
    this.#leave = undefined;
  }
}

interface QueuedTurnParts {
  readonly flow: string;
  readonly onStart: () => void;
  readonly onLeave: () => void;
}

/** The turn of a request that waits for a seat. */
class QueuedTurn implements Turn, Waiting {
  readonly headers: ReplyHeaders;
  readonly flow: string;
  readonly ready: Promise<void>;
  readonly #on: QueuedTurnParts;
  #seated = false;
  #resolve: () => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(headers: ReplyHeaders, parts: QueuedTurnParts) {
    this.headers = headers;
    this.flow = parts.flow;
    this.#on = parts;
    this.ready = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  start(): void {
    this.#seated = true;
    this.#on.onStart();
    this.#resolve();
  }

  reject(error: unknown): void {
    this.#reject(error);
  }

  leave(): void {
    if (this.#seated) this.#on.onLeave();
    this.#seated = false;
  }
}

/** What requests of one flow have in common. */
function flowOf({ name, by }: FlowSchema, { user, info }: Arrival): string {
  if (by === undefined) return name;
  return `${name}/${by === 'ByUser' ? user.username : info.namespace}`;
}
