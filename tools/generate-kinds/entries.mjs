// @ts-check
/** The modules that give each built-in kind its value and its names. */
import { moduleOf } from './types.mjs';

/** @typedef {import('./source.mjs').Resource} Resource */
/** @typedef {Map<string, { text: string, names: string[] }>} Types */

/**
 * @param {Resource[]} resources
 * @param {Types} types
 * @returns {Map<string, string>}
 */
export function emitEntries(resources, types) {
  const files = new Map([
    ['generated/all.ts', emitAll(resources)],
    ['generated/preferred.ts', emitPreferred(resources, types)],
  ]);
  for (const [path, own] of groupsAndVersions(resources))
    files.set(`generated/groups/${path}.ts`, emitGroup(own, types));
  return files;
}

/** All Kinds in one module: many small ones would cost more to load than they hold. @param {Resource[]} resources */
function emitAll(resources) {
  const modules = [...new Set(resources.map((r) => moduleOf(r.definition)))].sort();
  const lines = [
    "import { cluster, namespaced } from '../built-in-kind.js';",
    "import type { ClusterKind, NamespacedKind } from '../built-in-kind.js';",
    ...modules.map((m) => `import type * as ${identifier(m)} from './types/${m}.js';`),
    '',
  ];
  for (const r of resources) {
    const type = `${identifier(moduleOf(r.definition))}.${r.kind}`;
    const [make, kind] = r.namespaced ? ['namespaced', 'NamespacedKind'] : ['cluster', 'ClusterKind'];
    const names = [r.group, r.version, r.kind, r.plural].map((s) => `'${s}'`);
    const rest = [r.shortNames, r.categories, r.subresources].map((list) => `'${list.join(',')}'`);
    if (r.singular !== r.kind.toLowerCase())
      throw new Error(`${r.kind}: singular ${r.singular} is not the kind in lower case`);
    lines.push(`export type ${valueName(r)} = ${type};`);
    lines.push(
      `export const ${valueName(r)}: ${kind}<${type}> = /* @__PURE__ */ ${make}<${type}>(${[...names, ...rest].join(', ')});`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** One group and version: its kinds, all its types, `addToScheme`. @param {Resource[]} own @param {Types} types */
function emitGroup(own, types) {
  const first = /** @type {Resource} */ (own[0]);
  const module = moduleOf(first.definition);
  const names = new Set(own.map((r) => r.kind));
  const nested = (types.get(module)?.names ?? []).filter((n) => !names.has(n));
  const values = own.map((r) => `${valueName(r)} as ${r.kind}`);
  return [
    "import type { Scheme } from '../../../../object/scheme.js';",
    `import { ${own.map(valueName).join(', ')} } from '../../all.js';`,
    '',
    `export { ${values.join(', ')} } from '../../all.js';`,
    nested.length > 0 ? `export type { ${nested.join(', ')} } from '../../types/${module}.js';` : '',
    '',
    `/** Registers every kind of ${first.group || 'core'}/${first.version}. */`,
    'export function addToScheme(scheme: Scheme): void {',
    `  scheme.add(${own.map(valueName).join(', ')});`,
    '}',
    '',
  ].join('\n');
}

/** The flat names: the preferred version of each group; where two groups share a name, the first of them has it. @param {Resource[]} resources @param {Types} types */
function emitPreferred(resources, types) {
  const preferred = resources.filter((r) => r.preferred);
  /** @type {Set<string>} */
  const taken = new Set();
  const values = [];
  for (const r of preferred) {
    if (taken.has(r.kind)) continue;
    taken.add(r.kind);
    values.push(`export { ${valueName(r)} as ${r.kind} } from './all.js';`);
  }
  const nested = [];
  for (const module of new Set(preferred.map((r) => moduleOf(r.definition)))) {
    const names = (types.get(module)?.names ?? []).filter((n) => !taken.has(n));
    for (const name of names) taken.add(name);
    if (names.length > 0) nested.push(`export type { ${names.join(', ')} } from './types/${module}.js';`);
  }
  return `${[...values, ...nested].join('\n')}\n`;
}

/** @param {Resource[]} resources @returns {Map<string, Resource[]>} */
function groupsAndVersions(resources) {
  const out = new Map();
  for (const r of resources) {
    const path = `${r.group || 'core'}/${r.version}`;
    out.set(path, [...(out.get(path) ?? []), r]);
  }
  return out;
}

const identifier = (/** @type {string} */ module) => module.replace(/\W/g, '_');
const valueName = (/** @type {Resource} */ r) => `${identifier(moduleOf(r.definition))}_${r.kind}`;
