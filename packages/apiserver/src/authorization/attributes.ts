import type { UserInfo } from '../authentication/user-info.js';
import type { RequestInfo } from '../http/request-info.js';

/** The attributes of a request that authorization decides by (`authorizer.Attributes`). */
export interface Attributes {
  readonly user: UserInfo;
  readonly verb: string;
  /** Otherwise it is about a path. */
  readonly isResource: boolean;
  readonly group: string;
  /** Plural. */
  readonly resource: string;
  readonly subresource: string;
  /** `''` for all namespaces, and for what lives in none. */
  readonly namespace: string;
  /** `''` for any. */
  readonly name: string;
  readonly path: string;
}

/** The authorization attributes of a request. */
export function attributesOf(user: UserInfo, info: RequestInfo): Attributes {
  const { verb, isResource, group, resource, subresource, namespace, name, path } = info;
  return { user, verb, isResource, group, resource, subresource, namespace, name, path };
}

/** Access to a resource; what is not given is empty. */
export function resourceAttributes(
  user: UserInfo,
  given: Pick<Attributes, 'verb' | 'resource'> & Partial<Omit<Attributes, 'user' | 'isResource' | 'path'>>,
): Attributes {
  return { user, isResource: true, group: '', subresource: '', namespace: '', name: '', path: '', ...given };
}
