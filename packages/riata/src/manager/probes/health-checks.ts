import { describeError } from '../../runtime/log/describe-error.js';
import { abortable, link } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';

/** Throws or rejects, with the reason, while something is not well (`healthz.Checker`). */
export type HealthCheck = () => void | Promise<void>;

/** What a round of checks found. */
export interface HealthReport {
  readonly ok: boolean;
  /** Problems by name; undefined if the check passed. */
  readonly checks: Readonly<Record<string, string | undefined>>;
  /** The same for checks that are shown but do not count, unless they are requested alone. */
  readonly asides: Readonly<Record<string, string | undefined>>;
}

/** The time limit of a check, so that one that hangs is named instead of holding up all the others. */
interface HealthLimits {
  readonly clock: Scheduler;
  /** Aborts when the caller has closed the connection. */
  readonly signal: AbortSignal;
}

interface HealthQuestion {
  readonly only?: string;
  readonly exclude?: readonly string[];
  /** @default checks may take as long as they like */
  readonly limits?: HealthLimits;
}

const longestMs = 10_000;

type NamedChecks = Iterable<readonly [name: string, check: HealthCheck]>;

/** Named checks, asked all at once (`healthz.Handler`). */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();
  #asides: () => NamedChecks = () => [];

  /** Throws if the name is taken. */
  add(name: string, check: HealthCheck): void {
    if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)) {
      throw new TypeError(
        `health check: name must consist of letters, digits, "-", "." and "_", got ${JSON.stringify(name)}`,
      );
    }
    if (this.#checks.has(name)) throw new Error(`health check "${name}" already exists; choose another name`);
    this.#checks.set(name, check);
  }

  /** Dynamic checks that are shown but do not count. Their names have a slash, which other names don't have. */
  addAsides(asides: () => NamedChecks): void {
    this.#asides = asides;
  }

  has(name: string): boolean {
    return this.#checks.has(name) || new Map(this.#asides()).has(name);
  }

  /** All of them, except those named, or only the one named. */
  async ask({ only, exclude = [], limits }: HealthQuestion = {}): Promise<HealthReport> {
    const isSelected = (name: string) => (only === undefined ? !exclude.includes(name) : name === only);
    const ask = (checks: NamedChecks) => found(checks, isSelected, limits);
    const [checks, asides] = await Promise.all([ask(this.#checks), ask(this.#asides())]);
    const counted = only === undefined ? checks : [...checks, ...asides];
    return {
      ok: counted.every(([, problem]) => problem === undefined),
      checks: Object.fromEntries(checks),
      asides: Object.fromEntries(asides),
    };
  }
}

/** The result of each of them. */
function found(checks: NamedChecks, isSelected: (name: string) => boolean, limits: HealthQuestion['limits']) {
  return Promise.all(
    [...checks]
      .filter(([name]) => isSelected(name))
      .map(async ([name, check]) => {
        try {
          const answer = check();
          if (answer !== undefined) await (limits === undefined ? answer : within(limits, answer));
          return [name, undefined] as const;
        } catch (error) {
          return [name, describeError(error)] as const;
        }
      }),
  );
}

async function within({ clock, signal }: HealthLimits, answer: Promise<void>): Promise<void> {
  using late = link({ signals: [signal], timeoutMs: longestMs, clock, what: 'the check' });
  await abortable(answer, late.signal);
}
