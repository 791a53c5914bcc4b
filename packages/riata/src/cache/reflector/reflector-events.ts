import { keyOf } from '../../object/key.js';
import type { KubeObject } from '../../object/meta.js';
import { describeObject } from '../../object/with-metadata.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import type { Logger } from '../../runtime/log/logger.js';
import { resourceVersionOf } from '../store/key-func.js';
import type { ReflectorStore } from '../store/store.js';
import { withheldId } from '../store/withheld-objects.js';
import type { ReflectorIntake } from './reflector-intake.js';
import type { ListedObjects } from './reflector-lister.js';
import type { ReflectorPosition } from './reflector-position.js';

/** What a watch says, its errors aside. */
export type StateEvent<T> = Exclude<WatchEvent<T>, { readonly type: 'ERROR' }>;

/** What {@link applyTo} works with. */
export interface EventTarget<T extends KubeObject> {
  readonly store: ReflectorStore<T>;
  readonly position: ReflectorPosition;
  readonly intake: ReflectorIntake<T>;
  readonly log: Logger;
  /** A bookmark came. */
  readonly onBookmark: () => void;
}

/**
 * Takes the events of one watch that starts from `from` into the store. An event that the store refuses is left out, and
 * that is logged.
 */
export function applyTo<T extends KubeObject>(
  { store, position, intake, log, onBookmark }: EventTarget<T>,
  from: string,
): (event: StateEvent<T>) => void {
  // Such a watch begins with all that exists, in no order of versions: going on from one of these would lose events.
  let isSynthetic = from === '' || from === '0';
  return (event) => {
    const { type, object } = event;
    if (type === 'BOOKMARK') {
      const version = resourceVersionOf(object);
      if (!version) return;
      isSynthetic = false;
      position.advance(version);
      store.bookmark(version);
      onBookmark();
      return;
    }
    if (!intake.accepts(object)) return;
    try {
      if (type === 'ADDED' || type === 'MODIFIED') {
        const kept = intake.keep(object);
        if (kept !== undefined && type === 'ADDED') store.add(kept);
        else if (kept !== undefined) store.update(kept);
      } else if (type === 'DELETED') {
        const gone = intake.gone(object);
        if (gone !== undefined) store.delete(gone);
      } else log.error('dropped an event of unknown type', { type });
    } catch (error) {
      log.error('dropped an event that the store refused', { type, object: describeObject(object), error });
    }
    if (type !== 'ADDED') isSynthetic = false;
    const version = resourceVersionOf(object);
    if (version && !isSynthetic) position.advance(version);
  };
}

const endAnnotation = 'k8s.io/initial-events-end';

/** Collects what a WatchList begins with: all that exists, and what happens to it meanwhile. */
export class InitialEvents<T extends KubeObject> {
  readonly #intake: ReflectorIntake<T>;
  #objects = new Map<string, T>();

  constructor(intake: ReflectorIntake<T>) {
    this.#intake = intake;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** The list, when this was the bookmark that ends it. */
  take(event: StateEvent<T>): ListedObjects<T> | undefined {
    const { type, object } = event;
    if (type === 'BOOKMARK') {
      if (object.metadata?.annotations?.[endAnnotation] !== 'true') return undefined;
      const items = [...this.#objects.values()];
      this.#objects = new Map();
      return { items, resourceVersion: resourceVersionOf(object) ?? '' };
    }
    if (!this.#intake.accepts(object)) return undefined;
    if (type === 'DELETED') {
      this.#intake.withheld.delete(object);
      this.#objects.delete(withheldId(object));
      return undefined;
    }
    const kept = this.#intake.keepListed(object);
    if (kept === undefined) this.#objects.delete(withheldId(object));
    else this.#objects.set(keyOf(kept), kept);
    return undefined;
  }
}
