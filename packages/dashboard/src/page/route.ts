import { formatKey } from './format.js';

/** An object that a page shows. */
export interface ObjectRef {
  readonly cluster?: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** What the address names: a page, and what it is about. */
export type Route =
  | { readonly page: 'overview' | 'caches' | 'webhooks' | 'clusters' }
  | { readonly page: 'controller'; readonly name: string }
  | { readonly page: 'search'; readonly q: string; apiVersion?: string; kind?: string; cluster?: string }
  | { readonly page: 'object'; readonly ref: ObjectRef };

/** Reads the part of the address after `#`; anything unknown is the overview. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const params = new URLSearchParams(query);
  const optional = (name: string) => params.get(name) || undefined;
  const [page = '', rest = ''] = path.split('/', 2);
  if (page === 'caches' || page === 'webhooks' || page === 'clusters') return { page };
  if (page === 'controller' && rest !== '') return { page, name: decoded(rest) };
  if (page === 'search') {
    const [apiVersion, kind, cluster] = [optional('apiVersion'), optional('kind'), optional('cluster')];
    const found = { ...(apiVersion && { apiVersion }), ...(kind && { kind }), ...(cluster && { cluster }) };
    return { page, q: params.get('q') ?? '', ...found };
  }
  const [apiVersion, kind, name] = [optional('apiVersion'), optional('kind'), optional('name')];
  if (page === 'object' && apiVersion && kind && name) {
    const [namespace, cluster] = [optional('namespace'), optional('cluster')];
    return { page, ref: { apiVersion, kind, name, ...(namespace && { namespace }), ...(cluster && { cluster }) } };
  }
  return { page: 'overview' };
}

/** The title of the window: what tabs, bookmarks and the history show. */
export function titleOf(route: Route): string {
  switch (route.page) {
    case 'controller':
      return `${route.name} · Riata`;
    case 'object':
      return `${route.ref.kind} ${formatKey(route.ref)} · Riata`;
    case 'search':
      return `${route.kind ?? `“${route.q}”`} · Riata`;
    default:
      return `${route.page.charAt(0).toUpperCase()}${route.page.slice(1)} · Riata`;
  }
}

/** As it is if it is malformed: someone may have typed it. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The query that names an object, in addresses and requests. */
export function queryOf(ref: ObjectRef): string {
  const { apiVersion, kind, namespace = '', name, cluster = '' } = ref;
  return `${new URLSearchParams({ apiVersion, kind, name, ...(namespace && { namespace }), ...(cluster && { cluster }) })}`;
}

export function objectHref(ref: ObjectRef): string {
  return `#/object?${queryOf(ref)}`;
}

/** The list of all cached objects of a kind. */
export function kindHref(
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
  cluster?: string,
): string {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return `#/search?${new URLSearchParams({ q: '', kind, apiVersion, ...(cluster && { cluster }) })}`;
}

export function controllerHref(name: string): string {
  return `#/controller/${encodeURIComponent(name)}`;
}
