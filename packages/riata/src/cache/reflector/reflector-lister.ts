import type { ListOptions } from '../../client/options.js';
import type { KubeList, KubeObject, ListMeta } from '../../object/meta.js';
import type { ObjectDecoder } from '../../object/scan/decode-object.js';
import { isResourceExpired } from '../../rest/errors/error-guards.js';
import { abortable, link, throwIfAborted } from '../../runtime/signals.js';
import { SlicedWork } from '../../runtime/time/sliced-work.js';
import type { ListerWatcher, ListItems } from './list-watch.js';
import { deathError, Liveness, type LivenessOptions } from './liveness.js';
import type { ReflectorIntake } from './reflector-intake.js';
import type { ReflectorPosition } from './reflector-position.js';
import { isLost } from './watch-verdict.js';

/** All there is, as the store gets it. */
export interface ListedObjects<T> {
  readonly items: T[];
  readonly resourceVersion: string;
}

interface Answer<T> extends ListedObjects<T> {
  readonly paginated: boolean;
}

const defaultPageSize = 500;
/** Lists have more right to be slow than watches: a server may work on a big one for long, a source may give it as a whole. */
const shortestSilenceMs = 300_000;

/** What a {@link ReflectorLister} works with. */
export interface ReflectorListerOptions<T extends KubeObject> {
  readonly listerWatcher: ListerWatcher<T>;
  readonly decoder: ObjectDecoder | undefined;
  readonly position: ReflectorPosition;
  readonly intake: ReflectorIntake<T>;
  readonly pageSize: number | undefined;
  readonly liveness: LivenessOptions;
}

/**
 * Fetches complete lists by LIST, in pages where that costs nothing, item by item where the source can do that: each is
 * looked at and transformed as it comes, and none is held twice.
 */
export class ReflectorLister<T extends KubeObject> {
  readonly #options: ReflectorListerOptions<T>;
  readonly #liveness: LivenessOptions;
  /** The server pages even what may come from its cache, so it has none: lists by a resourceVersion are paged too then. */
  #paginates = false;

  constructor(options: ReflectorListerOptions<T>) {
    this.#options = options;
    const { liveness } = options;
    this.#liveness = { ...liveness, silenceMs: Math.max(liveness.silenceMs, shortestSilenceMs) };
  }

  /** Retries at once, for the newest state, if the server does not have the requested resourceVersion. */
  async list(signal: AbortSignal): Promise<ListedObjects<T>> {
    const { position } = this.#options;
    const from = position.forList;
    let answer: Answer<T>;
    try {
      answer = await this.#all(from, signal);
    } catch (error) {
      if (!isLost(error) || position.forList === '') throw error;
      position.lost();
      answer = await this.#all(position.forList, signal);
    }
    if (from === '0' && answer.paginated) this.#paginates = true;
    return answer;
  }

  async #all(resourceVersion: string, signal: AbortSignal): Promise<Answer<T>> {
    const limit = this.#limit(resourceVersion);
    // A limit together with a version alone would request the state of exactly that version: a state from which no
    // watch can resume would be listed again and again, until the server has dropped it, too.
    const isExact = limit !== undefined && resourceVersion !== '' && resourceVersion !== '0';
    const match = isExact ? ({ resourceVersionMatch: 'NotOlderThan' } as const) : undefined;
    const first: ListOptions = { resourceVersion, ...match, limit, signal, maxRetries: 0 };
    const items: T[] = [];
    let page = first;
    let version: string | undefined;
    for (;;) {
      let metadata: ListMeta;
      try {
        metadata = await this.#page(page, items, signal);
      } catch (error) {
        if (page.continue === undefined || !isResourceExpired(error)) throw error;
        // The state of the pages has expired. Continuing in a newer one would give a list of no single moment.
        items.length = 0;
        const whole = await this.#page({ ...first, limit: undefined }, items, signal);
        return { items, resourceVersion: whole.resourceVersion ?? '', paginated: true };
      }
      version ??= metadata.resourceVersion ?? '';
      const token = metadata.continue;
      if (!token) return { items, resourceVersion: version, paginated: page.continue !== undefined };
      if (token === page.continue) throw new Error('endless list: the server returned the same continue token twice');
      // Servers refuse a resourceVersion beside a token.
      page = { limit: first.limit, continue: token, signal };
    }
  }

  #limit(resourceVersion: string): number | undefined {
    const { pageSize } = this.#options;
    if (pageSize !== undefined) return pageSize;
    const mayBeCached = resourceVersion !== '' && resourceVersion !== '0';
    return mayBeCached && !this.#paginates ? undefined : defaultPageSize;
  }

  async #page(options: ListOptions, into: T[], signal: AbortSignal): Promise<ListMeta> {
    const { listerWatcher, decoder, intake } = this.#options;
    const take = (item: T): void => {
      if (!intake.accepts(item)) return;
      const kept = intake.keepListed(item);
      if (kept !== undefined) into.push(kept);
    };
    using scope = link(signal);
    using alive = new Liveness(this.#liveness, (why) => scope.abort(deathError('list', why)));
    const answer = await abortable(listerWatcher.list({ ...options, decoder, signal: scope.signal }), scope.signal);
    if (isWhole(answer)) {
      await this.#eachSliced(answer.items, take, scope.signal);
      return answer.metadata;
    }
    const consumed = answer.consume((item) => {
      alive.touch();
      take(item);
    });
    return (await abortable(consumed, scope.signal)).metadata;
  }

  async #eachSliced(items: readonly T[], take: (item: T) => void, signal: AbortSignal): Promise<void> {
    const work = new SlicedWork(this.#options.liveness.clock);
    work.begin();
    for (const item of items) {
      take(item);
      if (!work.isOver) continue;
      await work.rest();
      throwIfAborted(signal);
    }
    void work.end();
  }
}

function isWhole<T>(answer: KubeList<T> | ListItems<T>): answer is KubeList<T> {
  return 'items' in answer;
}
