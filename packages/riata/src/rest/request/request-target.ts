import { formatGoDuration } from '../../object/go-duration.js';
import { encodeQuery, escapePath, joinPath, pathSegmentProblem } from './request-path.js';

/** What a request is aimed at: the parts of its URL after the host. */
export interface RequestTarget {
  /** Path before all that follows. */
  prefix: string;
  /** Undefined if none was set; `''` is every namespace. */
  namespace?: string;
  resource: string;
  name: string;
  subresource: string;
  /** Path after all else. */
  suffix: string;
  params: Map<string, string[]>;
  /** `Infinity` for none. */
  timeoutMs: number;
}

/** The decoded path. */
export function pathOf({ prefix, namespace, resource, name, subresource, suffix }: RequestTarget): string {
  let path = prefix;
  if (namespace) path = below(path, `namespaces/${namespace}`);
  if (resource) path = below(path, resource.toLowerCase());
  // Joining drops a slash at the end, which has a meaning where the prefix is all there is.
  if (name) path = below(path, name);
  if (subresource) path = below(path, subresource);
  return suffix ? joinPath(path, suffix) : path;
}

/** Joins what was joined or checked before, so that there is nothing to tidy but a slash between them. */
function below(path: string, segments: string): string {
  return path === '' || path.endsWith('/') ? joinPath(path, segments) : `${path}/${segments}`;
}

/** Path and query as they are sent: encoded, parameters sorted by name. */
export function requestUriOf(target: RequestTarget): string {
  let params: ReadonlyMap<string, readonly string[]> = target.params;
  if (Number.isFinite(target.timeoutMs)) {
    params = new Map(params).set('timeout', [formatGoDuration(BigInt(Math.round(target.timeoutMs * 1e6)))]);
  }
  const path = escapePath(pathOf(target));
  const query = encodeQuery(params);
  return (path.startsWith('/') ? path : `/${path}`) + (query && `?${query}`);
}

/**
 * What is wrong with a target, or undefined. An empty namespace means all of them, so it cannot go with the name of
 * one object or with a create.
 */
export function targetProblem({ namespace, name }: RequestTarget, method: string): string | undefined {
  if (namespace !== '') return undefined;
  if (method === 'POST') return 'an empty namespace cannot be created in: give one, or leave namespace() out';
  if (name !== '' && ['GET', 'PUT', 'DELETE'].includes(method)) {
    return `an empty namespace was given with the name "${name}": give one, or leave namespace() out`;
  }
  return undefined;
}

/** Throws unless `segment` can stand as one segment of a path. */
export function checkSegment(what: string, segment: string): void {
  const problem = typeof segment === 'string' ? pathSegmentProblem(segment) : `wants a string, got ${typeof segment}`;
  if (problem) throw new TypeError(`invalid ${what} ${JSON.stringify(segment)}: ${problem}`);
}

/** What comes after the server's own path prefix, which the transport puts before what it is given. */
export function uriBelow(basePath: string, uri: string): string {
  const below = uri.slice(basePath.length);
  if (!uri.startsWith(basePath) || !/^($|[/?])/.test(below)) {
    throw new TypeError(`the path ${uri.split('?', 1)[0]} is not below ${basePath}, where the server's API is`);
  }
  return below.startsWith('/') ? below : `/${below}`;
}
