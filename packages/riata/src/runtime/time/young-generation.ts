import type { Scheduler, Timer } from './clock.js';
import { systemClock } from './system-clock.js';

/** What V8 does by itself in all versions from 11 to 14: it waits until four fifths are full. */
const usualPercent = 80;
/** Nearly all of what comes first has to stay: as much of it as is copied in 5 ms or so. */
const addedBytes = 4 << 20;
/** Most of what comes in place of something else is garbage soon. */
const replacedBytes = 8 << 20;
/** How many objects come between two looks at the young generation. */
const addedCount = 256;
const replacedCount = 1024;
/** Objects that come in place of others do not count for so long after one that came first. */
const addingMs = 1_000;
/** How long after the last look all is as V8 has it again. */
const lingerMs = 5_000;

/** What is to be known of the young generation, and done to it. */
export interface YoungSpace {
  /** How many bytes it holds now before it is full. It grows as more of what it holds has to stay. */
  capacity(): number;
  /** From which share on it is collected when the event loop has its turn. */
  collectFrom(percent: number): void;
}

/**
 * Keeps the pauses short that the garbage collector makes while much comes in that stays: lists and floods of events, on
 * their way into a cache, and lists that are asked for as a whole. V8 lets the young generation grow to 64 MB then, waits
 * until it is four fifths full, and copies what has to stay at one go: 40 ms and more for a list, of which nearly all stays.
 * While such work goes on, it is collected earlier, between two turns of the event loop. That takes no more CPU for lists,
 * as what stays is copied as often, and less memory. V8 reckons with it after each collection: where the young generation
 * has grown before, the next one is as ever.
 */
export class YoungGeneration {
  readonly #clock: Scheduler;
  #space: YoungSpace | undefined;
  #percent = usualPercent;
  #added = 0;
  #replaced = 0;
  #addedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = 0;
  #timer: Timer | undefined;

  /** Without a `space`, it does nothing. */
  constructor(space: YoungSpace | undefined, clock: Scheduler) {
    this.#space = space;
    this.#clock = clock;
  }

  /** Says that an object came that was not there before, and stays. */
  added(): void {
    if (++this.#added < addedCount) return;
    this.#added = 0;
    this.#addedAt = this.#clock.monotonic();
    this.#look(addedBytes);
  }

  /** Says that an object came in place of another. */
  replaced(): void {
    if (++this.#replaced < replacedCount) return;
    this.#replaced = 0;
    const isAdding = this.#clock.monotonic() - this.#addedAt < addingMs;
    this.#look(isAdding ? addedBytes : replacedBytes);
  }

  /** Leaves all to V8 from now on. */
  leave(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#set(usualPercent);
    this.#space = undefined;
  }

  #look(mostBytes: number): void {
    const space = this.#space;
    if (space === undefined) return;
    try {
      const percent = Math.ceil((100 * mostBytes) / space.capacity());
      this.#set(Math.min(Math.max(percent, 1), usualPercent));
    } catch {
      // Not V8, though it says so.
      this.#space = undefined;
    }
    this.#lookedAt = this.#clock.monotonic();
    if (this.#percent !== usualPercent) this.#timer ??= this.#restIn(lingerMs);
  }

  #restIn(ms: number): Timer {
    return this.#clock.after(
      ms,
      () => {
        const left = this.#lookedAt + lingerMs - this.#clock.monotonic();
        this.#timer = left > 0 ? this.#restIn(left) : undefined;
        if (left <= 0) this.#set(usualPercent);
      },
      { background: true },
    );
  }

  #set(percent: number): void {
    if (percent === this.#percent) return;
    this.#space?.collectFrom(percent);
    this.#percent = percent;
  }
}

/** Settings of the young generation that Node was started with: whoever made them is not to be overruled. */
const ownSetting = /--(no-?)?(m(ax|in)[-_]semi[-_]space|semi[-_]space|minor[-_](gc|ms)|scaveng|single[-_]generation)/;

/**
 * The young generation of this process; undefined if it is not to be touched: another engine, a version of V8 of which it
 * is not known whether it has the flag (it would complain on standard error), or settings of the user's own.
 *
 * @param v8 as in `process.versions.v8`
 * @param settings what Node was started with: `process.execArgv` and `NODE_OPTIONS`
 */
export function youngSpaceOf(v8: string | undefined, settings: string): YoungSpace | undefined {
  const major = Number.parseInt(v8 ?? '', 10);
  if (!(major >= 11 && major <= 14) || ownSetting.test(settings)) return undefined;
  // Loaded when much comes in: most programs never ask.
  const engine = () => process.getBuiltinModule('node:v8');
  return {
    capacity: () => {
      const space = engine()
        .getHeapSpaceStatistics()
        .find(({ space_name }) => space_name === 'new_space');
      return space === undefined ? 0 : space.space_used_size + space.space_available_size;
    },
    // A schedule and nothing else: V8 looks at it after each collection.
    collectFrom: (percent) => engine().setFlagsFromString(`--minor-gc-task-trigger=${percent}`),
  };
}

let ofProcess: YoungGeneration | undefined;

/** The young generation of this process: for all of Riata the same. */
export function youngGeneration(): YoungGeneration {
  if (ofProcess === undefined) {
    const settings = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ');
    ofProcess = new YoungGeneration(youngSpaceOf(process.versions.v8, settings), systemClock);
  }
  return ofProcess;
}

/**
 * Leaves the young generation to V8 alone, in this process and from now on. Call it before the first informer starts or
 * list is read.
 *
 * While much comes into caches, lists or floods of events, or in a list that is asked for as a whole (`client.list`), and for
 * five seconds after, Riata has V8 collect young objects between two turns of the event loop as soon as there are 4 MB of
 * them, in floods of events 8 MB: pauses of 5 ms in place of 40. It does so by V8's flag `--minor-gc-task-trigger`
 * (`v8.setFlagsFromString`), which is of the whole process; not if Node was started with a size of the young generation
 * (`--max-semi-space-size` and its like). What you may notice: modules that are first imported in that time do not come from
 * Node's compile cache, as V8 takes no code from there that was made under other flags.
 */
export function leaveYoungGeneration(): void {
  youngGeneration().leave();
}
