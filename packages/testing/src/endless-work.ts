import type { FaultRequest } from '@riata/apiserver';
import { type ClusterKey, keyId } from 'riata/object';
import type { Clock } from 'riata/runtime';
import type { RequestRecorder } from './requests/request-recorder.js';
import type { TestManager } from './test-manager.js';

/** Requests before something must be wrong. */
export const mostRequests = 5_000;
/** How many of these may change the same object. */
const partToOne = 1 / 10;
/**
 * How many of these may, in a row, change objects that were changed before, with nothing created or deleted between
 * them, while one key is reconciled again and again. Frameworks give a test 5 s, and a busy machine may take most of it
 * for a few hundred requests: this limit is reached first.
 */
const partInCircles = 3 / 100;
/** How often each of several objects is changed in a circle, and some key reconciled. */
const roundsInCircles = 20;
/** No fewer, however few requests a test allows. */
const leastToOne = 20;
/**
 * How often a key may be reconciled without time moving: one that requeues at once, each time, never ends. One that
 * also writes is reported for that first, since it says more.
 */
const mostRunsAtOnce = 600;

/** A limit that holds until it is disposed of. */
export interface WorkLimit extends Disposable {
  /** Whether there was more; further requests wait, so that the test can continue. */
  readonly isReached: boolean;
  /** What was endless, in words. */
  error(what: string): Error;
}

/** A reconcile, as its controller sees it. */
interface Run {
  readonly controller: string;
  readonly key: ClusterKey;
}

/** Finds work that never ends, on which a test would hang until its framework gives it up without a word of why. */
export class EndlessWork {
  readonly #clock: Clock;
  readonly #requests: RequestRecorder;
  readonly #managers: () => Iterable<TestManager>;
  #left = Number.POSITIVE_INFINITY;
  #leftToOne = Number.POSITIVE_INFINITY;
  #mostInCircles = Number.POSITIVE_INFINITY;
  /** Changes in a row to objects that had been changed before. */
  #inCircles = 0;
  readonly #runsInCircles = new Map<string, number>();
  readonly #changes = new Map<string, number>();
  readonly #runs = new Map<string, number>();
  #runsAtMs = 0;
  #spinning: Run | undefined;

  constructor(parts: {
    readonly clock: Clock;
    readonly requests: RequestRecorder;
    readonly managers: () => Iterable<TestManager>;
  }) {
    this.#clock = parts.clock;
    this.#requests = parts.requests;
    this.#managers = parts.managers;
  }

  /** Counts a request; false: it is one too many. */
  allows({ method, path }: FaultRequest): boolean {
    this.#left -= 1;
    const isRenewal = path.startsWith('/apis/coordination.k8s.io/');
    if ((method === 'PUT' || method === 'PATCH') && !isRenewal) {
      const count = (this.#changes.get(path) ?? 0) + 1;
      this.#changes.set(path, count);
      this.#inCircles += 1;
      if (count === 1) this.#leaveCircle();
      if (count > this.#leftToOne || this.#isCircle) this.#left = -1;
    } else if (method === 'POST' || method === 'DELETE') {
      this.#leaveCircle();
    }
    return this.#left >= 0;
  }

  get #isCircle(): boolean {
    if (this.#inCircles <= Math.max(this.#mostInCircles, roundsInCircles * this.#changes.size)) return false;
    const enough = Math.min(roundsInCircles, this.#mostInCircles / 2);
    return [...this.#runsInCircles.values()].some((count) => count > enough);
  }

  #leaveCircle(): void {
    this.#inCircles = 0;
    this.#runsInCircles.clear();
  }

  /** Counts a reconcile; false: it is one too many. */
  allowsRun(run: Run): boolean {
    const nowMs = this.#clock.monotonic();
    if (nowMs !== this.#runsAtMs) this.#runs.clear();
    this.#runsAtMs = nowMs;
    const id = `${run.controller} ${keyId(run.key)}`;
    const count = (this.#runs.get(id) ?? 0) + 1;
    this.#runs.set(id, count);
    this.#runsInCircles.set(id, (this.#runsInCircles.get(id) ?? 0) + 1);
    if (count > mostRunsAtOnce) this.#spinning ??= run;
    return count <= mostRunsAtOnce;
  }

  /** Lets this many requests through, until it is disposed. */
  limit(requests = mostRequests): WorkLimit {
    this.#left = requests;
    this.#leftToOne = Math.max(leastToOne, Math.floor(requests * partToOne));
    this.#mostInCircles = Math.max(leastToOne, Math.floor(requests * partInCircles));
    this.#leaveCircle();
    this.#changes.clear();
    const from = this.#requests.all.length;
    const work = this;
    return {
      get isReached() {
        return work.#left < 0 || work.#spinning !== undefined;
      },
      error: (what) => (this.#left < 0 ? this.#tooMuch(what, from) : this.#spins(what)),
      [Symbol.dispose]: () => {
        if (this.#left >= 0) this.lift();
      },
    };
  }

  /** No limit from now on: requests that were held back must be able to end. */
  lift(): void {
    this.#left = Number.POSITIVE_INFINITY;
    this.#leftToOne = Number.POSITIVE_INFINITY;
    this.#mostInCircles = Number.POSITIVE_INFINITY;
    this.#spinning = undefined;
    this.#runs.clear();
    this.#leaveCircle();
  }

  /** Throws if a reconcile runs without end. */
  refuseSpinning(what: string): void {
    if (this.#spinning !== undefined) throw this.#spins(what);
  }

  #spins(what: string): Error {
    const { controller, key } = this.#spinning ?? { controller: '', key: { name: '' } };
    const last = this.#records().findLast((record) => record.controller === controller);
    const reasons = (last?.reasons ?? []).map(({ source, object }) => (object ? `${source}: ${object}` : source));
    return new Error(
      `${what}: controller "${controller}" reconciles ${keyId(key)} over and over, ${mostRunsAtOnce} times while no ` +
        `time has passed, lastly for ${[...new Set(reasons)].join(', ') || 'no reason known'}: have it wait ` +
        "(requeueAfter: '10s'), or for a change",
    );
  }

  /** Names what is written over and over, and by whom. */
  #tooMuch(what: string, from: number): Error {
    const counts = new Map<string, { readonly object: string; count: number }>();
    const all = this.#requests.all.slice(from);
    for (const { verb, object } of all) {
      const line = `${verb} ${object}`;
      const counted = counts.get(line) ?? { object, count: 0 };
      counted.count += 1;
      counts.set(line, counted);
    }
    const most = [...counts].sort(([, a], [, b]) => b.count - a.count).slice(0, 3);
    const named = most.map(([line, { object, count }]) => `${line} (${count} times${this.#by(object)})`).join(', ');
    return new Error(
      `${what}: ${all.length} requests, and no end to them: ${named}. A controller may be woken by what it writes ` +
        'itself, or two write different things: write only what differs, or raise maxRequests',
    );
  }

  #by(object: string): string {
    const who = new Set<string>();
    for (const { controller, key, writes } of this.#records().slice(-1_000)) {
      if (writes.some((write) => write.object === object)) who.add(`"${controller}" reconciling ${keyId(key)}`);
    }
    const [first, second, ...others] = who;
    if (first === undefined) return '';
    return `, by controller ${first}${second ? ` and ${second}` : ''}${others.length > 0 ? ' and others' : ''}`;
  }

  #records() {
    return [...this.#managers()].flatMap(({ explain }) => [...explain]).sort((a, b) => a.startedAt - b.startedAt);
  }
}
