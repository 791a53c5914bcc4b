import type { Clock } from '../runtime/time/clock.js';

/** What lasts is told again after so long: somebody may look at the end of the log only. */
const tellAgainMs = 600_000;

interface Told {
  readonly problem: string;
  readonly at: number;
}

/** Which problems the log knows of, so that one that lasts is told once and not with every try. */
export class ToldProblems {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #told = new Map<string, Told>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Notes a problem of something; true if it is worth a word: new, another one than before, or told long ago. */
  isNews(what: string, problem: string): boolean {
    const told = this.#told.get(what);
    const now = this.#clock.monotonic();
    if (told?.problem === problem && now - told.at < tellAgainMs) return false;
    this.#told.set(what, { problem, at: now });
    return true;
  }

  /** Notes that it works; true if there was a problem before. */
  isMended(what: string): boolean {
    return this.#told.delete(what);
  }
}
