import { Removed } from '../runtime/stop-reasons.js';
import type { Runnable } from './runnable.js';

interface Member {
  readonly runnable: Runnable;
  readonly stop: AbortController;
  /** Settles, never rejects, when it has ended; undefined while it was not started. */
  ended: Promise<void> | undefined;
  /** The same of its getting ready. */
  warm: Promise<void> | undefined;
}

/** What runs together: started together, stopped together. */
export class RunnableGroup {
  readonly #members = new Set<Member>();
  readonly #onFailure: (runnable: Runnable, error: unknown) => void;
  #state: 'waiting' | 'warm' | 'started' | 'stopped' = 'waiting';
  #reason: unknown;

  /** `onFailure` hears of those that reject without having been told to stop. */
  constructor(onFailure: (runnable: Runnable, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Those that have not ended. */
  get running(): readonly string[] {
    return [...this.#members].filter(({ ended }) => ended !== undefined).map(({ runnable }) => runnable.name);
  }

  /** Started at once if the group is, or got ready; gives a function that stops and forgets it. */
  add(runnable: Runnable): () => Promise<void> {
    const member: Member = { runnable, stop: new AbortController(), ended: undefined, warm: undefined };
    this.#members.add(member);
    if (this.#state === 'started') this.#start(member);
    if (this.#state === 'warm') this.#warmUp(member);
    return async () => {
      member.stop.abort(new Removed(`${runnable.name} was removed`));
      await Promise.all([member.ended, member.warm]);
      this.#members.delete(member);
    };
  }

  /** Has them get ready, and those that are added until it is started; nobody waits for that. */
  warmUp(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'warm';
    for (const member of this.#members) this.#warmUp(member);
  }

  start(): void {
    if (this.#state === 'started' || this.#state === 'stopped') return;
    this.#state = 'started';
    for (const member of this.#members) this.#start(member);
  }

  /** Resolves when all have ended. What is added later on is never started. */
  async stop(reason: unknown): Promise<void> {
    if (this.#state !== 'stopped') {
      this.#state = 'stopped';
      this.#reason = reason;
      for (const { stop } of this.#members) stop.abort(this.#reason);
    }
    await Promise.all([...this.#members].flatMap(({ ended, warm }) => [ended, warm]));
  }

  #warmUp(member: Member): void {
    const { runnable, stop } = member;
    member.warm = (async () => runnable.warmUp?.({ signal: stop.signal }))().catch((error: unknown) => {
      // One that runs meanwhile fails by itself.
      if (!stop.signal.aborted && member.ended === undefined) this.#onFailure(runnable, error);
    });
  }

  #start(member: Member): void {
    const { runnable, stop } = member;
    if (stop.signal.aborted) return;
    const end = () => {
      this.#members.delete(member);
    };
    member.ended = (async () => runnable.run({ signal: stop.signal }))().then(end, (error: unknown) => {
      end();
      if (!stop.signal.aborted) this.#onFailure(runnable, error);
    });
  }
}
