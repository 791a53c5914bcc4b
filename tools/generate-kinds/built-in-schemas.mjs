// @ts-check
/**
 * What the embedded API server has to know of the built-in kinds, as text that a person can read and the server parses
 * when it gets there: the types (built-in-types.ts), their numbers in Protobuf (field-numbers.ts), the values that fields
 * may have (field-enums.ts) and the resources (built-in-resources.ts). Names and facts only.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { emitFieldEnums } from './field-enums.mjs';
import { emitFieldNumbers } from './field-numbers.mjs';
import { apiDocuments, goModule, moduleFile } from './source.mjs';

/**
 * @typedef {import('./source.mjs').Schema & { default?: unknown }} Schema
 * @typedef {{ name: string, type: string, via?: string, omitEmpty?: boolean, number?: string }} GoField
 * @typedef {{ of?: string, custom?: boolean, fields?: GoField[] }} GoType
 * @typedef {{ kinds: Record<string, string>, types: Record<string, GoType> }} GoTypes
 */

/** What is sent and answered beside resources. */
const answers = [
  ...['DeleteOptions', 'Status', 'PartialObjectMetadata'],
  ...['APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList'],
];

const allVerbs = 'create,delete,deletecollection,get,list,patch,update,watch';

/** @returns {Map<string, string>} file → text */
export function emitBuiltInSchemas() {
  const read = apiDocuments();
  const go = goTypes();
  const { text, roots } = resources(read, go);
  const types = reachable(roots, go);
  return new Map([
    ['built-in-resources.ts', file('The resources that Kubernetes v1.36 serves: see ../built-in-resources.ts.', text)],
    ['built-in-types.ts', typesFile(types, go, schemas(read))],
    ['field-numbers.ts', emitFieldNumbers(types, go, split)],
    ['field-enums.ts', emitFieldEnums(moduleFile('pkg/generated/openapi/zz_generated.openapi.go'), types, split)],
  ]);
}

/** @returns {GoTypes} */
function goTypes() {
  const program = fileURLToPath(new URL('go-types/main.go', import.meta.url));
  const out = execFileSync('go', ['run', program], { cwd: goModule, encoding: 'utf8', maxBuffer: 64 << 20 });
  return JSON.parse(out);
}

/**
 * The definitions of the OpenAPI v3 documents, which unlike v2 know defaults.
 * @param {(path: string) => any} read
 */
function schemas(read) {
  /** @type {Map<string, Schema>} */
  const found = new Map(Object.entries(read('openapi-spec/swagger.json').definitions));
  for (const { path } of groupVersions(read)) {
    const document = read(`openapi-spec/v3/${path}_openapi.json`);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const known = found.get(name);
      if (known === undefined) continue;
      for (const [field, value] of Object.entries(/** @type {Schema} */ (schema).properties ?? {})) {
        const own = known.properties?.[field];
        if (own) Object.assign(own, { default: /** @type {Schema} */ (value).default });
      }
    }
  }
  return found;
}

/**
 * In the order in which discovery lists them: core first, then by priority.
 * @param {(path: string) => any} read
 * @returns {{ group: string, version: string, path: string }[]}
 */
function groupVersions(read) {
  const found = [{ group: '', version: 'v1', path: 'api__v1' }];
  for (const item of read('discovery/aggregated_v2.json').items) {
    const group = item.metadata.name;
    for (const { version } of item.versions) found.push({ group, version, path: `apis__${group}__${version}` });
  }
  return found;
}

/**
 * @param {(path: string) => any} read
 * @param {GoTypes} go
 */
function resources(read, go) {
  const lines = [];
  const roots = new Set(answers.map((kind) => `k8s.io/apimachinery/pkg/apis/meta/v1.${kind}`));
  roots.add('k8s.io/api/apidiscovery/v2.APIGroupDiscoveryList');
  for (const { group, version, path } of groupVersions(read)) {
    const list = read(`discovery/${path}.json`).resources;
    const kindOf = (/** @type {any} */ r) => `${r.group ?? group}/${r.version ?? version}/${r.kind}`;
    for (const r of list) {
      const type = go.kinds[kindOf(r)];
      if (type === undefined) throw new Error(`no Go type for ${kindOf(r)}`);
      roots.add(type);
    }
    const home = split(go.kinds[kindOf(list.find((/** @type {any} */ r) => !r.group))] ?? '').pkg;
    lines.push(`${group ? `${group}/` : ''}${version} types=${home}`);
    // A subresource can stand before its resource in the document's order.
    const top = list.filter((/** @type {any} */ r) => !r.name.includes('/'));
    for (const r of top) {
      const words = [r.name, r.kind, r.namespaced ? 'namespaced' : 'cluster', verbs(r)];
      if (r.singularName && r.singularName !== r.kind.toLowerCase()) words.push(`singular=${r.singularName}`);
      if (r.shortNames) words.push(`short=${r.shortNames.join(',')}`);
      if (r.categories) words.push(`categories=${r.categories.join(',')}`);
      if (r.storageVersionHash) words.push(`hash=${r.storageVersionHash}`);
      lines.push(`  ${words.join(' ')}`);
      for (const s of list.filter((/** @type {any} */ s) => s.name.startsWith(`${r.name}/`))) {
        const foreign = (s.group ?? group) !== group || (s.version ?? version) !== version;
        const at = `${s.group ? `${s.group}/` : ''}${s.version}.`;
        lines.push(`    ${s.name.slice(r.name.length)} ${foreign || s.group ? at : ''}${s.kind} ${verbs(s)}`);
      }
    }
    const orphans = list.filter(
      (/** @type {any} */ s) => !top.some((/** @type {any} */ r) => s.name.split('/')[0] === r.name),
    );
    if (orphans.length > 0)
      throw new Error(`subresources of nothing: ${orphans.map((/** @type {any} */ o) => o.name)}`);
  }
  return { text: lines.join('\n'), roots };
}

