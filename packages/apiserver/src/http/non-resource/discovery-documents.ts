import { createHash } from 'node:crypto';
import type { Aggregation } from '../../aggregation/aggregation.js';
import type { Resource } from '../../resource/resource.js';
import type { ApiGroup, ResourceTable } from '../../resource/resource-table.js';

type ListedGroup = Pick<ApiGroup, 'name' | 'versions'>;

/** The discovery documents, as kube-apiserver writes them. Kept until the table changes. */
export class DiscoveryDocuments {
  readonly #table: ResourceTable;
  readonly #aggregation: Aggregation | undefined;
  #generation = '';
  readonly #made = new Map<string, unknown>();

  /** @param aggregation what other servers serve; nothing by default */
  constructor(table: ResourceTable, aggregation?: Aggregation) {
    this.#table = table;
    this.#aggregation = aggregation;
  }

  /** `/api`. */
  versions(address: string): object {
    const versions = this.#table.group('')?.versions ?? [];
    const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
    return { kind: 'APIVersions', versions, serverAddressByClientCIDRs };
  }

  /** `/apis`. */
  groupList(): object {
    return this.#once('groups', () => {
      const groups = this.#groups().filter(({ name }) => name !== '');
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupDocument) };
    });
  }

  /** `/apis/<group>`. */
  group(name: string): object | undefined {
    const group = name === '' ? undefined : this.#groups().find((one) => one.name === name);
    return group && { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) };
  }

  /** `/api/v1` and `/apis/<group>/<version>`. */
  resourceList(group: string, version: string): object | undefined {
    if (!this.#table.group(group)?.versions.includes(version)) return undefined;
    return this.#once(`${group}/${version}`, () => {
      const resources = this.#table.resources(group, version).flatMap(resourceDocuments);
      // The oldest of these documents came before it had a version of its own.
      const head = group === '' ? { kind: 'APIResourceList' } : { kind: 'APIResourceList', apiVersion: 'v1' };
      return { ...head, groupVersion: groupVersion(group, version), resources };
    });
  }

  /** `/api` or `/apis` with everything in one document (aggregated discovery v2), and its ETag. */
  aggregated(core: boolean): { readonly document: object; readonly etag: string } {
    return this.#once(`aggregated ${core}`, () => {
      const groups = this.#groups().filter(({ name }) => (name === '') === core);
      const items = groups.map((group) => this.#aggregatedGroup(group));
      const document = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
      const hash = createHash('sha512').update(JSON.stringify(document)).digest('hex').toUpperCase();
      return { document, etag: `"${hash}"` };
    });
  }

  /** Those of this server, and, where other servers are behind it, all in the order of their priorities. */
  #groups(): readonly ListedGroup[] {
    const all = this.#aggregation?.groups();
    if (all === undefined) return this.#table.groups();
    const listed = all.map(({ name, versions }) => ({ name, versions: versions.map(({ version }) => version) }));
    // Only this group has no APIService of its own; it comes before all others.
    const own = this.#table.groups().filter(({ name }) => name === 'apiregistration.k8s.io');
    return [...listed.filter(({ name }) => name === ''), ...own, ...listed.filter(({ name }) => name !== '')];
  }

  #aggregatedGroup({ name, versions }: ListedGroup): object {
    const custom = this.#table.group(name)?.custom ?? false;
    return {
      metadata: name === '' ? {} : { name },
      versions: versions.map((version) => {
        const other = this.#aggregation?.find(`/apis/${name}/${version}`);
        if (other !== undefined) {
          const { resources, fresh } = this.#aggregation?.discovered(other.name) ?? { resources: [], fresh: false };
          return { version, ...(resources.length === 0 ? {} : { resources }), freshness: fresh ? 'Current' : 'Stale' };
        }
        const resources = this.#table.resources(name, version).map((resource) => aggregatedResource(resource, custom));
        return { version, resources, freshness: 'Current' };
      }),
    };
  }

  #once<T>(what: string, make: () => T): T {
    const generation = `${this.#table.generation} ${this.#aggregation?.generation ?? 0}`;
    if (this.#generation !== generation) this.#made.clear();
    this.#generation = generation;
    if (!this.#made.has(what)) this.#made.set(what, make());
    return this.#made.get(what) as T;
  }
}

function groupVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`;
}

function groupDocument({ name, versions }: ListedGroup) {
  const listed = versions.map((version) => ({ groupVersion: groupVersion(name, version), version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

function namesOf({ shortNames, categories }: Resource) {
  return {
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}

/** The entries of a resource and its subresources. */
function resourceDocuments(resource: Resource): object[] {
  const { plural, singular, kind, verbs, group, version } = resource;
  const namespaced = resource.scope === 'Namespaced';
  const { storageVersionHash: hash } = resource;
  const stored = hash === undefined ? {} : { storageVersionHash: hash };
  const own = { name: plural, singularName: singular, namespaced, kind, verbs, ...namesOf(resource), ...stored };
  return [
    own,
    ...resource.subresources.map((sub) => {
      const other = sub.group !== group || sub.version !== version ? { group: sub.group, version: sub.version } : {};
      const name = `${plural}/${sub.name}`;
      return { name, singularName: '', namespaced, ...other, kind: sub.kind, verbs: sub.verbs };
    }),
  ];
}

function aggregatedResource(resource: Resource, custom: boolean): object {
  const { plural, singular, scope, verbs, group, version, subresources } = resource;
  // Built-in resources leave out what they share with their group and version.
  const kindOf = (of: { readonly group: string; readonly version: string; readonly kind: string }) => {
    const same = !custom && of.group === group && of.version === version;
    return { group: same ? '' : of.group, version: same ? '' : of.version, kind: of.kind };
  };
  const below = subresources.map((sub) => ({
    subresource: sub.name,
    responseKind: kindOf(sub),
    verbs: sub.verbs,
  }));
  return {
    resource: plural,
    responseKind: kindOf(resource),
    scope,
    singularResource: singular,
    verbs,
    ...namesOf(resource),
    ...(below.length === 0 ? {} : { subresources: below }),
  };
}
