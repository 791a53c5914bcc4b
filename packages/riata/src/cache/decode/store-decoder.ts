import type { KubeObject } from '../../object/meta.js';
import type { FramedObject, ObjectDecoder } from '../../object/scan/decode-object.js';
import { sameLoss } from '../../object/value/lossy.js';
import { polluted, recursionLimit } from '../../object/value/own.js';
import { share } from '../../object/value/share.js';
import { type KeyFrame, ObjectKeyReader } from './object-key-reader.js';
import { RecentStrings, sampleHash } from './recent-strings.js';
import { ReferenceDecoder } from './reference-decoder.js';

type Bag = { [key: string]: unknown };

/** For how many owners the last object is remembered; a power of two. */
const OWNERS = 256;

const ownerOf = ({ metadata }: KubeObject) => metadata.ownerReferences?.[0]?.uid;

/**
 * The way of objects into a store: decodes them along what is stored already and makes equal parts one object, so that
 * `old.spec === new.spec` if a spec did not change, and objects take less than half the memory. One for each informer, which hands
 * it to its lists and watches.
 *
 * A new version shares equal parts with the version before. A new object shares them with a neighbour: most of it is the same
 * as in another object of the same owner, or, as lists are sorted by name, in the one that came before. Long strings that
 * came recently are kept once. It holds on to the last object and to one for each of some owners.
 */
export class StoreDecoder implements ObjectDecoder {
  readonly #stored: (key: string) => object | undefined;
  readonly #keys = new ObjectKeyReader();
  readonly #strings = new RecentStrings();
  readonly #ofOwner = new Array<KubeObject | undefined>(OWNERS).fill(undefined);
  readonly #decoder = new ReferenceDecoder(this.#strings, (before, after) => this.#join(before, after, 0));
  /** The last object without a stored version. */
  #last: KubeObject | undefined;
  /**
   * The references of decoded objects until they are shared: an object decoded along `previous` need not be compared
   * with it.
   */
  readonly #references = new WeakMap<object, object>();

  /** `stored` returns what the store has under a key. @default nothing: objects are decoded along the one before */
  constructor(stored: (key: string) => object | undefined = () => undefined) {
    this.#stored = stored;
  }

  /**
   * Decodes along the stored version, or else along the last new object. The result shares parts with stored objects: where
   * anything may write to objects before they are stored (a transform, a queue of the user), they have to be parsed instead.
   */
  decode(framed: FramedObject): object | undefined {
    const previous = this.#previous(framed);
    const reference = previous ?? this.#last;
    if (reference === undefined) return undefined;
    return this.#note(this.#decoder.decode(framed, reference, previous !== undefined), reference);
  }

  decodeUnscanned(bytes: Uint8Array, start: number, end: number): object | undefined {
    const previous = this.#previous({ bytes, start, end, cutStart: 0, cutEnd: 0 });
    return previous && this.#note(this.#decoder.decodeUnscanned(bytes, start, end, previous), previous);
  }

  /**
   * Called once for each object before it is stored, with the version that it replaces (not one of another UID). Returns the
   * object to store: `previous` itself if nothing changed. Changes `next` in place unless it is frozen; so `next` must be
   * fresh from {@link decode} or a parser.
   */
  share<T extends KubeObject>(next: T, previous: T | undefined): T {
    return previous === undefined ? this.#shareWithNeighbour(next) : this.#shareWithPrevious(next, previous);
  }

  /** A stored object is not returned for another one: callers may mark what they get as lossy. */
  #note(decoded: object | undefined, reference: object): object | undefined {
    if (decoded === reference) return { ...reference };
    if (decoded !== undefined) this.#references.set(decoded, reference);
    return decoded;
  }

  #previous(frame: KeyFrame): object | undefined {
    const key = this.#keys.read(frame);
    return key === undefined ? undefined : this.#stored(key);
  }

  #shareWithNeighbour<T extends KubeObject>(next: T): T {
    const owner = ownerOf(next);
    const at = typeof owner === 'string' ? sampleHash(owner) & (OWNERS - 1) : -1;
    let neighbour = at < 0 ? undefined : this.#ofOwner[at];
    if (neighbour === undefined || ownerOf(neighbour) !== owner) neighbour = this.#last;
    if (at >= 0) this.#ofOwner[at] = next;
    this.#last = next;
    if (this.#isDecodedAlong(next, neighbour) || neighbour === undefined) return next;
    if (!Object.isFrozen(next) && !polluted()) this.#tryJoin(neighbour, next);
    return next;
  }

  #shareWithPrevious<T extends object>(next: T, previous: T): T {
    if (this.#isDecodedAlong(next, previous)) return next;
    const same = Object.isFrozen(next) || polluted() ? undefined : this.#tryJoin(previous, next);
    if (same === undefined) return share(previous, next);
    return same && sameLoss(previous, next) ? previous : next;
  }

  /**
   * Then both differ and share as much as they can. The reference is dropped: a stored object must not keep it alive.
   */
  #isDecodedAlong(next: object, reference: object | undefined): boolean {
    const known = this.#references.get(next);
    return known !== undefined && this.#references.delete(next) && known === reference;
  }

  /**
   * True if equal; undefined if it met something frozen inside of `after`, as transforms may leave it. Parts that were
   * joined before that do no harm, and checking each node for being frozen would take half of the time.
   */
  #tryJoin(before: object, after: object): boolean | undefined {
    try {
      return this.#joinObjects(before, after as Bag, 0);
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  /** `before` if equal, else `after` with its equal parts taken from `before`. */
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
