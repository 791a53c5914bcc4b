import { isJsonObject, type JsonObject } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../resource/metadata.js';
import type { RemoteRequests } from './remote-requests.js';
import type { RemoteService } from './remote-service.js';

/** What discovery says of one version of a group that another server serves. */
export interface RemoteVersion {
  /** As in an aggregated discovery document. */
  readonly resources: readonly JsonObject[];
  /** Where its OpenAPI document is, as an index of such says it. */
  readonly openApi?: JsonObject | undefined;
  /** Whether the other server has said so of late. */
  readonly fresh: boolean;
}

const aggregatedType =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';

/** Asks an aggregated API server for the resources of a version. Throws an `Error` if it fails. */
export async function remoteResources(
  requests: RemoteRequests,
  remote: RemoteService,
  { group, version }: { readonly group: string; readonly version: string },
  stopping: AbortSignal,
): Promise<readonly JsonObject[]> {
  const all = await requests.get(remote, '/apis', aggregatedType, stopping);
  if (all.status === 200 && all.contentType.includes('as=APIGroupDiscoveryList')) {
    const items = recordsOf((JSON.parse(all.text) as JsonObject).items);
    const found = items.find((item) => isJsonObject(item.metadata) && item.metadata.name === group);
    const served = recordsOf(found?.versions).find((one) => one.version === version);
    return recordsOf(served?.resources).map(withKinds);
  }
  const path = `/apis/${group}/${version}`;
  const { status, text } = await requests.get(remote, path, 'application/json', stopping);
  if (status !== 200) throw new Error(`failed to download legacy discovery for ${path}: ${text}`);
  return fromResourceList(recordsOf((JSON.parse(text) as JsonObject).resources));
}

/** Asks an aggregated API server for the path of a version's OpenAPI document; undefined if it fails. */
export async function remoteOpenApi(
  requests: RemoteRequests,
  remote: RemoteService,
  { group, version }: { readonly group: string; readonly version: string },
  stopping: AbortSignal,
): Promise<JsonObject | undefined> {
  const { status, text } = await requests.get(remote, '/openapi/v3', 'application/json', stopping);
  if (status !== 200) return undefined;
  try {
    const found = recordOf((JSON.parse(text) as JsonObject).paths)[`apis/${group}/${version}`];
    return isJsonObject(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Asks an aggregated API server for its OpenAPI 2 document; undefined if it has none. */
export async function remoteOpenApi2(
  requests: RemoteRequests,
  remote: RemoteService,
  stopping: AbortSignal,
): Promise<JsonObject | undefined> {
  const { status, text } = await requests.get(remote, '/openapi/v2', 'application/json', stopping);
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`failed to retrieve openAPI spec, http error: ${status}`);
  const document: unknown = JSON.parse(text);
  return isJsonObject(document) ? document : undefined;
}

/** Older clients expect a kind everywhere. */
function withKinds(resource: JsonObject): JsonObject {
  const none = { group: '', version: '', kind: '' };
  const subresources = recordsOf(resource.subresources).map((one) => ({
    ...one,
    responseKind: one.responseKind ?? none,
  }));
  return {
    ...resource,
    responseKind: resource.responseKind ?? none,
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

/** From the resources of an `APIResourceList` (`ConvertGroupVersionIntoToDiscovery`). */
function fromResourceList(list: readonly JsonObject[]): JsonObject[] {
  const kindOf = ({ group, version, kind }: JsonObject) => ({
    group: textOf(group),
    version: textOf(version),
    kind: textOf(kind),
  });
  const isBelow = ({ name }: JsonObject) => textOf(name).includes('/');
  return list
    .filter((one) => !isBelow(one))
    .map((one) => {
      const prefix = `${textOf(one.name)}/`;
      const below = list.filter(({ name }) => textOf(name).startsWith(prefix));
      const subresources = below.map((sub) => ({
        subresource: textOf(sub.name).slice(prefix.length),
        responseKind: kindOf(sub),
        verbs: stringsOf(sub.verbs) as string[],
      }));
      return {
        resource: textOf(one.name),
        responseKind: kindOf(one),
        scope: one.namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: textOf(one.singularName),
        verbs: stringsOf(one.verbs) as string[],
        ...(Array.isArray(one.shortNames) ? { shortNames: one.shortNames } : {}),
        ...(Array.isArray(one.categories) ? { categories: one.categories } : {}),
        ...(subresources.length === 0 ? {} : { subresources }),
      };
    });
}
