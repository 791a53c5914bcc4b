import type { InformerHealth } from '../../cache/informer/shared-informer.js';
import type { Client } from '../../client/interfaces.js';
import type { Selection } from '../../client/options.js';
import { compareResourceVersions } from '../../object/compare-resource-versions.js';
import type { KindRef } from '../../object/kind.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { EndpointRoute } from '../probes/http-endpoint.js';
import { allCaches, cacheId, type StateSource } from './collect-state.js';
import { jsonAnswer } from './json-answer.js';

/** How far a cache is behind the server. */
export interface CacheLag {
  /** Of its `CacheState`. */
  readonly id: string;
  /**
   * How much later the cache gets a change than a watch that is opened now, from where the cache is; 0 if the server has
   * nothing newer. Undefined if it could not be measured.
   */
  readonly lagMs?: number;
  /** The cache did not have the change yet when the measurement ended, after two seconds. */
  readonly isAtLeast?: true;
  /** Why it could not be measured. */
  readonly problem?: string;
}

/** What {@link CacheLags} look at. */
export interface CacheLagSource extends Pick<StateSource, 'cache' | 'clusters' | 'mask'> {
  readonly client: Pick<Client, 'watch'>;
}

/** If a watch shows nothing newer for so long after it has started, there is nothing. */
const windowMs = 500;
const mostWaitMs = 2_000;
const pollMs = 20;
/** Answers are used again for so long: more viewers cost no more watches. */
const keptMs = 5_000;

interface Measured {
  readonly client: Pick<Client, 'watch'>;
  readonly id: string;
  readonly kind: KindRef;
  readonly selection: Selection;
  /** Of this moment; undefined once the cache is gone. */
  readonly health: () => InformerHealth | undefined;
}

/**
 * Measures how far caches are behind the server, when someone asks: a second watch is opened for each cache, from the
 * resourceVersion that the cache has. If it shows a change that the cache has not, the cache is behind for as long as it
 * does not have it. A LIST would not tell: its resourceVersion is that of the whole store, and grows with changes of other
 * kinds, which the watch of a quiet kind shows with its next bookmark, a minute later.
 */
export class CacheLags {
  readonly #source: CacheLagSource;
  readonly #clock: Scheduler;
  #last: { readonly lags: Promise<readonly CacheLag[]>; readonly atMs: number } | undefined;

  constructor(source: CacheLagSource, clock: Scheduler) {
    this.#source = source;
    this.#clock = clock;
  }

  /** `GET /debug/cache-lag`. */
  readonly route: EndpointRoute = async () => jsonAnswer({ caches: await this.measure() }, { isDense: true });

  /** Takes three seconds at most, on a server that answers. */
  measure(): Promise<readonly CacheLag[]> {
    const nowMs = this.#clock.monotonic();
    if (this.#last === undefined || nowMs - this.#last.atMs >= keptMs) {
      this.#last = { lags: Promise.all(this.#caches().map((each) => this.#measureOne(each))), atMs: nowMs };
    }
    return this.#last.lags;
  }

  #caches(): readonly Measured[] {
    const { client, clusters } = this.#source;
    return allCaches(this.#source).flatMap(({ cluster, cache }) => {
      const own = cluster === undefined ? client : clusters.get(cluster)?.client;
      if (own === undefined) return [];
      return cache.health.flatMap(({ kind, informers, selections }) =>
        informers.map(({ name }, at) => ({
          ...{ client: own, id: cacheId(cluster, name), kind, selection: selections[at] ?? {} },
          health: () => cache.health.flatMap((each) => each.informers).find((each) => each.name === name),
        })),
      );
    });
  }

  async #measureOne({ client, id, kind, selection, health }: Measured): Promise<CacheLag> {
    const resourceVersion = health()?.resourceVersion ?? '';
    if (resourceVersion === '') return { id, problem: 'not listed yet' };
    try {
      const options = { allowWatchBookmarks: false, cutManagedFields: true, timeoutSeconds: 5 };
      const newer = await this.#firstAfter(await client.watch(kind, { ...selection, ...options, resourceVersion }));
      return newer === undefined ? { id, lagMs: 0 } : { id, ...(await this.#wait(newer, health)) };
    } catch (error) {
      return { id, problem: this.#source.mask(describeError(error)) };
    }
  }

  /** The version of the first change; undefined if none comes. */
  async #firstAfter(stream: Awaited<ReturnType<Client['watch']>>): Promise<string | undefined> {
    const timer = this.#clock.after(windowMs, () => stream.stop(), { background: true });
    try {
      for await (const event of stream) {
        if (event.type === 'ERROR') throw event.error;
        if (event.type !== 'BOOKMARK') return event.object.metadata.resourceVersion;
      }
      return undefined;
    } finally {
      timer.cancel();
      stream.stop();
    }
  }

  async #wait(version: string, health: Measured['health']): Promise<Pick<CacheLag, 'lagMs' | 'isAtLeast' | 'problem'>> {
    const fromMs = this.#clock.monotonic();
    for (;;) {
      const order = compareResourceVersions(health()?.resourceVersion ?? version, version);
      if (order === undefined) return { problem: 'resourceVersions of this server are not numbers' };
      const lagMs = Math.round(this.#clock.monotonic() - fromMs);
      if (order >= 0) return { lagMs };
      if (lagMs >= mostWaitMs) return { lagMs, isAtLeast: true };
      await this.#clock.sleep(pollMs);
    }
  }
}
