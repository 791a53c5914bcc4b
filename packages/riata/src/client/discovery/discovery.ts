import { isJsonObject, type Json, type JsonObject } from '../../object/json.js';
import type { Scope } from '../../object/kind.js';
import { isApiError } from '../../rest/errors/api-error.js';
import { isNotAcceptable, isNotFound } from '../../rest/errors/error-guards.js';
import type { RestClient } from '../../rest/rest-client.js';

/** One resource that a server serves in one version (`metav1.APIResource`). */
export interface ApiResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly scope: Scope;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly string[];
}

/** A group and what it holds; `versions` begins with the one that the server prefers. */
export interface ApiGroup {
  /** `''` for the core group. */
  readonly name: string;
  readonly versions: readonly { readonly version: string; readonly resources: readonly ApiResource[] }[];
}

/** Everything that a server serves, as far as discovery succeeded. */
export interface ServerResources {
  /** The core group first, the others in the server's order. */
  readonly groups: readonly ApiGroup[];
  /** `group/version` → why its resources are not known (`ErrGroupDiscoveryFailed`); mostly an extension server is down. */
  readonly failures: ReadonlyMap<string, unknown>;
}

/** The answer of `/version` (`version.Info`). */
export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly platform: string;
}

interface Call {
  readonly signal?: AbortSignal;
}

