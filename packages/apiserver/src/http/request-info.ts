import { parseFieldSelector } from 'riata/object';
import { pathSegmentName } from '../schema/name-rules.js';
import { first, parseQuery, percentDecode, type Query } from './options/query-string.js';

/** The meaning of a request by its method, path and query alone (`request.RequestInfo`). */
export interface RequestInfo {
  /** The path, decoded, without the query. */
  readonly path: string;
  readonly query: Query;
  /**
   * get, list, watch, create, update, patch, delete or deletecollection for resources, `''` for a method that means
   * none of them; else the method in lower case.
   */
  readonly verb: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  /** Plural, as in the path. */
  readonly resource: string;
  readonly subresource: string;
  /** `''` if none is named; the one that a field selector leaves counts for lists and watches. */
  readonly name: string;
  /** The path from the resource on: `[resource, name, subresource, …]`. */
  readonly parts: readonly string[];
  /** Set for the old form of a watch, `/api/v1/watch/…`. */
  readonly watchPath: boolean;
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const namespaceSubresources = ['status', 'finalize'];

/** Thrown for a path that cannot be read. The message is what kube-apiserver says. */
export class PathError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'PathError';
    this.code = code;
  }
}

/** Takes a request apart (`RequestInfoFactory.NewRequestInfo`). Throws a {@link PathError}. */
export function parseRequestInfo(method: string, rawPath: string): RequestInfo {
  const mark = rawPath.indexOf('?');
  const path = percentDecode(mark < 0 ? rawPath : rawPath.slice(0, mark));
  if (path === undefined || !path.startsWith('/')) throw new PathError(400, '400 Bad Request');
  const query = mark < 0 ? noQuery : parseQuery(rawPath.slice(mark + 1));
  const segments = path.replace(/^\/+|\/+$/g, '').split('/');
  const hasGroup = segments[0] === 'apis';
  const isApi = hasGroup || segments[0] === 'api';
  if (!isApi || segments.length < (hasGroup ? 4 : 3)) {
    return { ...nothing, path, query, verb: method.toLowerCase() };
  }
  const group = hasGroup ? (segments[1] ?? '') : '';
  const [version = '', ...rest] = segments.slice(hasGroup ? 2 : 1);
  const verbInPath = rest[0] === 'watch' || rest[0] === 'proxy' ? rest[0] : undefined;
  if (verbInPath !== undefined && rest.length < 2) {
    const why = `failed to create RequestInfo: unable to determine kind and namespace from url, ${rawPath}`;
    throw new PathError(500, `Internal Server Error: ${JSON.stringify(rawPath)}: ${why}`);
  }
  const { namespace, parts } = placeOf(verbInPath === undefined ? rest : rest.slice(1));
  const [resource = '', named = '', subresource = ''] = parts;
  const { verb, name } = namedVerb(verbInPath ?? verbs[method] ?? '', named, query);
  const place = { namespace, resource, subresource, name, parts };
  return { path, query, verb, isResource: true, group, version, ...place, watchPath: verbInPath === 'watch' };
}

const noQuery: ReadonlyMap<string, readonly string[]> = new Map();
const nothing = {
  isResource: false,
  group: '',
  version: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
  watchPath: false,
};

function placeOf(all: readonly string[]): Pick<RequestInfo, 'namespace' | 'parts'> {
  const inNamespace = all[0] === 'namespaces' && all.length > 1;
  const below = inNamespace && all.length > 2 && !namespaceSubresources.includes(all[2] ?? '');
  return { namespace: inNamespace ? (all[1] ?? '') : '', parts: below ? all.slice(2) : all };
}

function namedVerb(verb: string, name: string, query: Query): { readonly verb: string; readonly name: string } {
  if (name !== '') return { verb, name };
  if (verb === 'delete') return { verb: 'deletecollection', name };
  if (verb !== 'get') return { verb, name };
  const watch = first(query, 'watch');
  return { verb: watch !== undefined && isTrue(watch) ? 'watch' : 'list', name: nameOf(query) };
}

/** How Kubernetes reads a boolean parameter: everything is true but `false` and `0`. */
export function isTrue(value: string): boolean {
  return !['false', '0'].includes(value.toLowerCase());
}

/** Subresources whose requests last as long as their caller likes. */
const connections = ['attach', 'exec', 'proxy', 'log', 'portforward'];

/** Whether a request lasts as long as its caller likes (`LongRunningRequestCheck`). */
export function isLongRunning({ isResource, verb, subresource }: RequestInfo): boolean {
  return isResource && (verb === 'watch' || connections.includes(subresource));
}

/** The one name that a field selector leaves, if it can stand in a path. */
function nameOf(query: Query): string {
  const selector = first(query, 'fieldSelector');
  if (selector === undefined) return '';
  try {
    const name = parseFieldSelector(selector).requiresExactMatch('metadata.name') ?? '';
    return pathSegmentName(name).length === 0 ? name : '';
  } catch {
    return '';
  }
}
