import { once } from '../../once.js';
import { kindParts } from '../load-kind-parts.js';
import type { Resource, ResourceRules, ResourceSchema, Subresource } from '../resource.js';
import { type BuiltInResource, builtInGroupVersions } from './built-in-resources.js';

/** Every built-in resource that a server serves by default. They hold no state, so all servers share them. */
export const builtInResources = once(makeResources);

function makeResources(): readonly Resource[] {
  const storedAs = new Map<string, string>();
  return builtInGroupVersions()
    .filter((gv) => gv.servedByDefault)
    .flatMap((gv) => gv.resources)
    .map((entry) => {
      const apiVersion = entry.group === '' ? entry.version : `${entry.group}/${entry.version}`;
      // The first version of a resource is the one it is stored in.
      if (!storedAs.has(entry.storageKey)) storedAs.set(entry.storageKey, apiVersion);
      return resourceOf(entry, apiVersion, storedAs.get(entry.storageKey) as string);
    });
}

function resourceOf(entry: BuiltInResource, apiVersion: string, storedAs: string): Resource {
  const { group, version, kind, plural } = entry;
  let schema: ResourceSchema | undefined;
  let rules: ResourceRules | undefined;
  return {
    ...{ group, version, kind, plural, apiVersion, storedAs },
    builtIn: true,
    singular: entry.singular,
    listKind: `${kind}List`,
    scope: entry.namespaced ? 'Namespaced' : 'Cluster',
    shortNames: entry.shortNames,
    categories: entry.categories,
    verbs: entry.verbs,
    storageVersionHash: entry.storageVersionHash,
    subresources: entry.subresources,
    table: entry.storageKey,
    // Both are loaded with the first write of the kind, so that a server starts fast.
    get rules() {
      rules ??= kindParts().builtInRules(group, version, plural);
      return rules;
    },
    get schema() {
      schema ??= kindParts().schemaOfBuiltIn(entry, apiVersion);
      return schema;
    },
  };
}

const below = new WeakMap<Subresource, Resource>();

/** A subresource's own kind, e.g. `policy/v1` `Eviction`, as a resource that can be read but not stored. */
export function subresourceAsResource(resource: Resource, subresource: Subresource): Resource {
  let found = below.get(subresource);
  if (found === undefined) {
    const { group, version, kind } = subresource;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const schema = kindParts().schemaOfBuiltIn({ group, version, kind, plural: '', subresources: [] }, apiVersion);
    found = { ...resource, group, version, kind, apiVersion, schema, builtIn: true };
    below.set(subresource, found);
  }
  return found;
}
