import { describe, expect, test } from 'vitest';
import type { KubeList } from '../../object/meta.js';
import { ApiError } from '../errors/api-error.js';
import { isResourceExpired } from '../errors/error-guards.js';
import { ListPager, type PageOptions } from './list-pager.js';

const expired = (token?: string) =>
  new ApiError({
    status: 'Failure',
    reason: 'Expired',
    code: 410,
    message: 'old',
    metadata: token ? { continue: token } : {},
  });

/** Serves the numbers below `total`; `failing` requests, counted from 0, are answered by the error. */
function server(total: number, failing: Readonly<Record<number, ApiError>> = {}) {
  const requests: PageOptions[] = [];
  const fetch = async (options: PageOptions): Promise<KubeList<number>> => {
    const failure = failing[requests.length];
    requests.push(options);
    if (failure) throw failure;
    const from = Number(options.continue ?? 0);
    const to = Math.min(total, from + (options.limit ?? total));
    const metadata = { resourceVersion: String(100 + requests.length), ...(to < total && { continue: String(to) }) };
    return {
      apiVersion: 'v1',
      kind: 'NumberList',
      metadata,
      items: Array.from({ length: to - from }, (_, i) => from + i),
    };
  };
  return { requests, fetch };
}

const upTo = (total: number) => Array.from({ length: total }, (_, i) => i);

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const each of source) seen.push(each);
  return seen;
}

describe('list', () => {
  test('puts pages of 500 together; the resource version is that of the first', async () => {
    const { fetch, requests } = server(1_200);
    const list = await new ListPager(fetch).list({ resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' });
    expect(list).toEqual({
      apiVersion: 'v1',
      kind: 'NumberList',
      metadata: { resourceVersion: '101' },
      items: upTo(1_200),
      paginated: true,
    });
    expect(requests).toEqual([
      { limit: 500, resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' },
      { limit: 500, continue: '500' },
      { limit: 500, continue: '1000' },
    ]);
  });

  test('a single page is given as it came; an explicit limit wins', async () => {
    const { fetch, requests } = server(3);
    const list = await new ListPager(fetch, { pageSize: 2 }).list({ limit: 3 });
    expect(list).toMatchObject({ metadata: { resourceVersion: '101' }, items: [0, 1, 2], paginated: false });
    expect(requests).toEqual([{ limit: 3 }]);
  });

  test('an expired continuation falls back to the full list, as it was asked for at first', async () => {
    const { fetch, requests } = server(5, { 2: expired('x') });
    const list = await new ListPager(fetch, { pageSize: 2 }).list({
      resourceVersion: '7',
      resourceVersionMatch: 'Exact',
    });
    expect(list).toMatchObject({ metadata: { resourceVersion: '104' }, items: upTo(5), paginated: true });
    expect(requests[3]).toEqual({ resourceVersion: '7', resourceVersionMatch: 'Exact' });
  });

  test('so it does when the caller came with the expired token', async () => {
    const { fetch, requests } = server(5, { 0: expired() });
    const list = await new ListPager(fetch).list({ continue: '2' });
    expect(list).toMatchObject({ items: upTo(5), paginated: false });
    expect(requests[1]).toEqual({});
  });

  test('an expired first page is an error, and so is any other error, and a failing fall back', async () => {
    await expect(new ListPager(server(5, { 0: expired() }).fetch).list({ resourceVersion: '1' })).rejects.toThrow(
      'old',
    );
    const other = new ApiError({ reason: 'InternalError', code: 500, message: 'broken' });
    await expect(new ListPager(server(5, { 1: other }).fetch, { pageSize: 2 }).list({})).rejects.toThrow('broken');
    const twice = server(5, { 1: expired(), 2: other });
    await expect(new ListPager(twice.fetch, { pageSize: 2 }).list({})).rejects.toThrow('broken');
  });

  test('fail: throws instead of falling back', async () => {
    const { fetch, requests } = server(5, { 1: expired('4') });
    await expect(new ListPager(fetch, { pageSize: 2, expired: 'fail' }).list({})).rejects.toSatisfy(isResourceExpired);
    expect(requests).toHaveLength(2);
  });

  test('inconsistent: continues with the token of the error', async () => {
    const { fetch, requests } = server(6, { 1: expired('3') });
    const list = await new ListPager(fetch, { pageSize: 2, expired: 'inconsistent' }).list({});
    expect(list.items).toEqual([0, 1, 3, 4, 5]);
    expect(list.metadata).toEqual({ resourceVersion: '101' });
    expect(requests[2]).toEqual({ limit: 2, continue: '3' });
    const tokenless = server(6, { 1: expired() });
    const pager = new ListPager(tokenless.fetch, { pageSize: 2, expired: 'inconsistent' });
    await expect(pager.list({})).rejects.toSatisfy(isResourceExpired);
  });
});

describe('one by one', () => {
  test('pages and items come in order, and no page is fetched before it is wanted', async () => {
    const { fetch, requests } = server(5);
    const pager = new ListPager(fetch, { pageSize: 2 });
    expect(await all(pager.items({}))).toEqual(upTo(5));
    expect((await all(pager.pages({}))).map(({ items }) => items)).toEqual([[0, 1], [2, 3], [4]]);
    requests.length = 0;
    for await (const item of pager.items({})) if (item === 1) break;
    expect(requests).toHaveLength(1);
  });

  test('an expired continuation fails, as what was handed out cannot be taken back', async () => {
    const { fetch } = server(5, { 1: expired('2') });
    await expect(all(new ListPager(fetch, { pageSize: 2 }).items({}))).rejects.toSatisfy(isResourceExpired);
    const lenient = new ListPager(server(5, { 1: expired('2') }).fetch, { pageSize: 2, expired: 'inconsistent' });
    expect(await all(lenient.items({}))).toEqual(upTo(5));
  });

  test('the signal is looked at between pages', async () => {
    const { fetch, requests } = server(5);
    const controller = new AbortController();
    const pages = new ListPager(fetch, { pageSize: 2 }).pages({ signal: controller.signal });
    await pages.next();
    controller.abort(new Error('enough'));
    await expect(pages.next()).rejects.toThrow('enough');
    expect(requests).toHaveLength(1);
  });

  test('a server that gives the same token again is not asked for ever', async () => {
    const stuck = async () => ({ apiVersion: 'v1', kind: 'AList', metadata: { continue: 'again' }, items: [1] });
    await expect(all(new ListPager<number>(stuck).pages({}))).rejects.toThrow('would never end');
  });
});

test('an invalid page size is refused', () => {
  expect(() => new ListPager(server(1).fetch, { pageSize: 0 })).toThrow('pageSize must be an integer ≥ 1, got 0');
});
