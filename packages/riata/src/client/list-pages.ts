import type { KubeList, KubeObject } from '../object/meta.js';
import type { ListStream } from '../rest/list-stream.js';
import type { ListOptions } from './options.js';

const pageSize = 500;

/** The items of a list, page by page if a limit is given. */
export async function* eachItem(
  list: (options: ListOptions) => Promise<ListStream<KubeObject>>,
  options: ListOptions,
): AsyncGenerator<KubeObject, void, undefined> {
  if (options.limit === undefined) {
    yield* await list(options);
    return;
  }
  for await (const page of eachPage(async (o) => (await list(o)).collect(), options)) yield* page.items;
}

export async function* eachPage<R extends KubeObject>(
  list: (options: ListOptions) => Promise<KubeList<R>>,
  options: ListOptions,
): AsyncGenerator<KubeList<R>, void, undefined> {
  let token = options.continue;
  do {
    const page = await list({ ...options, limit: options.limit ?? pageSize, continue: token });
    yield page;
    token = page.metadata.continue;
  } while (token);
}
