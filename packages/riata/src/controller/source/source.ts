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
  /**
   * Given to sources that are started while the controller runs with other code: aborts when that is replaced. Until then keys
   * are held back, and an index that exists keeps its function. @default none
   */
  readonly takesEffect?: AbortSignal;
}

/** Where a controller's keys come from (`source.Source`). */
export interface Source {
  /** In logs, and as the cause of the keys that come from it. */
  readonly name: string;
  /** Starts to enqueue keys, until the signal aborts; resolves when it has started (`Source.Start`). Called once. */
  start(queue: RequestQueue, options: SourceOptions): Promise<void>;
  /**
   * Called on a source that was started, when its definition is replaced: how it continues with the functions of `next`, a
   * source of the same name, which is not started then. The answer is called when the new code runs, and must not fail.
   * Undefined if it cannot: then `next` is started, and this one is stopped. @default it cannot
   */
  adopt?(next: Source): (() => void) | undefined;
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

/** Where {@link inCluster} keeps the source. */
const placed: unique symbol = Symbol('riata.placedSource');

type PlacedSource = Source & { readonly [placed]: Source };

/** The same source, with keys of this cluster. */
export function inCluster(source: Source, cluster: string): Source {
  const start: Source['start'] = (queue, options) => source.start(queue, { ...options, cluster });
  const adopt: Source['adopt'] = (next) => source.adopt?.((next as Partial<PlacedSource>)[placed] ?? next);
  const same: PlacedSource = { name: source.name, start, adopt, [placed]: source };
  if (!isSyncing(source)) return same;
  const syncing: SyncingSource & PlacedSource = {
    ...same,
    waitForSync: (options) => source.waitForSync(options),
    get isPatient() {
      return source.isPatient;
    },
  };
  return syncing;
}
