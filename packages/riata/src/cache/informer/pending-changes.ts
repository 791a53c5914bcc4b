import type { KubeObject } from '../../object/meta.js';
import { isAnotherObject, StoredChange } from './change.js';

/** The pending changes of one object: from what the handler knows (`old`) to the current state (`new`). */
interface Merged<T> {
  old: T | undefined;
  new: T | undefined;
  /** Nothing but a resync is pending. */
  isSync: boolean;
  isInInitialList: boolean;
  /** `old` is not the state in which it was deleted. */
  isFinalStateUnknown: boolean;
  /** An object of that name, with another UID, was deleted. */
  isRecreated: boolean;
}

/** Where the front of the line may stand before the line moves up. */
const slack = 256;

/**
 * Changes that wait for a handler. The first `limit` stay as they are, in order. Further ones are merged by object, so
 * that at most two wait for each object: a handler that applies them to what it knew arrives at the same state.
 */
export class PendingChanges<T extends KubeObject> {
  readonly #limit: number;
  #line: (StoredChange<T> | undefined)[] = [];
  #front = 0;
  /** In order of each object's first change here. Not empty: every change goes here, to stay behind it. */
  readonly #merged = new Map<string, Merged<T>>();
  #initial = 0;
  #coalesced = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The number of pending changes; one whose name belongs to another object by now counts once. */
  get size(): number {
    return this.#line.length - this.#front + this.#merged.size;
  }

  /** How many of them are part of the initial list. */
  get initial(): number {
    return this.#initial;
  }

  /** How many changes went into others so far. */
  get coalesced(): number {
    return this.#coalesced;
  }

  push(change: StoredChange<T>): void {
    if (this.#merged.size === 0 && this.#line.length - this.#front < this.#limit) {
      this.#line.push(change);
      if (change.isInInitialList) this.#initial += 1;
    } else {
      this.#merge(change);
    }
  }

  shift(): StoredChange<T> | undefined {
    const first = this.#line[this.#front];
    if (first === undefined) return this.#shiftMerged();
    this.#line[this.#front++] = undefined;
    if (this.#front === this.#line.length || (this.#front > slack && this.#front * 2 > this.#line.length)) {
      this.#line = this.#line.slice(this.#front);
      this.#front = 0;
    }
    if (first.isInInitialList) this.#initial -= 1;
    return first;
  }

  clear(): void {
    this.#line = [];
    this.#front = 0;
    this.#merged.clear();
    this.#initial = 0;
  }

  #merge(change: StoredChange<T>): void {
    const { key, type } = change;
    const next = StoredChange.newOf(change);
    const merged = this.#merged.get(key);
    if (merged === undefined) {
      const { isInInitialList, isFinalStateUnknown, isRecreated } = change;
      const flags = { isSync: type === 'Sync', isInInitialList, isFinalStateUnknown, isRecreated };
      this.#merged.set(key, { old: StoredChange.oldOf(change), new: next, ...flags });
      if (isInInitialList) this.#initial += 1;
      return;
    }
    this.#coalesced += 1;
    if (type === 'Deleted' && merged.old === undefined) {
      this.#merged.delete(key);
      if (merged.isInInitialList) this.#initial -= 1;
      return;
    }
    if (type === 'Deleted' && merged.old && merged.new && !isAnotherObject(merged.old, merged.new)) {
      // The handler knows `old`, not what was deleted: a filter over it has to see what it saw before.
      merged.isFinalStateUnknown = true;
    }
    if (type !== 'Sync') merged.isSync = false;
    merged.new = next;
  }

  #shiftMerged(): StoredChange<T> | undefined {
    const first = this.#merged.entries().next();
    if (first.done) return undefined;
    const [key, merged] = first.value;
    const { old, isInInitialList, isFinalStateUnknown, isRecreated } = merged;
    if (old !== undefined && merged.new !== undefined && isAnotherObject(old, merged.new)) {
      // The other one stays in front: it comes next, unless it was deleted by then.
      merged.old = undefined;
      merged.isRecreated = true;
      return new StoredChange('Deleted', key, old, undefined, { isFinalStateUnknown, isRecreated: true });
    }
    this.#merged.delete(key);
    if (isInInitialList) this.#initial -= 1;
    if (merged.new === undefined) return new StoredChange('Deleted', key, old, undefined, { isFinalStateUnknown });
    if (old === undefined)
      return new StoredChange<T>('Added', key, undefined, merged.new, { isInInitialList, isRecreated });
    return new StoredChange(merged.isSync ? 'Sync' : 'Updated', key, old, merged.new);
  }
}