const aggregatedForms = ['v2', 'v2beta1'].map(
  (v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`,
);
const accept = [...aggregatedForms, 'application/json'].join(',');

/**
 * Asks a server what it serves (`discovery.DiscoveryClient`): by the aggregated documents, two requests in all, or, on
 * servers that do not have them, group by group. A group that fails does not hide the others.
 */
export class Discovery {
  readonly #rest: RestClient;

  constructor(rest: RestClient) {
    this.#rest = rest;
  }

  /** Everything that is served (`ServerGroupsAndResources`). Rejects only if not even the groups can be listed. */
  async resources(call: Call = {}): Promise<ServerResources> {
    const found: Found = { groups: [], failures: new Map() };
    // A server of extensions alone has no core group.
    const core = await this.#json('/api', call).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (core !== undefined) await this.#read(core, found, call);
    await this.#read(await this.#json('/apis', call), found, call);
    return found;
  }

  /** One group, requested alone: fresh, and cheap on servers with many. Undefined if it is not served. */
  async group(name: string, call: Call = {}): Promise<ServerResources | undefined> {
    const found: Found = { groups: [], failures: new Map() };
    try {
      if (name === '') await this.#readVersions('', [{ version: 'v1', groupVersion: 'v1' }], found, call);
      else await this.#readGroup(await this.#json(`/apis/${name}`, call), found, call);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
    return found;
  }

  /** The server's version (`ServerVersion`). */
  async serverVersion(call: Call = {}): Promise<ServerVersion> {
    return (await this.#json('/version', call)) as unknown as ServerVersion;
  }

  async #json(path: string, { signal }: Call): Promise<JsonObject> {
    const send = async (form: string) =>
      (await this.#rest.get().absPath(path).setHeader('accept', form).do({ signal })).json();
    const answer = await send(accept).catch((error: unknown) => {
      if (isNotAcceptable(error)) return send('application/json');
      throw error;
    });
    if (isJsonObject(answer)) return answer;
    throw new TypeError(`discovery: GET ${path} gave JSON that is no object; is this a Kubernetes API server?`);
  }

  async #read(document: JsonObject, found: Found, call: Call): Promise<void> {
    switch (document.kind) {
      case 'APIGroupDiscoveryList':
        for (const group of objects(document.items)) readAggregated(group, found);
        return;
      case 'APIVersions': {
        const versions = strings(document.versions).map((version) => ({ version, groupVersion: version }));
        return this.#readVersions('', versions, found, call);
      }
      case 'APIGroupList': {
        // Asked all at once, kept in the server's order.
        const groups = objects(document.groups).map((group) => {
          const own: Found = { groups: [], failures: found.failures };
          return this.#readGroup(group, own, call).then(() => own.groups);
        });
        found.groups.push(...(await Promise.all(groups)).flat());
        return;
      }
      default:
        throw new TypeError(`discovery: expected a list of API groups, got kind ${JSON.stringify(document.kind)}`);
    }
  }

  #readGroup(group: JsonObject, found: Found, call: Call): Promise<void> {
    const preferred = isJsonObject(group.preferredVersion) ? group.preferredVersion.version : undefined;
    const versions = objects(group.versions).map((v) => ({
      version: String(v.version),
      groupVersion: String(v.groupVersion),
    }));
    versions.sort((a, b) => Number(b.version === preferred) - Number(a.version === preferred));
    return this.#readVersions(String(group.name), versions, found, call);
  }

  async #readVersions(
    name: string,
    versions: readonly { version: string; groupVersion: string }[],
    found: Found,
    call: Call,
  ): Promise<void> {
    const lists = versions.map(async ({ version, groupVersion }) => {
      try {
        const path = name === '' ? `/api/${version}` : `/apis/${name}/${version}`;
        const list = await this.#json(path, call);
        return { version, resources: readResourceList(name, version, objects(list.resources)) };
      } catch (error) {
        // An answer of the server concerns this version only; a lost connection concerns all of them.
        if (!isApiError(error) || (isNotFound(error) && versions.length === 1 && name === '')) throw error;
        found.failures.set(groupVersion, error);
        return { version, resources: [] };
      }
    });
    found.groups.push({ name, versions: await Promise.all(lists) });
  }
}

interface Found extends ServerResources {
  readonly groups: ApiGroup[];
  readonly failures: Map<string, unknown>;
}

/** One item of an `APIGroupDiscoveryList`. */
function readAggregated(group: JsonObject, found: Found): void {
  const name = isJsonObject(group.metadata) ? String(group.metadata.name ?? '') : '';
  const versions = objects(group.versions).map((entry) => {
    const version = String(entry.version);
    if (entry.freshness === 'Stale') {
      const message = `${name}/${version}: the server that serves it does not answer; what is known of it may be old`;
      found.failures.set(`${name}/${version}`, new Error(message));
    }
    const resources = objects(entry.resources).map((r) => {
      const kind = isJsonObject(r.responseKind) ? String(r.responseKind.kind) : '';
      const subresources = objects(r.subresources).map((s) => String(s.subresource));
      const names = { plural: String(r.resource), singular: text(r.singularResource) || kind.toLowerCase() };
      return resource(name, version, kind, names, r.scope === 'Namespaced', r, subresources);
    });
    return { version, resources };
  });
  found.groups.push({ name, versions });
}

/** The resources of an `APIResourceList`, where subresources are entries of their own (`pods/log`). */
function readResourceList(group: string, version: string, entries: readonly JsonObject[]): ApiResource[] {
  const below = new Map<string, string[]>();
  for (const entry of entries) {
    const [plural = '', ...rest] = String(entry.name).split('/');
    if (rest.length > 0) below.set(plural, [...(below.get(plural) ?? []), rest.join('/')]);
  }
  return entries
    .filter((entry) => !String(entry.name).includes('/'))
    .map((r) => {
      const [plural, kind] = [String(r.name), String(r.kind)];
      const names = { plural, singular: text(r.singularName) || kind.toLowerCase() };
      return resource(group, version, kind, names, r.namespaced === true, r, below.get(plural) ?? []);
    });
}

function resource(
  group: string,
  version: string,
  kind: string,
  names: { plural: string; singular: string },
  namespaced: boolean,
  entry: JsonObject,
  subresources: readonly string[],
): ApiResource {
  const scope = namespaced ? 'Namespaced' : 'Cluster';
  const lists = {
    verbs: strings(entry.verbs),
    shortNames: strings(entry.shortNames),
    categories: strings(entry.categories),
  };
  return { group, version, kind, ...names, scope, ...lists, subresources };
}

function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function strings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((v) => typeof v === 'string') : [];
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
