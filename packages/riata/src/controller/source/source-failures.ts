import type { FailingObject, FailingObjects } from '../../cache/store/failing-objects.js';
import type { Counter, Gauge } from '../../runtime/metrics.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ReconcileRecord } from '../loop/reconcile-record.js';
import type { Cause, Request } from '../loop/request.js';

/** An object that a function of a controller fails for, and through which source it came. */
export interface FailingSourceObject extends FailingObject {
  /** Such as `for Foo`, `watches Secret`; `queue` for functions of the queue. */
  readonly source: string;
  /** Of an added cluster. */
  readonly cluster?: string;
}

/** Objects that functions of one source fail for. */
export interface FailingSource {
  readonly name: string;
  readonly cluster: string | undefined;
  readonly objects: Pick<FailingObjects<unknown>, 'size' | 'list' | 'nextRetryMs'>;
  /** Why the object was looked at. */
  causesOf(key: string): readonly Cause[];
}

/** More than these are counted, not listed. */
const mostListed = 100;

/**
 * Failures of the functions between a controller's sources and its queue: counted, and shown by health and `explain`.
 */
export class SourceFailures {
  readonly controller: string;
  readonly #sources = new Set<FailingSource>();
  readonly #clock: Runtime['clock'];
  readonly #failures: Counter<'controller' | 'source' | 'function'>;
  readonly #failing: Gauge<'controller' | 'source'>;

  constructor(controller: string, { clock, metrics }: Pick<Runtime, 'clock' | 'metrics'>) {
    this.controller = controller;
    this.#clock = clock;
    this.#failures = metrics.counter({
      name: 'riata_source_failures_total',
      help: 'Calls of predicates, handlers, map functions and the like that failed for one object.',
      labels: ['controller', 'source', 'function'],
    });
    this.#failing = metrics.gauge({
      name: 'riata_source_failing_objects',
      help: 'Objects that lead to no reconcile yet, as a predicate, handler, map function or the like fails for them.',
      labels: ['controller', 'source'],
    });
  }

  /** Shows the objects of a source until the answer is disposed of. */
  add(source: FailingSource): Disposable {
    this.#sources.add(source);
    this.changed(source.name);
    return {
      [Symbol.dispose]: () => {
        this.#sources.delete(source);
        this.changed(source.name);
      },
    };
  }

  /** A call has failed. */
  count(source: string, func: string): void {
    this.#failures.with({ controller: this.controller, source, function: func }).inc();
  }

  /** There are more objects or fewer. */
  changed(source: string): void {
    const sources = [...this.#sources].filter(({ name }) => name === source);
    const size = sources.reduce((sum, { objects }) => sum + objects.size, 0);
    this.#failing.with({ controller: this.controller, source }).set(size);
  }

  /** How many wait for a retry. */
  get retrying(): number {
    let count = 0;
    for (const { objects } of this.#sources) if (objects.nextRetryMs !== undefined) count += objects.size;
    return count;
  }

  /** Milliseconds until the next retry; undefined without one. */
  get nextRetryMs(): number | undefined {
    let next: number | undefined;
    for (const { objects } of this.#sources) {
      const { nextRetryMs: own } = objects;
      if (own !== undefined && (next === undefined || own < next)) next = own;
    }
    return next;
  }

  /** The first 100. */
  get list(): readonly FailingSourceObject[] {
    const list: FailingSourceObject[] = [];
    for (const { name: source, cluster, objects } of this.#sources) {
      for (const object of objects.list(mostListed - list.length)) {
        list.push({ ...object, source, ...(cluster !== undefined && { cluster }) });
      }
    }
    return list;
  }

  /** The same as `explain` shows them, by the keys of these objects. */
  get records(): readonly ReconcileRecord[] {
    const records: ReconcileRecord[] = [];
    const now = this.#clock.now();
    for (const { cluster, objects, causesOf } of this.#sources) {
      for (const object of objects.list(mostListed - records.length)) {
        const { key, attempts, failingMs, retryMs, error, at } = object;
        records.push({
          ...{ controller: this.controller, key: requestOf(key, cluster), reconcileID: '' },
          ...{ startedAt: now - failingMs, queuedMs: 0, durationMs: 0, attempt: attempts, priority: 0 },
          ...{ reasons: causesOf(key), outcome: 'not_enqueued', writes: [] },
          ...(retryMs !== undefined && { requeueAfterMs: retryMs }),
          error: `${object.function}: ${error}${at === undefined ? '' : ` at ${at}`}`,
        });
      }
    }
    return records;
  }
}

/** Must not fail whatever the server has named its objects. */
function requestOf(key: string, cluster: string | undefined): Request {
  const slash = key.indexOf('/');
  const place = cluster === undefined ? {} : { cluster };
  if (slash < 0) return Object.freeze({ ...place, name: key });
  return Object.freeze({ ...place, namespace: key.slice(0, slash), name: key.slice(slash + 1) });
}
