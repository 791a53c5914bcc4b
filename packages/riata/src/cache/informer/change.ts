import type { KubeObject, ObjectMeta } from '../../object/meta.js';
import { freeze } from '../../object/value/freeze.js';

/**
 * The type of a change. `Sync`: nothing changed; the object is delivered again, by a resync or a list that brought
 * nothing new.
 */
export type ChangeType = 'Added' | 'Updated' | 'Deleted' | 'Sync';

/**
 * One change of one object, as an informer delivers it: client-go's three notifications in one. Cheap to create and to
 * pass on: `old` and `new` are frozen on first access.
 */
export interface Change<out T extends KubeObject> {
  readonly type: ChangeType;
  /** `namespace/name`, or `name` alone. */
  readonly key: string;
  /** `Added`, and part of what was there when the handler began: of the first list, or of what the informer knew already. */
  readonly isInInitialList: boolean;
  /** `Deleted`, and `old` is only the last state that is known (`DeletedFinalStateUnknown`). */
  readonly isFinalStateUnknown: boolean;
  /**
   * True for a `Deleted` and the `Added` after it that came as one event: the name now belongs to another object,
   * with another UID.
   */
  readonly isRecreated: boolean;
  /** Of `new`; of `old` if it was deleted. */
  readonly metadata: ObjectMeta;
  /** The state that the handler knew before, for a deleted object its last state; none for `Added`. Frozen. */
  readonly old: T | undefined;
  /** The current state; none for `Deleted`. Frozen. */
  readonly new: T | undefined;
}

/** {@link Change.isInInitialList} and the like, all false unless said. */
export interface ChangeFlags {
  readonly isInInitialList?: boolean;
  readonly isFinalStateUnknown?: boolean;
  readonly isRecreated?: boolean;
}

const noFlags: ChangeFlags = {};

/** A {@link Change} over objects as a store keeps them. One of `old` and `new` is there. */
export class StoredChange<out T extends KubeObject> implements Change<T> {
  readonly type: ChangeType;
  readonly key: string;
  readonly isInInitialList: boolean;
  readonly isFinalStateUnknown: boolean;
  readonly isRecreated: boolean;
  readonly #old: T | undefined;
  readonly #new: T | undefined;

  constructor(type: ChangeType, key: string, old: T | undefined, next: T | undefined, flags: ChangeFlags = noFlags) {
    this.type = type;
    this.key = key;
    this.#old = old;
    this.#new = next;
    this.isInInitialList = flags.isInInitialList === true;
    this.isFinalStateUnknown = flags.isFinalStateUnknown === true;
    this.isRecreated = flags.isRecreated === true;
  }

  get metadata(): ObjectMeta {
    return freeze((this.#new ?? this.#old)?.metadata) as ObjectMeta;
  }

  get old(): T | undefined {
    return freeze(this.#old);
  }

  get new(): T | undefined {
    return freeze(this.#new);
  }

  /** `old`, not handed out: not frozen. */
  static oldOf<T extends KubeObject>(change: StoredChange<T>): T | undefined {
    return change.#old;
  }

  /** `new`, not handed out: not frozen. */
  static newOf<T extends KubeObject>(change: StoredChange<T>): T | undefined {
    return change.#new;
  }
}

/** True if both are known and differ: the same name, another object. */
export function isAnotherObject(a: KubeObject, b: KubeObject): boolean {
  const uid = a.metadata?.uid;
  const other = b.metadata?.uid;
  return uid !== other && !!uid && !!other;
}
