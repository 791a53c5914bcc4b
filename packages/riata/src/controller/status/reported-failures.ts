import type { Change } from '../../cache/informer/change.js';
import { keyId, splitKey } from '../../object/key.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import { forgetCluster } from '../cluster/forget-cluster.js';
import type { Request } from '../loop/request.js';

/** The fields of a status that the framework writes. */
interface ReportedStatus {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

/**
 * What a controller has reported about failures in the `Ready` condition of its objects. In memory alone: after a restart,
 * one more write may be needed.
 *
 * It decides two things. Whether a failure that stands in `Ready` is this controller's to clear, where several controllers
 * of one kind report on the same object: its own reports are. Any other may be its own from another process, or another
 * controller's: it is cleared once, and if it returns, the controller that reports it has to clear it.
 *
 * And whether a change of an object is an echo: nothing but such a report, which is no reason to reconcile. Otherwise a
 * failure would be retried at once, whatever its backoff, also one that isn't to be retried. What the reconciler writes
 * with `status` is no echo: the reconciler may rely on being called for it.
 */
export class ReportedFailures {
  readonly #own = new Set<string>();
  /** Reports of others that were cleared: the object's UID and generation, by key id. */
  readonly #cleared = new Map<string, string>();
  /** The last condition written, by key id, until the watch delivers it. */
  readonly #echoes = new Map<string, Condition>();

  /** Called before a condition is written that the reconciler didn't ask for: the watch may deliver it before the answer. */
  writing(key: Request, ready: Condition): void {
    this.#echoes.set(keyId(key), ready);
  }

  /** A failure was written. */
  reported(key: Request): void {
    this.#own.add(keyId(key));
  }

  /** After a success of an object whose `Ready` shows a failure: whether to clear it. */
  mayClear(key: Request, object: KubeObject): boolean {
    const id = keyId(key);
    if (this.#own.delete(id)) return true;
    const { uid, generation } = object.metadata;
    const version = `${uid}/${generation}`;
    if (this.#cleared.get(id) === version) return false;
    this.#cleared.set(id, version);
    return true;
  }

  /** After a success of an object whose `Ready` shows no failure. */
  forget(key: Request): void {
    if (this.#own.size > 0) this.#own.delete(keyId(key));
  }

  /** The object was deleted. */
  gone(key: Request): void {
    for (const noted of [this.#own, this.#cleared, this.#echoes]) if (noted.size > 0) noted.delete(keyId(key));
  }

  /** A cluster was removed. */
  clusterGone(cluster: string): void {
    for (const noted of [this.#own, this.#cleared, this.#echoes]) forgetCluster(noted, cluster);
  }

  /** Keys arrive from another replica: a failure that stands in `Ready` may be this controller's again. */
  arrived(): void {
    this.#cleared.clear();
  }

  /** True, once, for a change with nothing new but the last condition written. */
  isEcho(change: Change<KubeObject>, cluster: string | undefined): boolean {
    // Mostly there are no echoes; and reading an object freezes it, which takes time.
    if (this.#echoes.size === 0 || change.type !== 'Updated') return false;
    const { key, old, new: now } = change;
    if (old === undefined || now === undefined) return false;
    const id = keyId({ ...splitKey(key), cluster });
    const written = this.#echoes.get(id);
    if (written === undefined || !equal(readyOf(now), written) || !equal(withoutReport(old), withoutReport(now))) {
      return false;
    }
    this.#echoes.delete(id);
    return true;
  }
}

function statusOf(object: KubeObject): ReportedStatus {
  return (object as { readonly status?: ReportedStatus }).status ?? {};
}

function readyOf(object: KubeObject): Condition | undefined {
  return statusOf(object).conditions?.find(({ type }) => type === 'Ready');
}

/** Everything that isn't written together with a `Ready` condition. */
function withoutReport(object: KubeObject): unknown {
  const { resourceVersion: _, managedFields: __, ...metadata } = object.metadata;
  const { conditions = [], observedGeneration: ___, ...rest } = statusOf(object);
  const status = { ...rest, conditions: conditions.filter(({ type }) => type !== 'Ready') };
  return { ...object, metadata, status };
}
