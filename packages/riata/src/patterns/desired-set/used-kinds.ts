import type { Client } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { eachSetObject, type SetObjectsQuery } from './each-set-object.js';
import { setKey } from './set-identity.js';

/** After a look that did not show all. */
const againMs = 60_000;

/** How {@link UsedKinds} looks. */
export interface KindLookup extends Omit<SetObjectsQuery, 'log' | 'clock'> {
  readonly everyMs: number;
}

interface Look {
  readonly done: Promise<{ readonly isWhole: boolean }>;
  isOver: boolean;
  /** When it is to be done again, on the monotonic clock. */
  nextAt: number;
}

/**
 * Which kinds each set has objects of. The marks of the objects themselves are the record, so nothing is lost with a
 * process: one look at the metadata of all objects of any set tells of all sets at once. After that, what is applied
 * here is noted as it happens.
 */
export class UsedKinds {
  readonly #clock: Scheduler;
  readonly #log: Logger;
  /** By the set's key, then by `kind.group`. */
  #kinds = new Map<string, Map<string, KindRef>>();
  /** Of all sets, by `kind.group`: what was applied here. */
  readonly #applied = new Map<string, KindRef>();
  /** What will take its place when the look that is under way is over. */
  #next: Map<string, Map<string, KindRef>> | undefined;
  /** The last look, by namespace. */
  readonly #looks = new Map<string, Look>();

  constructor(clock: Scheduler, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** What a set is known to have objects of. */
  of(key: string): KindRef[] {
    return [...(this.#kinds.get(key)?.values() ?? [])];
  }

  /** What was applied here, of all sets. */
  get applied(): readonly KindRef[] {
    return [...this.#applied.values()];
  }

  /** A set is about to have an object of this kind. */
  note(key: string, kind: KindRef): void {
    this.#applied.set(`${kind.kind}.${kind.group}`, kind);
    this.#found(key, kind);
  }

  #found(key: string, kind: KindRef): void {
    add(this.#kinds, key, kind);
    if (this.#next !== undefined) add(this.#next, key, kind);
  }

  /** A set has nothing any more. */
  forget(key: string): void {
    this.#kinds.delete(key);
  }

  /** Looks unless that was done not long ago; whoever asks meanwhile waits for the same answer. */
  async lookUp(client: Client, lookup: KindLookup): Promise<void> {
    const place = lookup.namespace ?? '';
    for (let look = this.#looks.get(place); look !== undefined; look = this.#looks.get(place)) {
      if (look.isOver && this.#clock.monotonic() >= look.nextAt) break;
      // If it fails, that is told to who began it, perhaps for giving up; the others look themselves.
      if (await look.done.catch(() => undefined)) return;
    }
    const look: Look = { done: this.#look(client, lookup), isOver: false, nextAt: this.#clock.monotonic() };
    this.#looks.set(place, look);
    try {
      const { isWhole } = await look.done;
      // What could not be seen may be there to be seen soon.
      look.nextAt += isWhole ? lookup.everyMs : Math.min(lookup.everyMs, againMs);
      look.isOver = true;
    } catch (error) {
      this.#looks.delete(place);
      throw error;
    }
  }

  /** A look at everything also forgets the sets that are gone. */
  async #look(client: Client, lookup: KindLookup): Promise<{ readonly isWhole: boolean }> {
    const isEverywhere = lookup.namespace === undefined;
    if (isEverywhere) this.#next = new Map();
    try {
      const isWhole = await eachSetObject(
        client,
        { ...lookup, log: this.#log, clock: this.#clock },
        ({ metadata }, kind) => {
          this.#found(setKey(metadata.annotations), kind);
        },
      );
      if (isEverywhere && isWhole && this.#next !== undefined) this.#kinds = this.#next;
      return { isWhole };
    } finally {
      if (isEverywhere) this.#next = undefined;
    }
  }
}

function add(all: Map<string, Map<string, KindRef>>, key: string, kind: KindRef): void {
  const kinds = all.get(key) ?? new Map<string, KindRef>();
  all.set(key, kinds);
  const id = `${kind.kind}.${kind.group}`;
  if (!kinds.has(id)) kinds.set(id, kind);
}
