import type { Runtime } from '../../runtime/runtime.js';
import { abortable, isAbortOf, link } from '../../runtime/signals.js';
import { isSyncing, type Source } from '../source/source.js';
import type { SourceFailures } from '../source/source-failures.js';
import type { ControllerNumbers } from './controller-options.js';
import type { RequestQueue } from './request.js';

/** The arguments of {@link startSources}. */
export interface StartedSources {
  readonly controller: string;
  readonly sources: readonly Source[];
  readonly queue: RequestQueue;
  /** Names of those that aren't synced, for health. */
  readonly unsynced: Set<string>;
  readonly numbers: Pick<ControllerNumbers, 'syncTimeout' | 'syncTimeoutMs'>;
  readonly signal: AbortSignal;
  readonly runtime: Runtime;
  readonly failures: SourceFailures;
}

/** Starts sources, and resolves when all are synced. A source whose kind is not served yet may take any time. */
export async function startSources(parts: StartedSources): Promise<void> {
  const { sources, queue, unsynced, numbers, signal, runtime, failures } = parts;
  // Two sources may have the same name, as when a controller watches a kind twice.
  const waiting = new Set(sources);
  for (const source of sources) unsynced.add(source.name);
  await Promise.all(sources.map((source) => source.start(queue, { signal, runtime, failures })));
  const synced = Promise.all(
    sources.map(async (source) => {
      if (isSyncing(source)) await source.waitForSync({ signal });
      waiting.delete(source);
      if (![...waiting].some(({ name }) => name === source.name)) unsynced.delete(source.name);
    }),
  );
  for (;;) {
    using timed = link({ signals: [signal], timeoutMs: numbers.syncTimeoutMs, clock: runtime.clock });
    try {
      await abortable(synced, timed.signal);
      return;
    } catch (error) {
      if (signal.aborted || !isAbortOf(timed.signal, error)) throw error;
      const late = [...waiting];
      if (late.every((source) => isSyncing(source) && source.isPatient)) continue;
      const names = [...unsynced].join(', ');
      const problem = `not synced after ${numbers.syncTimeout}: ${names}`;
      throw new Error(`controller "${parts.controller}": ${problem}`, { cause: error });
    }
  }
}
