import { Removed } from '../runtime/stop-reasons.js';
import type { Runnable } from './runnable.js';

interface Member {
  readonly runnable: Runnable;
  readonly stop: AbortController;
  /** Settles, never rejects, when it has ended; undefined while it was not started. */
  ended: Promise<void> | undefined;
}

/** What runs together: started together, stopped together. */
export class RunnableGroup {
  readonly #members = new Set<Member>();
  readonly #onFailure: (runnable: Runnable, error: unknown) => void;
  #state: 'waiting' | 'started' | 'stopped' = 'waiting';
  #reason: unknown;

  /** `onFailure` hears of those that reject without having been told to stop. */
  constructor(onFailure: (runnable: Runnable, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Those that have not ended. */
  get running(): readonly string[] {
    return [...this.#members].filter(({ ended }) => ended !== undefined).map(({ runnable }) => runnable.name);
  }

  get runnables(): readonly Runnable[] {
    return [...this.#members].map(({ runnable }) => runnable);
  }

  /** Started at once if the group is; gives a function that stops and forgets it. */
  add(runnable: Runnable): () => Promise<void> {
    const member: Member = { runnable, stop: new AbortController(), ended: undefined };
    this.#members.add(member);
    if (this.#state === 'started') this.#start(member);
    return async () => {
      member.stop.abort(new Removed(`${runnable.name} was removed`));
      await member.ended;
      this.#members.delete(member);
    };
  }

  start(): void {
    if (this.#state !== 'waiting') return;
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
    await Promise.all([...this.#members].map(({ ended }) => ended));
  }

  #start(member: Member): void {
    const { runnable, stop } = member;
    const end = () => {
      this.#members.delete(member);
    };
    member.ended = (async () => runnable.run({ signal: stop.signal }))().then(end, (error: unknown) => {
      end();
      if (!stop.signal.aborted) this.#onFailure(runnable, error);
    });
  }
}
