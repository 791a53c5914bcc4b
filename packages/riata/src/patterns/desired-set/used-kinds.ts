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
  /** When the scan is due again, on the monotonic clock. */
  nextAt: number;
}

/**
 * Which kinds each set has objects of. The marks of the objects themselves are the record, so nothing is lost with a
 * process: one scan of the metadata of all objects of any set covers all sets at once. After that, applies by this
 * process are noted as they happen.
 */
export class UsedKinds {
  readonly #clock: Scheduler;
  readonly #log: Logger;
  /** By the set's key, then by `kind.group`. */
  #kinds = new Map<string, Map<string, KindRef>>();
  /** Kinds that this process applied, of all sets, by `kind.group`. */
  readonly #applied = new Map<string, KindRef>();
  /** The result of the scan in flight, which will replace the present one. */
  #next: Map<string, Map<string, KindRef>> | undefined;
  /** The last look, by namespace. */
  readonly #looks = new Map<string, Look>();

  constructor(clock: Scheduler, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** The kinds that a set is known to have objects of. */
  of(key: string): KindRef[] {
    return [...(this.#kinds.get(key)?.values() ?? [])];
  }

  /** The kinds that this process applied, of all sets. */
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

  /** Scans unless that was done recently; concurrent callers share the result. */
  async lookUp(client: Client, lookup: KindLookup): Promise<void> {
    const place = lookup.namespace ?? '';
    for (let look = this.#looks.get(place); look !== undefined; look = this.#looks.get(place)) {
      if (look.isOver && this.#clock.monotonic() >= look.nextAt) break;
      // A failure goes to the caller that started the scan, which may have aborted it; the others scan themselves.
      if (await look.done.catch(() => undefined)) return;
    }
    const look: Look = { done: this.#look(client, lookup), isOver: false, nextAt: this.#clock.monotonic() };
    this.#looks.set(place, look);
    try {
      const { isWhole } = await look.done;
      // A kind that could not be listed may become readable soon.
      look.nextAt += isWhole ? lookup.everyMs : Math.min(lookup.everyMs, againMs);
      look.isOver = true;
    } catch (error) {
      this.#looks.delete(place);
      throw error;
    }
  }

  /** A full scan also drops sets that no longer exist. */
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
