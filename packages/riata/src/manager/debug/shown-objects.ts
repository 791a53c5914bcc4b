import type { Cache } from '../../cache/cache.js';
import type { Client } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';
import type { EventRecorder } from '../events/event-recorder.js';
import { allCaches, type StateSource } from './collect-state.js';

/** Where the objects of one cluster are read and written. */
export interface ObjectPlace {
  readonly cluster: string | undefined;
  readonly cache: Cache;
  /** Asks the API server, always. */
  readonly client: Client;
  readonly recorder: EventRecorder;
}

/** A kind that debug endpoints show, of one cluster. */
export interface ShownKind {
  readonly kind: KindRef;
  readonly place: ObjectPlace;
  /** Whether a cache holds it: then its objects can be listed. */
  readonly isCached: boolean;
}

/** What debug endpoints show of a manager. */
export interface ShownObjectsSource extends Pick<StateSource, 'cache' | 'clusters' | 'kinds'> {
  readonly client: Client;
  readonly eventRecorder: (name: string) => EventRecorder;
}

const component = 'riata-dashboard';

/** The kinds that debug endpoints show: those that the manager caches or reconciles, and no others. */
export class ShownObjects {
  readonly #source: ShownObjectsSource;

  constructor(source: ShownObjectsSource) {
    this.#source = source;
  }

  get places(): readonly ObjectPlace[] {
    const { clusters, client, eventRecorder } = this.#source;
    return allCaches(this.#source).flatMap(({ cluster, cache }): readonly ObjectPlace[] => {
      if (cluster === undefined) return [{ cluster, cache, client, recorder: eventRecorder(component) }];
      const added = clusters.get(cluster);
      if (added === undefined) return [];
      return [{ cluster, cache, client: added.client, recorder: added.eventRecorder(component) }];
    });
  }

  /** Each once per cluster. */
  get kinds(): readonly ShownKind[] {
    return this.places.flatMap((place) => {
      const cached = place.cache.health.map(({ kind }) => kind);
      const reconciled = [...this.#source.kinds()].map(({ kind }) => kind);
      const byName = new Map<string, ShownKind>();
      for (const kind of cached) byName.set(nameOf(kind), { kind, place, isCached: true });
      for (const kind of reconciled) {
        if (!byName.has(nameOf(kind))) byName.set(nameOf(kind), { kind, place, isCached: false });
      }
      return [...byName.values()];
    });
  }

  /** Undefined for a kind that is not shown. */
  find(apiVersion: string, kind: string, cluster: string | undefined): ShownKind | undefined {
    return this.kinds.find(
      (shown) => shown.place.cluster === cluster && shown.kind.apiVersion === apiVersion && shown.kind.kind === kind,
    );
  }
}

function nameOf({ apiVersion, kind }: KindRef): string {
  return `${apiVersion} ${kind}`;
}
