import type { Change } from '../../cache/informer/change.js';
import { keyId, splitKey } from '../../object/key.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import type { Request } from './request.js';

/** What a status has that is written without being asked for. */
interface Told {
  readonly conditions?: readonly Condition[];
  readonly observedGeneration?: number;
}

/**
 * Tells apart changes of an object that are no more than what the controller itself has said of a failure, or of its end.
 * They are no reason to reconcile: a failure would be tried again at once, however long it is to wait, and one that is not
 * to be tried again would be. What the reconciler says by `status` is not among them: it may want to go on from there.
 */
export class FailureEchoes {
  /** What was said last, by key; until it is heard. */
  readonly #said = new Map<string, Condition>();

  /** Called before it is written: the change may be heard before the answer. */
  saying(key: Request, ready: Condition): void {
    this.#said.set(keyId(key), ready);
  }

  /** The object is gone. */
  gone(key: Request): void {
    if (this.#said.size > 0) this.#said.delete(keyId(key));
  }

  /** True for a change, once, by which nothing is new but what was said. */
  takes(change: Change<KubeObject>, cluster: string | undefined): boolean {
    // Mostly there is none; and objects are frozen when they are handed out, which costs.
    if (this.#said.size === 0 || change.type !== 'Updated') return false;
    const { key, old, new: now } = change;
    if (old === undefined || now === undefined) return false;
    const id = keyId({ ...splitKey(key), cluster });
    const said = this.#said.get(id);
    if (said === undefined || !equal(readyOf(now), said) || !equal(essence(old), essence(now))) return false;
    this.#said.delete(id);
    return true;
  }
}

function statusOf(object: KubeObject): Told {
  return (object as { readonly status?: Told }).status ?? {};
}

function readyOf(object: KubeObject): Condition | undefined {
  return statusOf(object).conditions?.find(({ type }) => type === 'Ready');
}

/** All that is not written with a `Ready` condition. */
function essence(object: KubeObject): unknown {
  const { resourceVersion: _, managedFields: __, ...metadata } = object.metadata;
  const { conditions = [], observedGeneration: ___, ...rest } = statusOf(object);
  const status = { ...rest, conditions: conditions.filter(({ type }) => type !== 'Ready') };
  return { ...object, metadata, status };
}
