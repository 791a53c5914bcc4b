import { formatGoDuration } from '../../object/go-duration.js';
import type { Span } from '../../runtime/tracing.js';
import type { RequestSettings } from '../chain/send.js';
import { encodeQuery, escapePath, joinPath, pathSegmentProblem, type QueryParams } from './request-path.js';

/** How a request is sent. */
export interface SendOptions {
  /** Aborting ends the request, its waits and its body; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Parent span, for tracing. */
  readonly span?: Span;
  /** Longest wait for the response's headers. 0 = none. @default the transport's own */
  readonly headersTimeoutMs?: number;
  /** Longest silence between two pieces of the body. 0 = none. @default the transport's own */
  readonly idleTimeoutMs?: number;
  /**
   * Called right before each sending, repetitions too, when all waits are over (rate limit, credentials, backoff). What
   * it throws is the outcome, and nothing is sent.
   */
  readonly beforeSend?: () => void;
}

/** A request as plain data, before anything is escaped: a client fills it in, a `RestRequest` builds it step by step. */
export interface RequestSpec extends SendOptions {
  readonly method: string;
  /** Path before all that follows, the server's own prefix included. */
  readonly prefix: string;
  /** Undefined if none was set; `''` is every namespace. */
  readonly namespace?: string;
  readonly resource?: string;
  readonly name?: string;
  /** One or more segments, with slashes between them. */
  readonly subresource?: string;
  /** Path after all else. */
  readonly suffix?: string;
  /**
   * Path and query after all else, escaped already and sent as they are: what is behind a proxy gets them. Starts with
   * `/`. `params` are not sent then.
   */
  readonly proxied?: string;
  readonly params: QueryParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | string;
  /** The body in pieces, in place of `body`. */
  readonly bodyStream?: AsyncIterable<Uint8Array>;
  /** Passes answers on whatever their status. @default false: all but successes are errors */
  readonly anyStatus?: boolean;
  readonly settings: RequestSettings;
  /** The protocol that the server is asked to switch to. @default HTTP */
  readonly upgrade?: string;
}

/** What requests accept unless they say otherwise. */
export const defaultAccept = 'application/json, */*';

/** The path, not yet escaped. Throws a `TypeError` for a segment that would lead to another resource. */
export function pathOf({ prefix, namespace, resource, name, subresource, suffix }: RequestSpec): string {
  let segments = '';
  if (namespace) segments += `/namespaces/${checked('namespace', namespace)}`;
  if (resource) segments += `/${checked('resource', resource).toLowerCase()}`;
  if (name) segments += `/${checked('name', name)}`;
  if (subresource) {
    if (!plain.test(subresource)) for (const segment of subresource.split('/')) checked('subresource', segment);
    segments += `/${subresource}`;
  }
  // Joining drops a trailing slash, which matters where the prefix is the whole path.
  const isPlain = segments === '' || (prefix !== '' && !prefix.endsWith('/'));
  const path = isPlain ? prefix + segments : joinPath(prefix, segments.slice(1));
  return suffix ? joinPath(path, suffix) : path;
}

/** Path and query as they are sent: escaped, parameters sorted by name. */
export function requestUriOf(spec: RequestSpec): string {
  const { timeoutMs } = spec.settings;
  if (spec.proxied !== undefined) return escapePath(pathOf(spec)) + spec.proxied;
  let params = spec.params;
  if (Number.isFinite(timeoutMs)) {
    const timeout = formatGoDuration(BigInt(Math.round(timeoutMs * 1e6)));
    params = [...[...params].filter(([name]) => name !== 'timeout'), ['timeout', timeout]];
  }
  const path = escapePath(pathOf(spec));
  const query = encodeQuery(params);
  return (path.startsWith('/') ? path : `/${path}`) + (query && `?${query}`);
}

/** Throws if the request would reach something else than it names: an empty namespace means all of them. */
export function checkSpec(spec: RequestSpec): void {
  const { namespace, name, method } = spec;
  if (namespace !== '') return;
  const subject = `${method} ${spec.resource || pathOf(spec)}`;
  if (method === 'POST') {
    throw new TypeError(`${subject}: cannot create in an empty namespace; set one, or omit namespace()`);
  }
  if (name && (method === 'GET' || method === 'PUT' || method === 'DELETE')) {
    throw new TypeError(`${subject}: the namespace of "${name}" is empty; set one, or omit namespace()`);
  }
}

const plain = /^[A-Za-z0-9][A-Za-z0-9.:_-]*$/;

function checked(what: string, segment: string): string {
  if (!plain.test(segment)) checkSegment(what, segment);
  return segment;
}

/** Throws a `TypeError` unless `segment` can be one segment of a path. */
export function checkSegment(what: string, segment: string): void {
  const problem = typeof segment === 'string' ? pathSegmentProblem(segment) : `must be a string, got ${typeof segment}`;
  if (problem) throw new TypeError(`invalid ${what} ${JSON.stringify(segment)}: ${problem}`);
}

/** The URI without the server's own path prefix, which the transport adds again. */
export function uriBelow(basePath: string, uri: string): string {
  if (basePath === '') return uri;
  const below = uri.slice(basePath.length);
  if (!uri.startsWith(basePath) || !/^($|[/?])/.test(below)) {
    throw new TypeError(`path ${uri.split('?', 1)[0]} is not below ${basePath}, where the server's API is`);
  }
  return below.startsWith('/') ? below : `/${below}`;
}
