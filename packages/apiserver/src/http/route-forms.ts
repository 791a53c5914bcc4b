import { apiVersionOf } from 'riata/object';
import { canBeShown } from '../table/can-be-shown.js';
import * as negotiation from './body/negotiate.js';
import type { RequestInfo } from './request-info.js';
import type { Route } from './route.js';

/** Whether a request can be answered without knowing what makes up its kind. */
export function isPlainRead({ verb, subresource }: Route, { query }: RequestInfo): boolean {
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return false;
  return subresource === undefined && !query.has('fieldSelector');
}

/** The expected kind of the body of a create or an update. */
export function bodyKindOf({ resource, subresource }: Route): { readonly apiVersion: string; readonly kind: string } {
  // Views of an object (its status) take the object itself.
  if (subresource === undefined || subresource.kind === resource.kind) return resource;
  return { apiVersion: apiVersionOf(subresource), kind: subresource.kind };
}

/** The decoded path behind the subresource. */
export function proxiedPath({ path, parts }: RequestInfo): string {
  const below = parts.slice(3).map((part) => `/${part}`);
  return below.join('') + (path.endsWith('/') ? '/' : '');
}

/** The forms that an answer can be converted to. */
export function transformsOf({ resource, subresource }: Route): negotiation.Transforms {
  return canBeShown(resource, subresource) ? negotiation.objectTransforms : negotiation.metadataTransforms;
}
