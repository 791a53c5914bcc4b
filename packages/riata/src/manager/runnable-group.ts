import { Removed } from '../runtime/stop-reasons.js';
import { type Runnable, type RunnableStage, startOrder } from './runnable.js';

interface Member {
  readonly runnable: Runnable;
  readonly stop: AbortController;
  /** Settles, never rejects, when it has ended; undefined until it is started. */
  ended: Promise<void> | undefined;
  /** The same for its warm-up. */
  warm: Promise<void> | undefined;
}

/** A group for each stage. */
export type RunnableGroups = Readonly<Record<RunnableStage, RunnableGroup>>;

/** Makes the groups of a manager. `onFailure` is called with runnables that fail. */
export function makeGroups(onFailure: (runnable: Runnable, error: unknown) => void): RunnableGroups {
  const groups = startOrder.map((stage) => [stage, new RunnableGroup(onFailure)] as const);
  return Object.fromEntries(groups) as unknown as RunnableGroups;
}

/** Runnables that are started together and stopped together. */
export class RunnableGroup {
  readonly #members = new Set<Member>();
  readonly #onFailure: (runnable: Runnable, error: unknown) => void;
  #state: 'waiting' | 'warm' | 'started' | 'stopped' = 'waiting';
  #reason: unknown;

  /** `onFailure` is called with those that reject before they are stopped. */
  constructor(onFailure: (runnable: Runnable, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Those that have not ended. */
  get running(): readonly string[] {
    return [...this.#members].filter(({ ended }) => ended !== undefined).map(({ runnable }) => runnable.name);
  }

  /** Starts it at once if the group is started, or warms it up. Returns a function that stops and removes it. */
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

  /** Warms up all of them, also those added before the group is started; does not wait for that. */
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

  /** Resolves when all have ended. A runnable that is added later is never started. */
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
      // If it runs meanwhile, its run fails.
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
