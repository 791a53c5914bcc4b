import type { Runtime } from '../../runtime/runtime.js';
import type { RequestQueue } from '../loop/request.js';
import type { SourceFailures } from './source-failures.js';

/** The parameters of a source's start. */
export interface SourceOptions {
  readonly signal: AbortSignal;
  /** The controller's: for sources that wait or log. */
  readonly runtime?: Runtime;
  /** Where the source reports objects that a function fails for. @default nowhere */
  readonly failures?: SourceFailures;
  /** Whose objects are meant by keys that do not say it, where there are several clusters. @default none */
  readonly cluster?: string;
}

/** Where a controller's keys come from (`source.Source`). */
export interface Source {
  /** In logs, and as the cause of the keys that come from it. */
  readonly name: string;
  /** Starts to enqueue keys, until the signal aborts; resolves when it has started (`Source.Start`). Called once. */
  start(queue: RequestQueue, options: SourceOptions): Promise<void>;
}

/** A {@link Source} that knows of things that were there before it (`source.SyncingSource`). */
export interface SyncingSource extends Source {
  /** Resolves when all of these have come to the queue. Rejects if they cannot, or with the signal's reason. */
  waitForSync(options: { readonly signal: AbortSignal }): Promise<void>;
  /** True while it waits for something that may come any day, such as a kind that is not served yet. @default false */
  readonly isPatient?: boolean;
}

/** True for a {@link SyncingSource}. */
export function isSyncing(source: Source): source is SyncingSource {
  return 'waitForSync' in source;
}

/** The same source, with keys of this cluster. */
export function inCluster(source: Source, cluster: string): Source {
  const start: Source['start'] = (queue, options) => source.start(queue, { ...options, cluster });
  if (!isSyncing(source)) return { name: source.name, start };
  const syncing: SyncingSource = {
    name: source.name,
    start,
    waitForSync: (options) => source.waitForSync(options),
    get isPatient() {
      return source.isPatient;
    },
  };
  return syncing;
}
