import type { KubeObject } from '../../object/meta.js';
import type { FramedObject, MakeObject } from '../../object/scan/decode-object.js';
import { serverContact } from '../../rest/chain/server-contact.js';
import type { ListerWatcher } from '../reflector/list-watch.js';
import { keyInBytes } from './key-in-bytes.js';
import { Neighbours } from './neighbours.js';

/** The way of objects into a cache. One for each informer: it remembers what it has seen. */
export interface Ingest {
  /**
   * How objects are made of their bytes: for `listWatch` and the client's list and watch. They share parts with objects that
   * are stored already: where anything may write to them before they are admitted (a transform), they must be parsed instead.
   */
  readonly makeObject: MakeObject;
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
 * Makes an {@link Ingest}. `stored` gives what is in the store under a key, so that a new version can be decoded along the one
 * before it; without it, objects are decoded along the one that came before.
 */
export function createIngest(stored: (key: string) => object | undefined = () => undefined): Ingest {
  const neighbours = new Neighbours();
  const make = (framed: FramedObject) => {
    const key = keyInBytes(framed);
    return neighbours.decode(framed, key === undefined ? undefined : stored(key));
  };
  return {
    makeObject: Object.assign(make, { takesUnseen: true }),
    admit: (next, previous) => (previous === undefined ? neighbours.settle(next) : neighbours.update(next, previous)),
  };
}
