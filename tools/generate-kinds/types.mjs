// @ts-check
/** Turns OpenAPI definitions into read-only TypeScript interfaces, one module per group and version. */

/** @typedef {import('./source.mjs').Schema} Schema */
/** @typedef {import('./source.mjs').Resource} Resource */

const prefix = '#/definitions/';
const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1.';

/** Definitions that are not emitted: what stands for them. */
const substitutes = new Map([
  [`${metaPackage}Time`, 'string'],
  [`${metaPackage}MicroTime`, 'string'],
  [`${metaPackage}FieldsV1`, '{ readonly [key: string]: unknown }'],
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'string'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'number | string'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', '{ readonly [key: string]: unknown }'],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON', 'unknown'],
  [
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray',
    'JSONSchemaProps | readonly JSONSchemaProps[]',
  ],
  ['io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool', 'JSONSchemaProps | boolean'],
  [
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray',
    'JSONSchemaProps | readonly string[]',
  ],
]);
/** Written by hand in object/. */
const handwritten = new Set([
  'Condition',
  'LabelSelector',
  'LabelSelectorRequirement',
  'ListMeta',
  'OwnerReference',
  'Status',
  'StatusCause',
  'StatusDetails',
  'ManagedFieldsEntry',
]);

/** Package path of a definition → module name, e.g. `io.k8s.api.apps.v1` → `apps-v1`. @param {string} name */
export function moduleOf(name) {
  const parts = name.split('.');
  const version = parts.at(-2) ?? '';
  return `${(parts.at(-3) ?? '').toLowerCase()}-${version}`;
}
/** @param {string} name */
export const shortName = (name) => name.slice(name.lastIndexOf('.') + 1);

/**
 * @param {Map<string, Schema>} definitions
 * @param {Resource[]} resources
 * @returns {Map<string, { text: string, names: string[] }>} by module
 */
export function emitTypes(definitions, resources) {
  const kinds = new Map(resources.map((r) => [r.definition, r]));
  /** @type {Map<string, { name: string, text: string, uses: Set<string> }[]>} */
  const modules = new Map();
  for (const name of [...definitions.keys()].sort()) {
    const schema = /** @type {Schema} */ (definitions.get(name));
    if (substitutes.has(name) || name.startsWith(metaPackage) || name.includes('.pkg.version.')) continue;
    const emitter = new Emitter(name, definitions, kinds);
    const text = emitter.definition(schema);
    const module = moduleOf(name);
    const list = modules.get(module) ?? [];
    list.push({ name: shortName(name), text, uses: emitter.uses });
    modules.set(module, list);
  }
  const out = new Map();
  for (const [module, list] of modules) {
    out.set(module, { text: moduleText(module, list), names: list.map((d) => d.name) });
  }
  return out;
}

/** @param {string} module @param {{ name: string, text: string, uses: Set<string> }[]} list */
function moduleText(module, list) {
  /** @type {Map<string, Set<string>>} */
  const imports = new Map();
  for (const use of list.flatMap((d) => [...d.uses])) {
    const [from, name] = /** @type {[string, string]} */ (use.split('#'));
    if (from === `./${module}.js`) continue;
    imports.set(from, (imports.get(from) ?? new Set()).add(name));
  }
  const lines = [...imports]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([from, names]) => `import type { ${[...names].sort().join(', ')} } from '${from}';`);
  return [...lines, '', ...list.map((d) => d.text)].join('\n');
}

class Emitter {
  /** `module#name` of everything mentioned. @type {Set<string>} */
  uses = new Set();

  /** @param {string} name @param {Map<string, Schema>} definitions @param {Map<string, Resource>} kinds */
  constructor(name, definitions, kinds) {
    this.name = name;
    this.definitions = definitions;
    this.kinds = kinds;
  }

