import type { Change, ResourceEventHandler } from 'riata/cache';
import type { KubeObject } from 'riata/object';

/** A version of an object. */
interface Known {
  readonly uid: string;
  readonly version: number;
}

export interface HandlerHistoryOptions {
  /** Stands in front of every problem. */
  readonly name: string;
  /** The store that must be as new as the delivered changes. @default not checked */
  readonly store?: (key: string) => KubeObject | undefined;
}

/**
 * The changes that a handler of an informer received, and those that are impossible: an object that comes back after it
 * was deleted, one that changes before it was added, an `old` that is not what the handler knew, versions that go back.
 */
export class HandlerHistory {
  readonly problems: string[] = [];
  readonly #name: string;
  readonly #store: HandlerHistoryOptions['store'];
  readonly #known = new Map<string, Known>();
  readonly #gone = new Set<string>();
  #changes = 0;
  #isClosed = false;

  constructor({ name, store }: HandlerHistoryOptions) {
    this.#name = name;
    this.#store = store;
  }

  /** How many changes it received. */
  get changes(): number {
    return this.#changes;
  }

  /** For `addEventHandler`. `then` is called with each change, after the look at it; it may be slow. */
  handler<T extends KubeObject>(then?: (change: Change<T>) => unknown): ResourceEventHandler<T> {
    return {
      onChange: (change) => {
        this.take(change);
        return then?.(change);
      },
    };
  }

  /** No change may come any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Key, UID and version of each object, in the order of keys. */
  state(): string[] {
    return [...this.#known].map(([key, { uid, version }]) => `${key} ${uid} ${version}`).sort();
  }

  take(change: Change<KubeObject>): void {
    this.#changes++;
    const { type, key, old, new: next } = change;
    const known = this.#known.get(key);
    const complain = (what: string) =>
      this.problems.push(
        `${this.#name}: ${type} ${key}: ${what}; knew ${reported(known)}, got ${reported(versionOf(old))} → ${reported(versionOf(next))}`,
      );
    if (this.#isClosed) complain('told after it was removed');
    const before = versionOf(old);
    const after = versionOf(next);
    if (type === 'Added') {
      if (known !== undefined) complain('added twice');
      if (before !== undefined || after === undefined) complain('wants `new` alone');
    } else {
      if (known === undefined) complain('not added before');
      if (known?.uid !== before?.uid) complain('`old` is another object than the one before');
    }
    if (type === 'Updated' || type === 'Sync') {
      if (known?.version !== before?.version) complain('`old` is not what was told before');
      if (before?.uid !== after?.uid) complain('another object is no update');
      const isNewer = (after?.version ?? 0) > (before?.version ?? 0);
      if (isNewer !== (type === 'Updated')) complain(isNewer ? 'something new' : 'nothing new');
    }
    if (type === 'Deleted') {
      if ((before?.version ?? 0) < (known?.version ?? 0))
        complain('the final state is older than what was told before');
      if (after !== undefined) complain('wants `old` alone');
      if (change.isFinalStateUnknown && before?.version !== known?.version) complain('the last known state is not it');
    }
    if (after !== undefined && this.#gone.has(after.uid)) complain('was deleted before');
    if (after === undefined) this.#known.delete(key);
    else this.#known.set(key, after);
    if (type === 'Deleted' && before !== undefined) this.#gone.add(before.uid);
    this.#compareWithStore(key, before, after, complain);
  }

  #compareWithStore(
    key: string,
    before: Known | undefined,
    after: Known | undefined,
    complain: (what: string) => void,
  ): void {
    if (this.#store === undefined) return;
    const stored = versionOf(this.#store(key));
    if (after === undefined && stored !== undefined && stored.uid === before?.uid) complain('still in the store');
    if (after !== undefined && stored !== undefined && stored.version < after.version) complain('the store is older');
  }
}

/** As {@link HandlerHistory.state}, of objects. */
export function stateOf(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ metadata: { namespace, name, uid, resourceVersion } }) => `${namespace}/${name} ${uid} ${resourceVersion}`)
    .sort();
}

function versionOf(object: KubeObject | undefined): Known | undefined {
  if (object === undefined) return undefined;
  return { uid: object.metadata.uid, version: Number(object.metadata.resourceVersion) };
}

function reported(known: Known | undefined): string {
  return known === undefined ? 'none' : `${known.uid.slice(0, 8)}@${known.version}`;
}
