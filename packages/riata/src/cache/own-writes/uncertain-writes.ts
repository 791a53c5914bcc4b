import type { Clock } from '../../runtime/time/clock.js';

/** Uncertain writes expire after this time: a watch that far behind has other problems. */
export const expiryMs = 300_000;

/** A write whose answer does not show its outcome: ask the server, or wait until the watch reaches this revision. */
export interface UncertainWrite {
  /** Undefined if the answer was lost. */
  readonly resourceVersion: string | undefined;
}

/** An uncertain write and the object it is about; without a key, it is about all objects. */
export type UncertainWriteEntry = readonly [key: string | undefined, write: UncertainWrite];

interface Kept {
  readonly write: UncertainWrite;
  readonly sinceMs: number;
}

/** Own writes with unknown outcome, until the server was asked or the watch has caught up. */
export class UncertainWrites {
  readonly #clock: Clock;
  readonly #isShown: (resourceVersion: string) => boolean;
  /** The oldest first. */
  readonly #byKey = new Map<string, Kept>();
  #all: Kept | undefined;
  /** Objects that were checked since the write about all objects. */
  readonly #checked = new Set<string>();

  /** `isShown`: whether the watch has reached a revision. */
  constructor(clock: Clock, isShown: (resourceVersion: string) => boolean) {
    this.#clock = clock;
    this.#isShown = isShown;
  }

  add(key: string, resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined && this.#isShown(resourceVersion)) return;
    this.#byKey.delete(key);
    this.#byKey.set(key, this.#keep(resourceVersion));
  }

  addAll(resourceVersion: string | undefined): void {
    if (resourceVersion !== undefined && this.#isShown(resourceVersion)) return;
    this.#all = this.#keep(resourceVersion);
    this.#checked.clear();
  }

  /** The write about an object, or about all objects; without a key, only the one about all. */
  of(key?: string): UncertainWrite | undefined {
    if (this.#all !== undefined && this.#isExpired(this.#all)) this.#dropAll();
    if (key === undefined || (this.#all !== undefined && !this.#checked.has(key))) return this.#all?.write;
    const kept = this.#byKey.get(key);
    if (kept === undefined || !this.#isExpired(kept)) return kept?.write;
    this.#byKey.delete(key);
    return undefined;
  }

  keys(): string[] {
    return [...this.#byKey.keys()];
  }

  /** All uncertain writes. */
  open(): UncertainWriteEntry[] {
    const all = this.of();
    const open: UncertainWriteEntry[] = Array.from(this.#byKey, ([key, { write }]) => [key, write]);
    return all === undefined ? open : [[undefined, all], ...open];
  }

  /** The server was at this revision after these writes: the watch need not get further. */
  bound(open: readonly UncertainWriteEntry[], resourceVersion: string): void {
    const write: UncertainWrite = { resourceVersion };
    const isOver = this.#isShown(resourceVersion);
    for (const [key, about] of open) {
      if (about.resourceVersion !== undefined) continue;
      const kept = key === undefined ? this.#all : this.#byKey.get(key);
      if (kept?.write !== about) continue;
      if (isOver) this.settle(about, key);
      else if (key === undefined) this.#all = { ...kept, write };
      else this.#byKey.set(key, { ...kept, write });
    }
  }

  /** The server was asked about an object, or, without a key, about all. Later writes stay uncertain. */
  settle(write: UncertainWrite, key?: string): void {
    if (this.#all?.write === write) {
      if (key === undefined) this.#dropAll();
      else this.#checked.add(key);
    } else if (key !== undefined && this.#byKey.get(key)?.write === write) this.#byKey.delete(key);
  }

  /** The watch has got further: drops the writes that it has reached. */
  advanced(): void {
    const all = this.#all?.write.resourceVersion;
    if (all !== undefined && this.#isShown(all)) this.#dropAll();
    if (this.#byKey.size === 0) return;
    let isOldest = true;
    for (const [key, kept] of this.#byKey) {
      const { resourceVersion } = kept.write;
      const isOver = resourceVersion === undefined ? isOldest && this.#isExpired(kept) : this.#isShown(resourceVersion);
      if (isOver) this.#byKey.delete(key);
      else isOldest = false;
    }
  }

  #keep(resourceVersion: string | undefined): Kept {
    return { write: { resourceVersion }, sinceMs: this.#clock.monotonic() };
  }

  #dropAll(): void {
    this.#all = undefined;
    this.#checked.clear();
  }

  #isExpired({ sinceMs }: Kept): boolean {
    return this.#clock.monotonic() - sinceMs > expiryMs;
  }
}
