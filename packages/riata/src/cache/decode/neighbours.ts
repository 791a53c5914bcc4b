import type { KubeObject } from '../../object/meta.js';
import type { FramedObject } from '../../object/scan/decode-object.js';
import { sameLoss } from '../../object/value/lossy.js';
import { polluted, recursionLimit } from '../../object/value/own.js';
import { share } from '../../object/value/share.js';
import { AlikeDecoder } from './alike-decoder.js';
import { MadeAlong } from './made-along.js';
import { RecentStrings, sampleHash } from './recent-strings.js';

type Bag = { [key: string]: unknown };

/** How many owners' last objects are remembered; a power of two. */
const OWNERS = 256;

const ownerOf = ({ metadata }: KubeObject) => metadata.ownerReferences?.[0]?.uid;

/**
 * Sharing between neighbours: most of an object is the same as in another one of the same owner, or, as lists come in the
 * order of names, in the one that came before. What is equal at the same place becomes one, and so do long strings that
 * came lately. It holds on to the last object and to one for each of some owners.
 *
 * It changes `next` in place: hand in what came fresh from the parser. Frozen objects stay as they are.
 */
export class Neighbours {
  readonly #strings = new RecentStrings();
  readonly #ofOwner = new Array<KubeObject | undefined>(OWNERS).fill(undefined);
  readonly #decoder = new AlikeDecoder(this.#strings, (before, after) => this.#join(before, after, 0));
  #last: KubeObject | undefined;
  readonly #made = new MadeAlong();

  /**
   * Decodes an object along the one that has its place now, or else along the last one that came: what both have in common
   * is shared then, and {@link settle} or {@link update} have little left to do. Undefined if it is to be parsed.
   */
  decode(framed: FramedObject, previous: object | undefined): object | undefined {
    const along = previous ?? this.#last;
    if (along === undefined) return undefined;
    const decoded = this.#decoder.decode(framed, along, previous !== undefined);
    if (decoded === undefined) return undefined;
    // What is in the store is not handed out for another: whoever gets it may note a loss of it.
    const made = decoded === along ? { ...along } : decoded;
    this.#made.note(made, along, decoded === along);
    return made;
  }

  /** Shares a new object with one that came before. */
  settle<T extends KubeObject>(next: T): T {
    const owner = ownerOf(next);
    const at = typeof owner === 'string' ? sampleHash(owner) & (OWNERS - 1) : -1;
    let neighbour = at < 0 ? undefined : this.#ofOwner[at];
    if (neighbour === undefined || ownerOf(neighbour) !== owner) neighbour = this.#last;
    if (at >= 0) this.#ofOwner[at] = next;
    this.#last = next;
    if (neighbour === undefined || this.#made.along(next) === neighbour) return next;
    if (!Object.isFrozen(next) && !polluted()) this.#tryJoin(neighbour, next);
    return next;
  }

  /** As `share`: `previous` itself when nothing has changed. */
  update<T extends object>(next: T, previous: T): T {
    if (this.#made.along(next) === previous) return this.#made.isEqual && sameLoss(previous, next) ? previous : next;
    const same = Object.isFrozen(next) || polluted() ? undefined : this.#tryJoin(previous, next);
    if (same === undefined) return share(previous, next);
    return same && sameLoss(previous, next) ? previous : next;
  }

  /**
   * True when equal; undefined when it met something frozen inside of `after`, as transforms may leave it. What was done
   * before that is no harm, and asking each node whether it is frozen would cost half of the time.
   */
  #tryJoin(before: object, after: object): boolean | undefined {
    try {
      return this.#joinObjects(before, after as Bag, 0);
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  /** `before` when equal, else `after` with what is equal in it taken from `before`. */
  #join(before: unknown, after: object, depth: number): object {
    if (depth === recursionLimit) return after;
    const isArray = Array.isArray(after);
    const other =
      typeof before === 'object' && before !== null && Array.isArray(before) === isArray ? before : undefined;
    const same = isArray
      ? this.#joinArrays((other ?? []) as readonly unknown[], after, depth)
      : this.#joinObjects(other ?? {}, after as Bag, depth);
    return same && other !== undefined ? other : after;
  }

  #joinArrays(before: readonly unknown[], after: unknown[], depth: number): boolean {
    let same = before.length === after.length;
    for (let i = 0; i < after.length; i++) {
      const ours = after[i];
      const theirs = i < before.length ? before[i] : undefined;
      if (typeof ours === 'object' && ours !== null) {
        const joined = ours === theirs ? ours : this.#join(theirs, ours, depth + 1);
        if (joined !== theirs) same = false;
        if (joined !== ours) after[i] = joined;
      } else if (ours !== theirs) {
        same = false;
        if (typeof ours === 'string') after[i] = this.#strings.intern(ours);
      }
    }
    return same;
  }

  #joinObjects(before: object, after: Bag, depth: number): boolean {
    let same = true;
    let count = 0;
    for (const key in after) {
      if (key === '__proto__') return false;
      count++;
      const ours = after[key];
      const theirs = (before as Bag)[key];
      if (typeof ours === 'object' && ours !== null) {
        const joined = ours === theirs ? ours : this.#join(theirs, ours, depth + 1);
        if (joined !== theirs) same = false;
        if (joined !== ours) after[key] = joined;
      } else if (ours !== theirs) {
        same = false;
        if (typeof ours === 'string') after[key] = this.#strings.intern(ours);
      } else if (typeof ours === 'string' && ours.length > 10) {
        after[key] = theirs;
      }
    }
    if (!same) return false;
    for (const _ in before) count--;
    return count === 0;
  }
}