/** @param {{ verbs: string[] }} r */
function verbs(r) {
  const list = [...r.verbs].sort().join(',');
  return list === allVerbs ? '*' : list || 'none';
}

/**
 * @param {Set<string>} roots
 * @param {GoTypes} go
 */
function reachable(roots, go) {
  /** @type {Set<string>} */
  const found = new Set();
  const reach = (/** @type {string} */ type) => {
    for (const name of type.match(/[a-z][\w.-]*(?:\/[\w.-]+)+/g) ?? []) {
      const known = go.types[name];
      if (known === undefined) throw new Error(`unknown Go type ${name}`);
      if (found.has(name)) continue;
      found.add(name);
      if (known.of) reach(known.of);
      for (const field of known.fields ?? []) reach(field.type);
    }
  };
  for (const root of roots) reach(root);
  return found;
}

/**
 * @param {Set<string>} names
 * @param {GoTypes} go
 * @param {Map<string, Schema>} definitions
 */
function typesFile(names, go, definitions) {
  /** @type {Map<string, string[]>} */
  const packages = new Map();
  for (const name of [...names].sort()) {
    const type = /** @type {GoType} */ (go.types[name]);
    const { pkg, short } = split(name);
    const lines = packages.get(pkg) ?? [];
    packages.set(pkg, lines);
    // The OpenAPI generator names types by Go's import path with the domain turned round.
    const schema = definitions.get(name.replace(/^k8s\.io\//, 'io.k8s.').replaceAll('/', '.'));
    if (type.custom) continue;
    if (type.of) lines.push(`${short} = ${spell(type.of, pkg)}`);
    else {
      lines.push(`${short}${schema?.['x-kubernetes-map-type'] === 'atomic' ? ' atomic' : ''}`);
      for (const field of type.fields ?? []) lines.push(`  ${fieldLine(field, pkg, schema)}`);
    }
  }
  const blocks = [...packages]
    .filter(([, lines]) => lines.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([pkg, lines]) => `  ${/\W/.test(pkg) ? `'${pkg}'` : pkg}: \`\n${lines.join('\n')}\n\`,`);
  return [
    '/** Go package → its types with their fields: see ../built-in-types.ts for the language. */',
    'export const builtInTypeTexts: Readonly<Record<string, string>> = {',
    ...blocks,
    '};',
    '',
  ].join('\n');
}

/**
 * @param {GoField} field
 * @param {string} pkg
 * @param {Schema | undefined} owner
 */
function fieldLine(field, pkg, owner) {
  const schema = owner?.properties?.[field.name];
  const words = [`${field.name}${owner?.required?.includes(field.name) ? '!' : ''}`, spell(field.type, pkg)];
  if (!field.omitEmpty) words.push('kept');
  if (field.via) words.push(`via=${field.via.slice(0, -1)}`);
  const keys = schema?.['x-kubernetes-list-map-keys'];
  const listType = schema?.['x-kubernetes-list-type'];
  if (listType === 'map' && keys) words.push(`map=${keys.join(',')}`);
  else if (listType === 'set') words.push('set');
  else if (listType === 'atomic' || schema?.['x-kubernetes-map-type'] === 'atomic') words.push('atomic');
  else if (schema?.['x-kubernetes-map-type'] === 'granular') words.push('granular');
  const strategy = schema?.['x-kubernetes-patch-strategy'];
  const key = schema?.['x-kubernetes-patch-merge-key'];
  if (strategy === 'merge') words.push(key ? `merge=${key}` : 'merge');
  else if (strategy) words.push(`patch=${strategy}`, ...(key ? [`key=${key}`] : []));
  const value = schema?.default;
  if (value && typeof value !== 'object') words.push(`default=${value}`);
  // Where Go would write it anyway, it goes without saying.
  else if (value !== undefined && typeof value !== 'object' && (field.omitEmpty || field.type.startsWith('*')))
    words.push('zero');
  return words.join(' ');
}

/** `k8s.io/api/core/v1.Pod` → package `core/v1`, name `Pod`. @param {string} name */
function split(name) {
  const dot = name.lastIndexOf('.');
  const path = name.slice(0, dot);
  const parts = path.split('/');
  const pkg = /\/v\d/.test(path) ? parts.slice(-2).join('/') : (parts.at(-1) ?? '');
  return { pkg, short: name.slice(dot + 1) };
}

/** A Go type with short package names, and none for the types of the same package. @param {string} type @param {string} home */
function spell(type, home) {
  return type.replace(/[a-z][\w.-]*(?:\/[\w.-]+)+/g, (name) => {
    const { pkg, short } = split(name);
    return pkg === home ? short : `${pkg}.${short}`;
  });
}

/** @param {string} about @param {string} text */
function file(about, text) {
  return `/** ${about} */\nexport const builtInResourcesText = \`\n${text}\n\`;\n`;
}
