import type { KubeList, KubeObject } from '../../object/meta.js';
import { LaterIterator } from '../../rest/stream/later-iterator.js';
import { ListPager } from '../../rest/stream/list-pager.js';
import type { ListStream } from '../../rest/stream/list-stream.js';
import type { PagesOptions } from '../options.js';

/** The items of a list, page by page if a limit is given. */
export function eachItem(
  list: (options: PagesOptions) => Promise<ListStream<KubeObject>>,
  options: PagesOptions,
): AsyncGenerator<KubeObject, void, undefined> {
  return options.limit === undefined ? new LaterIterator(() => list(options)) : eachPageItem(list, options);
}

async function* eachPageItem(
  list: (options: PagesOptions) => Promise<ListStream<KubeObject>>,
  options: PagesOptions,
): AsyncGenerator<KubeObject, void, undefined> {
  for await (const page of eachPage(async (o) => (await list(o)).collect(), options)) yield* page.items;
}

/** The pages of a list; see `Client.pages`. */
export function eachPage<R extends KubeObject>(
  list: (options: PagesOptions) => Promise<KubeList<R>>,
  options: PagesOptions,
): AsyncGenerator<KubeList<R>, void, undefined> {
  const expired = options.onExpired === 'fail' ? 'fail' : 'inconsistent';
  return new ListPager<R, PagesOptions>(list, { expired }).pages(options);
}
