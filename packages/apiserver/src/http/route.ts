import type { Resource, Subresource } from '../resource/resource.js';
import type { ResourceTable } from '../resource/resource-table.js';
import { pathSegmentName } from '../schema/name-rules.js';
import { goQuote } from '../status/go-quote.js';
import { badRequest, methodNotSupported, noSuchPath, notAllowed, notFound } from '../status/refusal.js';
import type { RequestInfo } from './request-info.js';
import type { ServerRequest } from './server-request.js';
import { pageNotFound } from './status-answer.js';

/** Where a request for a resource goes. */
export interface Route {
  readonly verb: Verb;
  readonly resource: Resource;
  readonly subresource: Subresource | undefined;
  /** `''` for what lives in no namespace, and for all of them. */
  readonly namespace: string;
  readonly name: string;
  /** Served by a CustomResourceDefinition: some answers have other words. */
  readonly custom: boolean;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

const itemVerbs = ['get', 'update', 'patch', 'delete'];
const proxyMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
const collectionVerbs = ['list', 'watch', 'create', 'deletecollection'];

/** Finds what a request for a resource means. Throws 404, 405, and 400 for a name that cannot be one. */
export function findRoute(request: ServerRequest, info: RequestInfo, table: ResourceTable): Route {
  const group = table.group(info.group);
  // The core group has a path of its own alone.
  if (group === undefined || info.path.startsWith('/apis//')) throw pageNotFound();
  const resource = table.find(info.group, info.version, info.resource);
  const { custom } = group;
  if (resource === undefined) throw custom ? pageNotFound() : noSuchPath();
  const place = placeOf(info, resource);
  if (place === undefined && info.path.includes('/namespaces//')) throw badRequest('Namespace parameter required.');
  if (place === undefined) throw custom ? pageNotFound() : noSuchPath();
  const route = custom ? customRoute(info, resource) : builtInRoute(request, info, resource);
  const namespace = resource.scope === 'Namespaced' ? info.namespace : '';
  if (place === 'item') checkName(info.name);
  return { ...route, resource, namespace, name: info.name, custom };
}

type Place = 'item' | 'collection';

/** Whether the path has the form that the scope of the resource asks for. */
function placeOf({ parts, namespace }: RequestInfo, resource: Resource): Place | undefined {
  const [, name = ''] = parts;
  const place = name === '' ? 'collection' : 'item';
  if (resource.scope === 'Namespaced') return place === 'item' && namespace === '' ? undefined : place;
  // The path of a namespace itself reads as one inside of it.
  const isNamespace = resource.group === '' && resource.plural === 'namespaces';
  return namespace === '' || (isNamespace && namespace === name) ? place : undefined;
}

/** kube-apiserver knows paths one by one: one that no verb of the resource has is not there at all. */
function builtInRoute(request: ServerRequest, info: RequestInfo, resource: Resource) {
  const { parts } = info;
  const verb = info.verb as Verb;
  if (info.watchPath) {
    if (!resource.verbs.includes('watch') || parts.length > 2) throw noSuchPath();
    if (request.method !== 'GET') throw notAllowed();
    return { verb, subresource: undefined };
  }
  const isProxy = info.subresource === 'proxy';
  if (parts.length > 3 && !isProxy) throw noSuchPath();
  if (parts.length >= 3) {
    const subresource = resource.subresources.find(({ name }) => name === info.subresource);
    if (subresource === undefined) throw noSuchPath();
    const isAllowed = isProxy
      ? proxyMethods.includes(request.method)
      : request.method !== 'HEAD' && subresource.verbs.includes(verb);
    if (!isAllowed) throw notAllowed();
    return { verb, subresource };
  }
  const everywhere = resource.scope === 'Namespaced' && !info.path.includes('/namespaces/');
  const here = parts.length === 2 ? itemVerbs : everywhere ? ['list', 'watch'] : collectionVerbs;
  if (!here.some((known) => resource.verbs.includes(known))) throw noSuchPath();
  // A resource that can be listed but not watched has its own error text.
  const known = verb === 'watch' ? 'list' : verb;
  if (request.method === 'HEAD' || !here.includes(verb) || !resource.verbs.includes(known)) throw notAllowed();
  return { verb, subresource: undefined };
}

function customRoute(info: RequestInfo, resource: Resource) {
  const verb = info.verb as Verb;
  const reads = verb === 'get' || verb === 'list' || verb === 'watch';
  const everywhere = resource.scope === 'Namespaced' && info.namespace === '';
  if (everywhere && !reads) throw pageNotFound();
  if (info.subresource === '') {
    if (!resource.verbs.includes(verb)) throw methodNotSupported(resource, verb);
    if (itemVerbs.includes(verb) && info.name === '') throw badRequest('name must be provided');
    return { verb, subresource: undefined };
  }
  const subresource = resource.subresources.find(({ name }) => name === info.subresource);
  if (subresource === undefined) throw notFound(resource, info.name);
  if (!subresource.verbs.includes(verb)) throw methodNotSupported(resource, verb);
  return { verb, subresource };
}

function checkName(name: string): void {
  const [problem] = pathSegmentName(name);
  if (problem !== undefined) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problem}`);
}
