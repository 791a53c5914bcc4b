import type { KubeList, KubeObject } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { throwIfAborted } from '../../runtime/signals.js';
import { findApiError } from '../errors/api-error.js';
import { isResourceExpired } from '../errors/error-guards.js';

/** What a pager sets from page to page; the rest of the options it hands on as it got them. */
export interface PageOptions {
  /** Objects per page. @default the pager's page size */
  readonly limit?: number;
  /** Token of the page to begin with. */
  readonly continue?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: string;
  readonly signal?: AbortSignal;
}

/** Fetches one page (`pager.ListPageFunc`). */
export type ListPageFn<T = KubeObject, O extends PageOptions = PageOptions> = (options: O) => Promise<KubeList<T>>;

/** How a list is asked for page by page (`pager.ListPager`). */
export interface ListPagerOptions {
  /** Objects per page unless the options say so. @default 500 */
  readonly pageSize?: number;
  /**
   * What to do when the state that the pages come from is compacted away between two of them (410 `Expired`):
   * - `full-list`: ask again for all, in one piece and as at first (`FullListIfExpired`). Only `list` can do that, as it
   *   has handed nothing out yet; `pages` and `items` fail.
   * - `inconsistent`: go on behind the last page, in the state of now. What changed in between on earlier pages is missed,
   *   and the list is that of no single moment.
   * - `fail`: throw the error.
   * @default 'full-list'
   */
  readonly expired?: 'full-list' | 'inconsistent' | 'fail';
}

export const listPagerOptionNames = optionNames<ListPagerOptions>({ pageSize: true, expired: true });

/** A list put together from pages. */
export interface PagedList<T = KubeObject> extends KubeList<T> {
  /** True when more than one page was asked for. */
  readonly paginated: boolean;
}

/**
 * Fetches long lists in pages, so that neither side has to hold all of it at once (`pager.ListPager`). All pages are of
 * one moment, that of the first; from the second on no `resourceVersion` is sent, as servers refuse it beside a token.
 */
export class ListPager<T = KubeObject, O extends PageOptions = PageOptions> {
  readonly #fetch: ListPageFn<T, O>;
  readonly #pageSize: number;
  readonly #expired: 'full-list' | 'inconsistent' | 'fail';

  constructor(fetch: ListPageFn<T, O>, options: ListPagerOptions = {}) {
    refuseUnknownOptions('ListPager', options, listPagerOptionNames);
    const { pageSize = 500, expired = 'full-list' } = options;
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      throw new TypeError(`list pager: pageSize must be an integer ≥ 1, got ${pageSize}`);
    }
    this.#fetch = fetch;
    this.#pageSize = pageSize;
    this.#expired = expired;
  }

  /**
   * All pages as one list (`ListPager.List`). Its `resourceVersion` is that of the first page, so that a watch from there
   * misses nothing; after a fall back to a full list it is that list's own.
   */
  async list(options: O): Promise<PagedList<T>> {
    let first: KubeList<T> | undefined;
    const items: T[] = [];
    try {
      for await (const page of this.pages(options)) {
        if (first === undefined && !page.metadata.continue) return { ...page, paginated: false };
        first ??= page;
        for (const item of page.items) items.push(item);
      }
    } catch (error) {
      const onContinuation = first !== undefined || Boolean(options.continue);
      if (this.#expired !== 'full-list' || !onContinuation || !isResourceExpired(error)) throw error;
      const all = await this.#fetch({ ...options, limit: undefined, continue: undefined });
      return { ...all, paginated: first !== undefined };
    }
    const { resourceVersion, selfLink } = first?.metadata ?? {};
    return {
      apiVersion: first?.apiVersion ?? '',
      kind: first?.kind ?? '',
      metadata: { ...(resourceVersion !== undefined && { resourceVersion }), ...(selfLink && { selfLink }) },
      items,
      paginated: true,
    };
  }

  /** Page by page; the next one is asked for when the one before has been dealt with. */
  async *pages(options: O): AsyncGenerator<KubeList<T>, void, undefined> {
    let next: O = { ...options, limit: options.limit || this.#pageSize };
    for (;;) {
      throwIfAborted(options.signal);
      const page = await this.#page(next);
      yield page;
      const token = page.metadata.continue;
      if (!token) return;
      if (token === next.continue) {
        throw new Error('list pager: the server returned the same continue token again; the list would never end');
      }
      next = continued(next, token);
    }
  }

  /** Object by object (`ListPager.EachListItem`). */
  async *items(options: O): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages(options)) yield* page.items;
  }

  async #page(options: O): Promise<KubeList<T>> {
    try {
      return await this.#fetch(options);
    } catch (error) {
      if (this.#expired !== 'inconsistent' || !options.continue || !isResourceExpired(error)) throw error;
      const token = findApiError(error)?.status.metadata?.continue;
      if (!token) throw error;
      return this.#fetch(continued(options, token));
    }
  }
}

function continued<O extends PageOptions>(options: O, token: string): O {
  return { ...options, continue: token, resourceVersion: undefined, resourceVersionMatch: undefined };
}
