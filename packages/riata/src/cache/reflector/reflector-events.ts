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

/** The events of a watch, without its errors. */
export type StateEvent<T> = Exclude<WatchEvent<T>, { readonly type: 'ERROR' }>;

/** What {@link ReflectorEvents} work with. */
export interface EventTarget<T extends KubeObject> {
  readonly store: ReflectorStore<T>;
  readonly position: ReflectorPosition;
  readonly intake: ReflectorIntake<T>;
  readonly log: Logger;
  /** A bookmark came. */
  readonly onBookmark: () => void;
}

const endAnnotation = 'k8s.io/initial-events-end';

/**
 * Takes the events of one watch into the store. A WatchList begins with all existing objects, and their changes
 * meanwhile: these are collected until the list is complete. An event that the store refuses is left out and logged.
 */
export class ReflectorEvents<T extends KubeObject> {
  readonly #target: EventTarget<T>;
  readonly #onListed: ((list: ListedObjects<T>) => void) | undefined;
  /** The initial events of a WatchList, until they are complete. */
  #initial: Map<string, T> | undefined;
  /**
   * The watch begins with all existing objects, in no order of versions: resuming from one of these would lose events.
   */
  #isSynthetic = false;

  private constructor(target: EventTarget<T>, onListed?: (list: ListedObjects<T>) => void) {
    this.#target = target;
    this.#onListed = onListed;
  }

  /** Of a watch that starts from this version. */
  static from<T extends KubeObject>(version: string, target: EventTarget<T>): ReflectorEvents<T> {
    const events = new ReflectorEvents<T>(target);
    events.#startFrom(version);
    return events;
  }

  /** Of a WatchList; `onListed` is called once it is complete. */
  static ofWatchList<T extends KubeObject>(
    target: EventTarget<T>,
    onListed: (list: ListedObjects<T>) => void,
  ): ReflectorEvents<T> {
    const events = new ReflectorEvents<T>(target, onListed);
    events.#initial = new Map();
    return events;
  }

  /** Objects of a WatchList so far. */
  get collected(): number {
    return this.#initial?.size ?? 0;
  }

  /** False while a WatchList is incomplete. */
  get isListed(): boolean {
    return this.#initial === undefined;
  }

  readonly take = (event: StateEvent<T>): void => {
    if (this.#initial === undefined) this.#apply(event);
    else this.#collect(event, this.#initial);
  };

  #startFrom(version: string): void {
    this.#isSynthetic = version === '' || version === '0';
  }

  #collect({ type, object }: StateEvent<T>, initial: Map<string, T>): void {
    const { intake } = this.#target;
    if (type === 'BOOKMARK') {
      if (object.metadata?.annotations?.[endAnnotation] !== 'true') return;
      const resourceVersion = resourceVersionOf(object) ?? '';
      this.#onListed?.({ items: [...initial.values()], resourceVersion });
      this.#initial = undefined;
      this.#startFrom(resourceVersion);
      return;
    }
    if (!intake.accepts(object)) return;
    if (type === 'DELETED') {
      intake.withheld.delete(object);
      initial.delete(withheldId(object));
      return;
    }
    const kept = intake.keepListed(object);
    if (kept === undefined) initial.delete(withheldId(object));
    else initial.set(keyOf(kept), kept);
  }

  #apply({ type, object }: StateEvent<T>): void {
    const { store, position, intake, log, onBookmark } = this.#target;
    if (type === 'BOOKMARK') {
      const version = resourceVersionOf(object);
      if (!version) return;
      this.#isSynthetic = false;
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
    if (type !== 'ADDED') this.#isSynthetic = false;
    const version = resourceVersionOf(object);
    if (version && !this.#isSynthetic) position.advance(version);
  }
}
