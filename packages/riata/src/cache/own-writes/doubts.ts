import type { Clock } from '../../runtime/time/clock.js';

/** A doubt that nobody looked into is forgotten after this time: a watch that far behind has other worries. */
export const forgottenAfterMs = 300_000;

/** A write whose outcome the answer does not show: look at the server, or wait until the watch has come this far. */
export interface Doubt {
  /** Unknown where the answer was lost. */
  readonly resourceVersion: string | undefined;
}

/** A doubt and what it is about: one object, or without a key all of them. */
export type OpenDoubt = readonly [key: string | undefined, doubt: Doubt];

interface Kept {
  readonly doubt: Doubt;
  readonly sinceMs: number;
}

/** What is not known about objects after own writes, until somebody has looked or the watch has told. */
export class Doubts {
  readonly #clock: Clock;
  readonly #isShown: (resourceVersion: string) => boolean;
  /** The oldest first. */
  readonly #byKey = new Map<string, Kept>();
  #all: Kept | undefined;
  /** Objects that somebody has looked at since the doubt about all came up. */
  readonly #looked = new Set<string>();

  /** `isShown` tells whether the watch has come to a revision. */
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
    this.#looked.clear();
  }

  /** About an object, be it as one of all; without a key, about all. */
  of(key?: string): Doubt | undefined {
    if (this.#all !== undefined && this.#isPast(this.#all)) this.#dropAll();
    if (key === undefined || (this.#all !== undefined && !this.#looked.has(key))) return this.#all?.doubt;
    const kept = this.#byKey.get(key);
    if (kept === undefined || !this.#isPast(kept)) return kept?.doubt;
    this.#byKey.delete(key);
    return undefined;
  }

  keys(): string[] {
    return [...this.#byKey.keys()];
  }

  /** All there are now. */
  open(): OpenDoubt[] {
    const all = this.of();
    const open: OpenDoubt[] = Array.from(this.#byKey, ([key, { doubt }]) => [key, doubt]);
    return all === undefined ? open : [[undefined, all], ...open];
  }

  /** The server is at this revision, and was asked after these came up: the watch need not come further. */
  bound(open: readonly OpenDoubt[], resourceVersion: string): void {
    const doubt: Doubt = { resourceVersion };
    const isOver = this.#isShown(resourceVersion);
    for (const [key, about] of open) {
      if (about.resourceVersion !== undefined) continue;
      const kept = key === undefined ? this.#all : this.#byKey.get(key);
      if (kept?.doubt !== about) continue;
      if (isOver) this.settle(about, key);
      else if (key === undefined) this.#all = { ...kept, doubt };
      else this.#byKey.set(key, { ...kept, doubt });
    }
  }

  /** Somebody has looked: at an object, or without a key at all of them. What came up since then stays. */
  settle(doubt: Doubt, key?: string): void {
    if (this.#all?.doubt === doubt) {
      if (key === undefined) this.#dropAll();
      else this.#looked.add(key);
    } else if (key !== undefined && this.#byKey.get(key)?.doubt === doubt) this.#byKey.delete(key);
  }

  /** The watch has come further: what it has shown is in doubt no longer. */
  advanced(): void {
    const all = this.#all?.doubt.resourceVersion;
    if (all !== undefined && this.#isShown(all)) this.#dropAll();
    if (this.#byKey.size === 0) return;
    let isOldest = true;
    for (const [key, kept] of this.#byKey) {
      const { resourceVersion } = kept.doubt;
      const isOver = resourceVersion === undefined ? isOldest && this.#isPast(kept) : this.#isShown(resourceVersion);
      if (isOver) this.#byKey.delete(key);
      else isOldest = false;
    }
  }

  #keep(resourceVersion: string | undefined): Kept {
    return { doubt: { resourceVersion }, sinceMs: this.#clock.monotonic() };
  }

  #dropAll(): void {
    this.#all = undefined;
    this.#looked.clear();
  }

  #isPast({ sinceMs }: Kept): boolean {
    return this.#clock.monotonic() - sinceMs > forgottenAfterMs;
  }
}
