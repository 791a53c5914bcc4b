import { keyOf } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import type { Logger } from '../../runtime/log/logger.js';
import { thrownAt } from '../../runtime/log/user-frame.js';
import type { CounterSeries, Metrics } from '../../runtime/metrics.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type FailingObject, FailingObjects } from './failing-objects.js';
import { identityProblem } from './metadata-problem.js';

/** What a {@link WithheldObjects} works with. */
export interface WithheldObjectsParts<T extends KubeObject> {
  /** Of the informer or reflector. */
  readonly name: string;
  readonly kind: string | undefined;
  readonly runtime: Pick<Runtime, 'clock' | 'random' | 'metrics'>;
  readonly log: Logger;
  /** Calls the transform again for an object; throws its error. */
  readonly retry: (object: T) => void;
}

interface Withheld<T> {
  readonly object: T;
  readonly error: unknown;
}

/** While a list is fetched nothing is retried: the list is newer. */
const postponedMs = 1_000;

/**
 * Objects that a server has and a store does not get: the transform fails for them, or their metadata are malformed.
 * The former are retried with backoff. All are forgotten when they are deleted, and checked again when there is a newer
 * version.
 */
export class WithheldObjects<T extends KubeObject> {
  readonly #parts: WithheldObjectsParts<T>;
  readonly #failures: (func: string) => CounterSeries;
  /** Made by the first one; none while nothing runs. */
  #failing: FailingObjects<Withheld<T>> | undefined;
  /** While a list is fetched: those that are in it. */
  #listed: Set<string> | undefined;

  constructor(parts: WithheldObjectsParts<T>) {
    this.#parts = parts;
    this.#failures = informerFailures(parts.runtime.metrics, parts.name);
  }

  get size(): number {
    return this.#failing?.size ?? 0;
  }

  list(most?: number): readonly FailingObject[] {
    return this.#failing?.list(most) ?? [];
  }

  /** Their ids: keys, where they have one. */
  *ids(): Iterable<string> {
    for (const [id] of this.#failing ?? []) yield id;
  }

  /** Why an object is withheld; undefined if it is not. */
  errorOf(key: string): unknown {
    return this.#failing?.get(key)?.error;
  }

  /** Notes that an object cannot be taken in. */
  add(object: T, func: 'transform' | 'metadata', error: unknown): void {
    const { kind, log, runtime } = this.#parts;
    const id = withheldId(object);
    this.#failing ??= new FailingObjects<Withheld<T>>(runtime, (each, { object: withheld }) =>
      this.#retry(each, withheld),
    );
    const known = this.#failing.get(id);
    // The error itself was made on a stack that begins with the transport, which may be the user's, too: its cause names the line.
    const at = error instanceof Error ? thrownAt(error.cause) : undefined;
    const failure = { key: id, function: func, error, ...(at !== undefined && { at }) };
    const isNewer = known !== undefined && known.object !== object;
    const { attempt, retryMs, isNews } = this.#failing.add(
      ...([id, { object, error }, failure, { isNewer, retry: func === 'transform' }] as const),
    );
    this.#listed?.add(id);
    this.#failures(func).inc();
    const { resourceVersion } = object.metadata;
    const fields = { kind: object.kind ?? kind, key: id, resourceVersion, function: func, attempt, error };
    const words =
      func === 'metadata'
        ? 'withheld a malformed object'
        : 'withheld an object that the transform failed for, will be retried';
    const details = { ...fields, ...(at !== undefined && { at }), ...(retryMs !== undefined && { retryMs }) };
    if (isNews) log.error(words, details);
    else log.debug(words, details);
  }

  /** The object was stored, or deleted. */
  delete(object: T): void {
    if (this.#failing === undefined || this.#failing.size === 0) return;
    const id = withheldId(object);
    this.#failing.delete(id);
    this.#listed?.delete(id);
  }

  /** A list is about to be fetched. */
  beginList(): void {
    this.#listed = new Set();
  }

  /** The list is complete: objects that are not in it were deleted. */
  endList(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    if (this.#failing === undefined || listed === undefined) return;
    for (const [id] of [...this.#failing]) if (!listed.has(id)) this.#failing.delete(id);
  }

  /** Nothing is retried any more. */
  end(): void {
    this.#listed = undefined;
    this.#failing?.close();
    this.#failing = undefined;
  }

  #retry(id: string, object: T): void {
    if (this.#listed !== undefined) {
      this.#failing?.postpone(id, postponedMs);
      return;
    }
    try {
      this.#parts.retry(object);
    } catch (error) {
      this.add(object, 'transform', error);
      return;
    }
    this.#failing?.recovered(id);
    this.#parts.log.info('transform succeeded, object is no longer withheld', { key: id });
  }
}

/** Failures of functions that an informer calls, and of objects that it was sent, by what failed. */
export function informerFailures(metrics: Metrics, informer: string): (func: string) => CounterSeries {
  const counter = metrics.counter({
    name: 'riata_informer_failures_total',
    help: 'Calls of transforms, index functions and handlers that failed for one object, and malformed objects.',
    labels: ['informer', 'function'],
  });
  return (func) => counter.with({ informer, function: func });
}

/** The object's key; for one without a key, the best identification. */
export function withheldId(object: KubeObject): string {
  if (identityProblem(object.metadata) === undefined) return keyOf(object);
  const { namespace, name, uid } = object.metadata as { namespace?: unknown; name?: unknown; uid?: unknown };
  const shown = name === undefined || name === null || name === '' ? `(no name) uid ${uid}` : String(name);
  return namespace ? `${namespace}/${shown}` : shown;
}
