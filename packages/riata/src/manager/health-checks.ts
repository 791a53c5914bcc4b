import { describeError } from '../runtime/describe-error.js';

/** Throws or rejects, with the reason, while something is not well (`healthz.Checker`). */
export type HealthCheck = () => void | Promise<void>;

/** What a round of checks found. */
export interface HealthReport {
  readonly ok: boolean;
  /** By name: what is wrong; undefined if nothing is. */
  readonly checks: Readonly<Record<string, string | undefined>>;
}

/** Named checks, asked all at once (`healthz.Handler`). */
export class HealthChecks {
  readonly #checks = new Map<string, HealthCheck>();

  /** Throws if the name is taken. */
  add(name: string, check: HealthCheck): void {
    if (!/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(name)) {
      throw new TypeError(`health check: name wants letters, digits, "-", "." and "_", got ${JSON.stringify(name)}`);
    }
    if (this.#checks.has(name)) throw new Error(`there already is a health check named "${name}"; choose another name`);
    this.#checks.set(name, check);
  }

  has(name: string): boolean {
    return this.#checks.has(name);
  }

  /** All of them, except those named, or only the one named. */
  async ask({ only, exclude = [] }: { only?: string; exclude?: readonly string[] } = {}): Promise<HealthReport> {
    const wanted = [...this.#checks].filter(([name]) => (only === undefined ? !exclude.includes(name) : name === only));
    const found = await Promise.all(
      wanted.map(async ([name, check]) => {
        try {
          await check();
          return [name, undefined] as const;
        } catch (error) {
          return [name, describeError(error)] as const;
        }
      }),
    );
    return { ok: found.every(([, problem]) => problem === undefined), checks: Object.fromEntries(found) };
  }
}
