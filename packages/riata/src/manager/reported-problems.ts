import type { Clock } from '../runtime/time/clock.js';

/** A problem that lasts is reported again after this time, so that the end of a log shows it. */
const repeatMs = 600_000;

interface Report {
  readonly problem: string;
  readonly at: number;
}

/** Problems that were logged, so that one that lasts is logged once and not with every attempt. */
export class ReportedProblems {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #reports = new Map<string, Report>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Records a problem of a subject; true if it has to be logged: it is new, differs from the last one, or was logged long ago. */
  isNews(subject: string, problem: string): boolean {
    const last = this.#reports.get(subject);
    const now = this.#clock.monotonic();
    if (last?.problem === problem && now - last.at < repeatMs) return false;
    this.#reports.set(subject, { problem, at: now });
    return true;
  }

  /** Records that the subject works; true if there was a problem before. */
  isResolved(subject: string): boolean {
    return this.#reports.delete(subject);
  }
}
