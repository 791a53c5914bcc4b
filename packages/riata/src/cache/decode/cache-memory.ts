import type { KubeObject } from '../../object/meta.js';
import { rawObjects } from '../../object/raw/raw-object.js';
import type { FramedObject, MakeObject } from '../../object/scan/decode-object.js';
import { share } from '../../object/value/share.js';
import { serverContact } from '../../rest/chain/server-contact.js';
import type { ListerWatcher } from '../reflector/list-watch.js';
import { HashConsing } from './hash-consing.js';
import { keyInBytes } from './key-in-bytes.js';
import { Neighbours } from './neighbours.js';

/**
 * How a cache keeps objects. In all of them, what did not change between two versions is the same object
 * (`old.spec === new.spec`), and what is handed out is a plain, frozen object.
 *
 * - `'parsed'`: parsed when they come. Equal parts of objects of one owner, or that come one after the other, are held once.
 * - `'raw'`: but for metadata, kept as text, and parsed member by member (spec, status…) when they are read: the least CPU for
 *   kinds that change often and of which little but metadata is read. What is read often is parsed often. A transform gets
 *   them frozen, and has to return a new object (`edit`). `console.log` shows members as `[Getter]`: log a copy.
 * - `'hash-consed'`: as `'parsed'`, and equal subtrees of any two objects are held once: less memory where objects come in no
 *   order, for more CPU when they come.
 */
export type CacheMemory = 'parsed' | 'raw' | 'hash-consed';

/** The way of objects into a cache. One for each informer: it remembers what it has seen. */
export interface Ingest {
  /** How objects are made of their bytes: for `listWatch` and the client's list and watch. */
  readonly makeObject: MakeObject | undefined;
  /**
   * True if what {@link makeObject} gives shares parts with objects that are stored already: whoever may write to it before
   * it is admitted (a transform) must have objects parsed instead.
   */
  readonly sharesWhenMade: boolean;
  /**
   * Called once for each object before it goes into the store, with the version that it replaces (not one of another
   * UID). Gives what is to be stored. It may change `next`, so that must not be in use anywhere else, unless it is frozen.
   */
  admit<T extends KubeObject>(next: T, previous: T | undefined): T;
}

/** A source whose objects are made by `makeObject`; the source itself if that is undefined. */
export function madeBy<T>(source: ListerWatcher<T>, makeObject: MakeObject | undefined): ListerWatcher<T> {
  if (makeObject === undefined) return source;
  return {
    [serverContact]: source[serverContact],
    list: (options) => source.list({ ...options, makeObject }),
    watch: (options) => source.watch({ ...options, makeObject }),
  };
}

/**
 * Makes the {@link Ingest} of a {@link CacheMemory}. `stored` gives what is in the store under a key, so that a new version can be
 * decoded along the one before it; without it, objects are decoded along the one that came before.
 */
export function createIngest(
  memory: CacheMemory = 'parsed',
  stored: (key: string) => object | undefined = () => undefined,
): Ingest {
  const storedLike = (framed: FramedObject) => {
    const key = keyInBytes(framed);
    return key === undefined ? undefined : stored(key);
  };
  const along = (neighbours: Neighbours): MakeObject => {
    const make = (framed: FramedObject) => neighbours.decode(framed, storedLike(framed));
    return Object.assign(make, { takesUnseen: true });
  };
  switch (memory) {
    case 'raw': {
      const neighbours = new Neighbours();
      return {
        sharesWhenMade: false,
        makeObject: rawObjects({
          previousOf: storedLike,
          decodeMetadata: (framed, from, previous) => neighbours.decodeMetadata(framed, from, previous),
        }),
        admit: (next, previous) => (previous === undefined ? next : share(previous, next)),
      };
    }
    case 'hash-consed': {
      const table = new HashConsing();
      // First the cheap way, which finds most of it: what is left is hashed in less time.
      const neighbours = new Neighbours();
      return {
        makeObject: along(neighbours),
        sharesWhenMade: true,
        admit: (next, previous) => {
          if (previous === undefined) return table.unify(neighbours.settle(next));
          return table.unify(neighbours.update(next, previous), previous);
        },
      };
    }
    case 'parsed': {
      const neighbours = new Neighbours();
      return {
        makeObject: along(neighbours),
        sharesWhenMade: true,
        admit: (next, previous) =>
          previous === undefined ? neighbours.settle(next) : neighbours.update(next, previous),
      };
    }
    default:
      throw new TypeError(`cache memory: expected 'parsed', 'raw' or 'hash-consed', got ${JSON.stringify(memory)}`);
  }
}
