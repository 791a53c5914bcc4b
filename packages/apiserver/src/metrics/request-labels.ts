import { first } from '../http/options/query-string.js';
import { isTrue, type RequestInfo } from '../http/request-info.js';
import type { Route } from '../http/route.js';
import type { ServerRequest } from '../http/server-request.js';

/** What the metrics of a request are broken out by. */
export interface RequestLabels {
  readonly verb: string;
  readonly dry_run: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly component: string;
}

export type Asked = Pick<ServerRequest, 'method' | 'headers'>;

const connections = ['log', 'exec', 'portforward', 'attach', 'proxy'];
const methods = ['GET', 'LIST', 'WATCH', 'POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'CONNECT'];

/** How upstream counts a request for a resource (`MonitorRequest`). */
export function resourceLabels(request: Asked, info: RequestInfo, route: Route): RequestLabels {
  const { group, version, resource, subresource } = info;
  const scope = route.custom ? scopeOf(info) : routeScope(info, route);
  const verb = info.watchPath ? 'WATCH' : verbOf(request, info, scope);
  const place = { group, version, resource, subresource };
  return { verb, dry_run: dryRunOf(info), ...place, scope, component: 'apiserver' };
}

/** How upstream counts a request for a path that is no resource. */
export function pathLabels(request: Asked, info: RequestInfo, component: string): RequestLabels {
  const place = { group: '', version: '', resource: '', subresource: info.path, scope: '' };
  return { verb: verbOf(request, info, ''), dry_run: dryRunOf(info), ...place, component };
}

/** The labels of a request that lasts (`RecordLongRunning`): the old form of a watch counts as a list. */
export function longRunningLabels(request: Asked, info: RequestInfo): Omit<RequestLabels, 'dry_run'> {
  const { group, version, resource, subresource } = info;
  const scope = scopeOf(info);
  const verb = verbOf(request, info, scope);
  return { verb, group, version, resource, subresource, scope, component: 'apiserver' };
}

/** The labels of a request that is not executed (`RecordDroppedRequest`). */
export function droppedLabels(request: Asked, info: RequestInfo): RequestLabels {
  return { ...longRunningLabels(request, info), dry_run: dryRunOf(info) };
}

/** The scope of the route that was installed for a request. */
function routeScope({ name, parts }: RequestInfo, { verb, resource, namespace }: Route): string {
  if (verb === 'create' || (parts.length > 1 && name !== '')) return 'resource';
  return resource.scope === 'Namespaced' && namespace !== '' ? 'namespace' : 'cluster';
}

function scopeOf({ name, verb, namespace, isResource }: RequestInfo): string {
  if (name !== '' || verb === 'create') return 'resource';
  if (namespace !== '') return 'namespace';
  return isResource ? 'cluster' : '';
}

function verbOf({ method, headers }: Asked, { query, isResource, subresource }: RequestInfo, scope: string): string {
  if (isResource && connections.includes(subresource)) return 'CONNECT';
  const watch = method === 'GET' ? first(query, 'watch') : undefined;
  if (watch !== undefined && isTrue(watch)) return 'WATCH';
  if (method === 'PATCH' && headers['content-type'] === 'application/apply-patch+yaml') return 'APPLY';
  const reads = method === 'GET' || method === 'HEAD';
  const verb = reads ? (scope === 'resource' || scope === '' ? 'GET' : 'LIST') : method;
  return methods.includes(verb) ? verb : 'other';
}

function dryRunOf({ query }: RequestInfo): string {
  const values = query.get('dryRun');
  if (values === undefined) return '';
  return values.every((value) => value === 'All') ? 'All' : 'invalid';
}
