import type { Runtime } from '../../runtime/runtime.js';
import { abortable, isAbortOf, type LinkedSignal, link } from '../../runtime/signals.js';
import { Removed } from '../../runtime/stop-reasons.js';
import { isSyncing, type Source, type SourceOptions } from '../source/source.js';
import type { SourceFailures } from '../source/source-failures.js';
import type { ControllerSettings } from './controller-options.js';
import type { RequestQueue } from './request.js';

/** What {@link ControllerSources} need. */
export interface ControllerSourcesParts {
  readonly controller: string;
  readonly queue: RequestQueue;
  readonly settings: ControllerSettings;
  /** Aborts when the controller ends. */
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  readonly failures: SourceFailures;
}

interface Entry {
  readonly stop: AbortController;
  /** Undefined until it is started. */
  scope: LinkedSignal | undefined;
}

/** The sources of one controller, which may come and go while it runs. */
export class ControllerSources {
  readonly #parts: ControllerSourcesParts;
  readonly #entries = new Map<Source, Entry>();
  /** Those that the start waits for. */
  readonly #waiting = new Map<Source, Promise<void>>();
  #isStarted = false;

  constructor(parts: ControllerSourcesParts) {
    this.#parts = parts;
  }

  /** Names of those that aren't synced, for health. Two sources may have the same name. */
  get unsynced(): readonly string[] {
    return [...new Set([...this.#waiting.keys()].map(({ name }) => name))];
  }

  /** Starts it at once if the others are started; while these are not synced, it is waited for as well. */
  async add(source: Source, { takesEffect }: Pick<SourceOptions, 'takesEffect'> = {}): Promise<void> {
    this.#entries.set(source, { stop: new AbortController(), scope: undefined });
    if (!this.#isStarted) return;
    const isAwaited = this.#waiting.size > 0;
    try {
      await this.#start(source, takesEffect);
    } catch (error) {
      this.remove(source);
      throw error;
    }
    if (isAwaited) this.#sync(source);
  }

  /** Stops it. Does nothing for others. */
  remove(source: Source): void {
    const entry = this.#entries.get(source);
    if (entry === undefined) return;
    this.#entries.delete(source);
    entry.stop.abort(new Removed(`source "${source.name}" was removed`));
    entry.scope?.[Symbol.dispose]();
  }

  /** Starts all, and resolves when they are synced. A source whose kind is not served yet may take any time. */
  async start(): Promise<void> {
    this.#isStarted = true;
    const sources = [...this.#entries.keys()];
    for (const source of sources) this.#waiting.set(source, new Promise(() => {}));
    await Promise.all(sources.map((source) => this.#start(source)));
    for (const source of sources) this.#sync(source);
    // Others may have been added meanwhile.
    while (this.#waiting.size > 0) {
      await this.#wait(() => this.#waiting.keys(), Promise.all(this.#waiting.values()));
    }
  }

  /** Resolves when these are synced, which were added later; rejects as {@link start}, or with the signal's reason. */
  async synced(sources: readonly Source[], { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const waiting = new Set(sources);
    const synced = sources.map(async (source) => {
      await this.#syncOne(source);
      waiting.delete(source);
    });
    await this.#wait(() => waiting, Promise.all(synced), signal);
  }

  async #start(source: Source, takesEffect?: AbortSignal): Promise<void> {
    const entry = this.#entries.get(source);
    if (entry === undefined) return;
    const { queue, signal, runtime, failures } = this.#parts;
    entry.scope = link(signal, entry.stop.signal);
    await source.start(queue, { signal: entry.scope.signal, runtime, failures, takesEffect });
  }

  #sync(source: Source): void {
    const synced = this.#syncOne(source).then(() => void this.#waiting.delete(source));
    // Whoever waits for all of them gets it.
    synced.catch(() => {});
    this.#waiting.set(source, synced);
  }

  /** One that is removed meanwhile is not waited for. */
  async #syncOne(source: Source): Promise<void> {
    const entry = this.#entries.get(source);
    if (entry === undefined || !isSyncing(source)) return;
    const { signal } = this.#parts;
    try {
      using scope = link(signal, entry.stop.signal);
      await source.waitForSync({ signal: scope.signal });
    } catch (error) {
      if (signal.aborted || !entry.stop.signal.aborted) throw error;
    }
  }

  async #wait(late: () => Iterable<Source>, synced: Promise<unknown>, given?: AbortSignal): Promise<void> {
    const { controller, settings, signal, runtime } = this.#parts;
    // It may fail after the wait is over.
    synced.catch(() => {});
    for (;;) {
      const { syncTimeout, syncTimeoutMs } = settings.numbers;
      using either = link(signal, given);
      using timed = link({ signals: [either.signal], timeoutMs: syncTimeoutMs, clock: runtime.clock });
      try {
        await abortable(synced, timed.signal);
        return;
      } catch (error) {
        if (either.signal.aborted || !isAbortOf(timed.signal, error)) throw error;
        const left = [...late()].filter((source) => this.#entries.has(source));
        if (left.every((source) => isSyncing(source) && source.isPatient)) continue;
        const names = [...new Set(left.map(({ name }) => name))].join(', ');
        throw new Error(`controller "${controller}": not synced after ${syncTimeout}: ${names}`, { cause: error });
      }
    }
  }
}
