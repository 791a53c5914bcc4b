// @ts-check
/**
 * Reads the facts about the built-in resources out of the pinned `k8s.io/kubernetes` module: which there are (the
 * discovery documents) and how they look (the OpenAPI document). Names, types and merge keys are taken; sentences not.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const goModule = fileURLToPath(new URL('../control-plane', import.meta.url));

/**
 * @typedef {{ type?: string, format?: string, $ref?: string, items?: Schema, additionalProperties?: Schema,
 *   properties?: Record<string, Schema>, required?: string[], default?: unknown, 'x-kubernetes-list-type'?: string,
 *   'x-kubernetes-list-map-keys'?: string[], 'x-kubernetes-map-type'?: string,
 *   'x-kubernetes-patch-strategy'?: string, 'x-kubernetes-patch-merge-key'?: string,
 *   'x-kubernetes-group-version-kind'?: { group: string, version: string, kind: string }[] }} Schema
 * @typedef {{ group: string, version: string, kind: string, plural: string, singular: string, namespaced: boolean,
 *   shortNames: string[], categories: string[], subresources: string[], definition: string, preferred: boolean,
 *   filledIn: Set<string> }} Resource
 * @typedef {{ definitions: Map<string, Schema>, resources: Resource[] }} Source
 */

/** Reads JSON files below `api/` of the pinned `k8s.io/kubernetes` module. */
export function apiDocuments() {
  const download = ['mod', 'download', 'k8s.io/kubernetes'];
  execFileSync('go', download, { cwd: goModule, stdio: ['ignore', 'inherit', 'inherit'] });
  return (/** @type {string} */ path) => JSON.parse(moduleFile(`api/${path}`));
}

/** @type {string | undefined} */
let folder;

/** The text of a file of the pinned `k8s.io/kubernetes` module, once it was downloaded. @param {string} path */
export function moduleFile(path) {
  const list = ['list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes'];
  folder ??= execFileSync('go', list, { cwd: goModule, encoding: 'utf8' }).trim();
  return readFileSync(join(folder, path), 'utf8');
}

/** @returns {Source} */
export function readSource() {
  const read = apiDocuments();
  const definitions = new Map(
    Object.entries(/** @type {Record<string, Schema>} */ (read('openapi-spec/swagger.json').definitions)),
  );
  /** @type {Map<string, string>} */
  const byGvk = new Map();
  for (const [name, schema] of definitions) {
    const gvks = schema['x-kubernetes-group-version-kind'] ?? [];
    // The types that are registered in every group (DeleteOptions, WatchEvent…) belong to no resource.
    if (gvks.length === 1 && gvks[0]) byGvk.set(gvkName(gvks[0]), name);
  }
  const resources = [];
  const groups = /** @type {{ items: any[] }} */ (read('discovery/aggregated_v2.json')).items;
  for (const group of [...groups, coreGroup(read('discovery/api__v1.json'))]) {
    for (const [index, version] of group.versions.entries()) {
      for (const r of version.resources) {
        const own = { group: group.metadata.name ?? '', version: version.version, kind: r.responseKind.kind };
        const definition = byGvk.get(gvkName(own));
        if (definition === undefined) throw new Error(`no OpenAPI definition for ${gvkName(own)}`);
        resources.push({
          ...own,
          plural: r.resource,
          singular: r.singularResource || own.kind.toLowerCase(),
          namespaced: r.scope === 'Namespaced',
          shortNames: r.shortNames ?? [],
          categories: r.categories ?? [],
          subresources: (r.subresources ?? []).map((/** @type {any} */ s) => s.subresource).sort(),
          definition,
          preferred: index === 0,
          filledIn: filledIn(read, own, definition),
        });
      }
    }
  }
  resources.sort(
    (a, b) =>
      order(a) - order(b) || compare(a.group, b.group) || compare(a.version, b.version) || compare(a.kind, b.kind),
  );
  return { definitions, resources };
}

/**
 * Which fields of a kind are there in every answer though a writer may leave them out: structs of Go that are no
 * pointers. OpenAPI v3 says so by a default of `{}`, v2 not at all.
 * @param {(path: string) => any} read
 * @param {{ group: string, version: string }} own
 * @param {string} definition
 */
function filledIn(read, own, definition) {
  const path = own.group === '' ? `api__${own.version}` : `apis__${own.group}__${own.version}`;
  const schema = /** @type {Schema} */ (read(`openapi-spec/v3/${path}_openapi.json`).components.schemas[definition]);
  const isFilled = (/** @type {string} */ field) =>
    JSON.stringify(schema.properties?.[field]?.default) === '{}' && !schema.required?.includes(field);
  return new Set(['spec', 'status'].filter(isFilled));
}

/** @param {{ group: string, version: string, kind: string }} gvk */
const gvkName = (gvk) => `${gvk.group}/${gvk.version}/${gvk.kind}`;
/** Groups that win where two have a type of the same name: those that most programs mean. @param {Resource} r */
const order = (r) =>
  ['', 'apps', 'batch', 'autoscaling', 'networking.k8s.io', 'rbac.authorization.k8s.io'].indexOf(r.group) + 1 || 99;
const compare = (/** @type {string} */ a, /** @type {string} */ b) => (a < b ? -1 : a > b ? 1 : 0);

/** The core group has no aggregated document in the module: brought into the same form. @param {any} list */
function coreGroup(list) {
  /** @type {Map<string, any>} */
  const resources = new Map();
  for (const r of list.resources) {
    const [plural, ...sub] = r.name.split('/');
    if (sub.length > 0) resources.get(plural)?.subresources.push({ subresource: sub.join('/') });
    else
      resources.set(plural, {
        resource: plural,
        singularResource: r.singularName,
        responseKind: { kind: r.kind },
        scope: r.namespaced ? 'Namespaced' : 'Cluster',
        shortNames: r.shortNames,
        categories: r.categories,
        subresources: [],
      });
  }
  return { metadata: { name: '' }, versions: [{ version: 'v1', resources: [...resources.values()] }] };
}