  /** @param {Schema} schema */
  definition(schema) {
    const short = shortName(this.name);
    const resource = this.kinds.get(this.name);
    const gvk = schema['x-kubernetes-group-version-kind']?.[0];
    if (gvk && schema.properties?.items && schema.properties.metadata?.$ref === `${prefix}${metaPackage}ListMeta`) {
      const item = schema.properties.items.items?.$ref?.slice(prefix.length) ?? '';
      return `export type ${short} = ${this.#object('KubeList', 'meta')}<${this.#named(item)}>;\n`;
    }
    const required = new Set(schema.required);
    const entries = Object.entries(schema.properties ?? {});
    /** @type {string[]} */
    const lines = [];
    for (const [field, value] of entries) {
      const known = this.#identity(field, gvk, resource);
      const optional = known === undefined && !required.has(field) && !resource?.filledIn.has(field);
      const key = /^[A-Za-z_]\w*$/.test(field) ? field : `'${field}'`;
      lines.push(`  readonly ${key}${optional ? '?' : ''}: ${known ?? this.type(value)};`);
    }
    if (lines.length === 0) return `export interface ${short} {\n  readonly [key: string]: unknown;\n}\n`;
    const bases = resource ? [this.#object('KubeObject', 'meta')] : [];
    if (resource && resource.filledIn.size > 0) {
      const fields = [...resource.filledIn].map((field) => `'${field}'`).join(' | ');
      bases.push(`${this.#object('FilledIn', 'kind')}<${fields}>`);
    }
    const base = bases.length > 0 ? ` extends ${bases.join(', ')}` : '';
    const doc = resource
      ? `/** \`${resource.plural}\` of ${resource.group || 'core'}/${resource.version}, ${resource.namespaced ? 'in a namespace' : 'for the whole cluster'}. */\n`
      : '';
    return `${doc}export interface ${short}${base} {\n${lines.join('\n')}\n}\n`;
  }

  /**
   * What is known of a field beyond the document: an object says which kind it is, and a stored one has metadata.
   * @param {string} field
   * @param {{ group: string, version: string, kind: string } | undefined} gvk
   * @param {Resource | undefined} resource
   */
  #identity(field, gvk, resource) {
    if (gvk && field === 'apiVersion') return `'${gvk.group ? `${gvk.group}/` : ''}${gvk.version}'`;
    if (gvk && field === 'kind') return `'${gvk.kind}'`;
    if (!resource || field !== 'metadata') return undefined;
    return resource.namespaced ? this.#object('NamespacedMeta', 'kind') : this.#object('ClusterMeta', 'kind');
  }

  /** @param {Schema} schema @returns {string} */
  type(schema) {
    if (schema.$ref) return this.#ref(schema.$ref.slice(prefix.length));
    if (schema.type === 'array') {
      const item = this.type(schema.items ?? {});
      const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
      if (keys.length > 0)
        return `${this.#object('ListMap', 'kind')}<${item}, ${keys.map((k) => `'${k}'`).join(' | ')}>`;
      return `readonly ${/[ |{]/.test(item) ? `(${item})` : item}[]`;
    }
    if (schema.type === 'object') {
      if (schema.additionalProperties) return `{ readonly [key: string]: ${this.type(schema.additionalProperties)} }`;
      return '{ readonly [key: string]: unknown }';
    }
    if (schema.type === 'integer' || schema.type === 'number') return 'number';
    if (schema.type === 'boolean') return 'boolean';
    if (schema.type === 'string') return 'string';
    return 'unknown';
  }

  /** @param {string} name */
  #ref(name) {
    const substitute = substitutes.get(name);
    if (substitute) {
      if (substitute.startsWith('JSONSchemaProps')) this.#named(name.replace(/\.[^.]+$/, '.JSONSchemaProps'));
      return substitute;
    }
    // Metadata inside another object is a template: the server's own fields are not in it.
    if (name === `${metaPackage}ObjectMeta`) return this.#object('WriteMeta', 'meta');
    if (this.kinds.has(name)) return `${this.#object('Embedded', 'kind')}<${this.#named(name)}>`;
    return this.#named(name);
  }

  /** @param {string} name */
  #named(name) {
    const short = shortName(name);
    if (name.startsWith(metaPackage)) {
      if (handwritten.has(short)) return this.#object(short, 'meta');
      const own = metaTypes.get(short);
      if (!own) throw new Error(`${this.name} mentions ${name}: say in generate-kinds/types.mjs how to write it`);
      return own;
    }
    // Two groups may both have a type of this name: the import must not clash with the module's own.
    const foreign = moduleOf(name) !== moduleOf(this.name);
    const local = foreign && this.definitions.has(this.name.replace(/[^.]+$/, short)) ? `Foreign${short}` : short;
    this.uses.add(`./${moduleOf(name)}.js#${local === short ? short : `${short} as ${local}`}`);
    return local;
  }

  /** A type of the object layer. @param {string} name @param {string} file */
  #object(name, file) {
    this.uses.add(`../../../object/${file}.js#${name}`);
    return name;
  }
}

/** Small types of meta/v1 that are mentioned by built-in kinds, and how they are written in place. */
const metaTypes = new Map([
  ['DeleteOptions', '{ readonly [key: string]: unknown }'],
  ['GroupResource', '{ readonly group: string; readonly resource: string }'],
  ['GroupVersionForDiscovery', '{ readonly groupVersion: string; readonly version: string }'],
  [
    'FieldSelectorRequirement',
    '{ readonly key: string; readonly operator: string; readonly values?: readonly string[] }',
  ],
]);
