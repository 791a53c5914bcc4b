import { ApiError } from '../../rest/errors/api-error.js';
import type { StatusReason } from '../../rest/errors/status-reason.js';
import type { Random } from '../../runtime/random.js';
import { onAbort } from '../../runtime/signals.js';
import type { Scheduler, Timer, TimerOptions } from '../../runtime/time/clock.js';
import { sleepOn } from '../../runtime/time/sleep.js';
import type { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { LeaderElectionRecord, LockOptions, LockState, ResourceLock } from './resource-lock.js';

/** How a process' clocks differ from the test's. */
export interface ProcessClockOptions {
  /** How far its wall clock is off. @default 0 */
  readonly skewMs?: number;
  /** How fast its clocks run. @default 1 */
  readonly rate?: number;
  /** In which order things happen that came while it was stopped. @default in the order they came */
  readonly random?: Random;
}

/** The clock of one process, which can be stopped (SIGSTOP): time passes, timers are due, answers come, nothing runs. */
export class ProcessClock implements Scheduler {
  readonly #base: VirtualClock;
  readonly #rate: number;
  readonly #random: Random | undefined;
  #held = new Set<() => void>();
  #stopped = false;
  skewMs: number;
  /** The CPU time that the process reports, if any. */
  cpuMs: (() => number) | undefined;
  /** A wall clock that stands still shows this. */
  frozenWall: number | undefined;

  constructor(base: VirtualClock, options: ProcessClockOptions = {}) {
    this.#base = base;
    this.#rate = options.rate ?? 1;
    this.#random = options.random;
    this.skewMs = options.skewMs ?? 0;
  }

  now(): number {
    return this.frozenWall ?? this.#base.now() + this.skewMs;
  }

  monotonic(): number {
    return this.#base.monotonic() * this.#rate;
  }

  after(ms: number, fn: () => void, options?: TimerOptions): Timer {
    let isCancelled = false;
    const call = () => {
      if (!isCancelled) fn();
    };
    const timer = this.#base.after(ms / this.#rate, () => this.enter(call), options);
    const cancel = () => {
      isCancelled = true;
      timer.cancel();
    };
    return { cancel, [Symbol.dispose]: cancel };
  }

  sleep(ms: number, options?: TimerOptions & { readonly signal?: AbortSignal }): Promise<void> {
    return sleepOn(this, ms, options);
  }

  yield(): Promise<void> {
    return this.#base.yield();
  }

  /** Runs `fn` in the process: now, or when it runs again. */
  enter(fn: () => void): void {
    if (this.#stopped) this.#held.add(fn);
    else fn();
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** SIGSTOP. */
  stop(): void {
    this.#stopped = true;
  }

  /** SIGCONT: everything that is due runs now, in order. */
  resume(): void {
    this.#stopped = false;
    const held = [...this.#held];
    this.#held = new Set();
    for (const fn of this.#random?.shuffle(held) ?? held) this.#base.after(0, () => this.enter(fn));
  }
}

/** The fate of one request. */
export interface Passage {
  /** On the way there and back. @default 0 */
  readonly thereMs?: number;
  readonly backMs?: number;
  /** Lost on the way there, or its answer lost on the way back: nothing comes, until the caller gives up. */
  readonly lost?: 'request' | 'answer';
  /** The server says this instead: an HTTP status. */
  readonly refused?: number;
  /** Nothing listens: the request fails at once. */
  readonly isUnreachable?: boolean;
}

/** A lock on a server of the test's, with a network between. */
export class LockServer {
  readonly #base: VirtualClock;
  #version = 0;
  state: LockState | undefined;
  /** How requests fare; by default at once and well. */
  passage: (identity: string, verb: string) => Passage = () => ({});
  /** The requests, in order of arrival. */
  readonly log: string[] = [];

  constructor(base: VirtualClock) {
    this.#base = base;
  }

  /** The lock as one process sees it. */
  lock(identity: string, process?: ProcessClock): ResourceLock {
    const base = this.#base;
    let based: string | undefined;
    const ask = (verb: string, run: () => LockState | undefined, { signal }: LockOptions = {}) =>
      new Promise<LockState | undefined>((resolve, reject) => {
        const into = (fn: () => void) => (process ? process.enter(fn) : fn());
        onAbort(signal, () => reject(signal?.reason));
        const { thereMs = 0, backMs = 0, lost, refused, isUnreachable } = this.passage(identity, verb);
        if (isUnreachable) return reject(new Error('connection refused'));
        const answer = (fn: () => void) => {
          if (lost !== 'answer') base.after(backMs, () => into(fn));
        };
        const arrive = () => {
          this.log.push(`${identity} ${verb}`);
          try {
            if (refused !== undefined) throw problem(refused, verb);
            const state = run();
            answer(() => {
              if (signal?.aborted) return;
              based = state?.version;
              resolve(state);
            });
          } catch (error) {
            answer(() => reject(error));
          }
        };
        if (lost !== 'request') base.after(thereMs, arrive);
      });
    return {
      identity,
      description: 'Lease test/lock',
      name: 'lock',
      get: (options) => ask('get', () => this.state, options),
      create: async (record, options) => {
        const stored = await ask('create', () => this.#create(record), options);
        return stored as LockState;
      },
      update: async (record, options) => {
        const from = based;
        const stored = await ask('update', () => this.#update(record, from), options);
        return stored as LockState;
      },
    };
  }

  /** Writes as another client would. */
  put(record: Partial<LeaderElectionRecord>): void {
    const blank = {
      holderIdentity: '',
      leaseDurationSeconds: 15,
      acquireTime: '',
      renewTime: '',
      leaderTransitions: 0,
    };
    this.#version += 1;
    this.state = { record: { ...blank, ...this.state?.record, ...record }, version: String(this.#version) };
  }

  #create(record: LeaderElectionRecord): LockState | undefined {
    if (this.state !== undefined) throw problem(409, 'create', 'AlreadyExists');
    this.put(record);
    return this.state;
  }

  #update(record: LeaderElectionRecord, from: string | undefined): LockState | undefined {
    if (this.state === undefined) throw problem(404, 'update');
    if (this.state.version !== from) throw problem(409, 'update');
    // As a server does: a write that changes nothing is a no-op.
    if (JSON.stringify(this.state.record) !== JSON.stringify({ ...this.state.record, ...record })) this.put(record);
    return this.state;
  }
}

const reasons: Readonly<Record<number, StatusReason>> = { 404: 'NotFound', 409: 'Conflict', 503: 'ServiceUnavailable' };

function problem(code: number, verb: string, reason: StatusReason = reasons[code] ?? ''): Error {
  const message = `${verb}: ${reason}`;
  return new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message });
}
