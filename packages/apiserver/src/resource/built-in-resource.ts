import { applyStrategicMergePatch, isJsonObject, type JsonObject, mergeTypeFromSchema } from 'riata/object';
import { builtInPatchSchema, builtInSchema } from '../schema/built-in/built-in-schema.js';
import { decodeTyped, IllTypedError } from '../schema/built-in/decode-typed.js';
import { strictComplaints } from '../schema/strict-fields.js';
import { type BuiltInResource, builtInGroupVersions } from './built-in-resources.js';
import { writeParts } from './load-write-parts.js';
import { resetBy, statusApart, trackingOf } from './managed-fields.js';
import { UnreadableError } from './read-object.js';
import type { Resource, ResourceRules, ResourceSchema, Subresource } from './resource.js';

let all: readonly Resource[] | undefined;

/** Every built-in resource that a server serves unless told otherwise. The same for all servers: they hold no state. */
export function builtInResources(): readonly Resource[] {
  all ??= makeResources();
  return all;
}

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
    // Both are read when somebody first writes this kind: a server starts in no time.
    get rules() {
      rules ??= writeParts().builtInRules(group, version, plural);
      return rules;
    },
    get schema() {
      schema ??= schemaOf(entry, apiVersion);
      return schema;
    },
  };
}

const below = new WeakMap<Subresource, Resource>();

/** What a subresource takes that is a kind of its own, e.g. `policy/v1` `Eviction`: enough of a resource to read it. */
export function subresourceAsResource(resource: Resource, subresource: Subresource): Resource {
  let found = below.get(subresource);
  if (found === undefined) {
    const { group, version, kind } = subresource;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    const schema = schemaOf({ group, version, kind, plural: '', subresources: [] }, apiVersion);
    found = { ...resource, group, version, kind, apiVersion, schema, builtIn: true };
    below.set(subresource, found);
  }
  return found;
}

function schemaOf(
  entry: Pick<BuiltInResource, 'group' | 'version' | 'kind' | 'plural' | 'subresources'>,
  apiVersion: string,
): ResourceSchema {
  const { group, version, kind } = entry;
  const node = builtInSchema({ group, version, kind });
  if (node === undefined) throw new Error(`no schema for ${apiVersion} ${kind}`);
  const patchSchema = builtInPatchSchema({ group, version, kind });
  const read = (object: JsonObject) => {
    const unknown: string[] = [];
    try {
      return { object: decodeTyped(object, node, unknown), unknown };
    } catch (error) {
      if (!(error instanceof IllTypedError)) throw error;
      throw new UnreadableError(entry, error.message);
    }
  };
  const hasStatus = entry.subresources.some((s) => s.name === 'status');
  const { resets, statusKeeps } = writeParts().builtInRules(group, version, entry.plural);
  const empty = decodeTyped({ apiVersion, kind }, node);
  return {
    emptyStatus: isJsonObject(empty.status) ? empty.status : undefined,
    read,
    complaints: (text) => strictComplaints(text, node),
    withDefaults: (object) => object,
    validate: () => [],
    tracking: trackingOf({
      apiVersion,
      kind,
      type: mergeTypeFromSchema(node),
      empty,
      resetFields: resets === undefined ? statusApart(hasStatus, keptPaths(statusKeeps)) : resetBy(resets),
    }),
    strategicPatch: patchSchema && ((object, patch) => asObject(applyStrategicMergePatch(object, patch, patchSchema))),
  };
}

function keptPaths(keeps: ResourceRules['statusKeeps'] = 'all'): readonly (readonly string[])[] {
  return keeps === 'all' ? [['metadata']] : keeps.map((field) => ['metadata', field]);
}

function asObject(value: unknown): JsonObject {
  return value as JsonObject;
}
