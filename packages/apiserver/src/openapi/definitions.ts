import type { GroupVersionKind, Json, JsonObject } from 'riata/object';
import { builtInGroupVersions } from '../resource/built-in/built-in-resources.js';
import { builtInSchema } from '../schema/built-in/built-in-schema.js';
import { fieldEnum } from '../schema/built-in/field-enum.js';
import { type GoField, type GoStruct, type GoType, goStruct } from '../schema/built-in/go-type.js';
import { customTypeName, metaName, structName } from './definition-names.js';

/** The two versions of OpenAPI that are written. */
export type Dialect = 'v2' | 'v3';

const places: Readonly<Record<Dialect, string>> = { v2: '#/definitions/', v3: '#/components/schemas/' };

/** Where a definition of that name is found. */
export function refTo(dialect: Dialect, name: string): JsonObject {
  return { $ref: `${places[dialect]}${name}` };
}

/** The schemas of the types with their own JSON. */
const customs: Readonly<Record<Dialect, Readonly<Record<string, JsonObject>>>> = {
  v2: {
    'resource.Quantity': { type: 'string' },
    'intstr.IntOrString': { type: 'string', format: 'int-or-string' },
  },
  v3: {
    'resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
    'intstr.IntOrString': { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
  },
};
const commonCustoms: Readonly<Record<string, JsonObject>> = {
  'v1.Time': { type: 'string', format: 'date-time' },
  'v1.MicroTime': { type: 'string', format: 'date-time' },
  'v1.FieldsV1': { type: 'object' },
  'runtime.RawExtension': { type: 'object' },
};

/** The schema of an element without facts. */
const zeros: Readonly<Partial<Record<GoType['is'], Json>>> = { string: '', int: 0, float: 0, bool: false, struct: {} };

/** Gathers the definitions that a document refers to, each with what it refers to itself. */
export class Definitions {
  readonly #dialect: Dialect;
  readonly #made = new Map<string, JsonObject>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Refers to a definition that is made elsewhere, once. */
  add(name: string, make: () => JsonObject): JsonObject {
    if (!this.#made.has(name)) {
      this.#made.set(name, {});
      this.#made.set(name, make());
    }
    return refTo(this.#dialect, name);
  }

  /** Refers to a built-in kind, or to its list. */
  kind(gvk: GroupVersionKind): JsonObject {
    const node = builtInSchema(gvk);
    if (node?.struct === undefined) throw new Error(`${gvk.group}/${gvk.version} ${gvk.kind} is no built-in kind`);
    return this.#struct(node.struct, gvk);
  }

  list(gvk: GroupVersionKind): JsonObject {
    const item = this.kind(gvk);
    const name = `${String(item.$ref).slice(places[this.#dialect].length)}List`;
    const listKind = { ...gvk, kind: `${gvk.kind}List` };
    return this.add(name, () => this.listOf(item, listKind, true));
  }

  /** A list of what is referred to. */
  listOf(item: JsonObject, listKind: GroupVersionKind, defaults: boolean): JsonObject {
    const text = { type: 'string' };
    const isV3 = this.#dialect === 'v3';
    const meta = this.meta('ListMeta');
    return {
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: text,
        items: { type: 'array', items: isV3 && defaults ? { default: {}, allOf: [item] } : item },
        kind: text,
        metadata: isV3 ? { ...(defaults ? { default: {} } : {}), allOf: [meta] } : meta,
      },
      ...kindExtension([listKind]),
    };
  }

  /** Refers to a common type of all APIs, e.g. `ObjectMeta`; `groups` are those that have it as a kind. */
  meta(kind: string, groups: readonly Pick<GroupVersionKind, 'group' | 'version'>[] = []): JsonObject {
    const more = groups.length === 0 ? {} : kindExtension(groups.map((of) => ({ ...of, kind })));
    if (kind === 'Patch') return this.add(metaName(kind), () => ({ type: 'object' }));
    if (kind === 'WatchEvent') return this.add(metaName(kind), () => ({ ...this.#watchEvent(), ...more }));
    const struct = goStruct('meta/v1', kind);
    if (struct === undefined) throw new Error(`meta/v1 has no ${kind}`);
    return this.add(structName(struct), () => ({ ...this.#structSchema(struct), ...more }));
  }

  /** All definitions, by name. */
  all(): JsonObject {
    return Object.fromEntries([...this.#made].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #struct(struct: GoStruct, gvk = kindOf(struct)): JsonObject {
    return this.add(structName(struct), () => ({ ...this.#structSchema(struct), ...(gvk && kindExtension([gvk])) }));
  }

  #structSchema(struct: GoStruct): JsonObject {
    const fields = [...struct.fields.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    const required = struct.fieldList.filter((field) => field.required).map(({ name }) => name);
    return {
      type: 'object',
      ...(required.length === 0 ? {} : { required }),
      ...(fields.length === 0
        ? {}
        : { properties: Object.fromEntries(fields.map((field) => [field.name, this.#field(struct, field)])) }),
      ...(struct.atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}),
    };
  }

  #field(struct: GoStruct, field: GoField): JsonObject {
    const { type, listType, mapKeys, patchMergeKey, patchStrategy, granular } = field;
    const schema = this.#type(type, fieldEnum(struct.id, field.name));
    const isV3 = this.#dialect === 'v3';
    const given = isV3 ? defaultOf(field) : undefined;
    const isList = type.is === 'list' || type.is === 'bytes';
    return {
      ...(given === undefined ? {} : { default: given }),
      ...(isV3 && '$ref' in schema ? { allOf: [schema] } : schema),
      ...(isList && listType !== undefined ? { 'x-kubernetes-list-type': listType } : {}),
      ...(isList && listType === 'map' ? { 'x-kubernetes-list-map-keys': [...mapKeys] } : {}),
      ...(!isList && listType === 'atomic' ? { 'x-kubernetes-map-type': 'atomic' } : {}),
      ...(granular ? { 'x-kubernetes-map-type': 'granular' } : {}),
      ...(patchMergeKey === undefined ? {} : { 'x-kubernetes-patch-merge-key': patchMergeKey }),
      ...(patchStrategy === undefined ? {} : { 'x-kubernetes-patch-strategy': patchStrategy }),
    };
  }

  #type(type: GoType, values: readonly string[] | undefined): JsonObject {
    switch (type.is) {
      case 'struct':
        return this.#struct(type);
      case 'custom':
        return this.add(customTypeName(type.text), () => this.#custom(type.text));
      case 'list':
        return { type: 'array', items: this.#element(type, values) };
      case 'map':
        return { type: 'object', additionalProperties: this.#element(type, values) };
      case 'int':
        return { type: 'integer', format: `int${type.bits}` };
      case 'float':
        return { type: 'number', format: 'double' };
      case 'bool':
        return { type: 'boolean' };
      case 'bytes':
        return { type: 'string', format: 'byte' };
      default:
        return { type: 'string', ...(values === undefined ? {} : { enum: [...values] }) };
    }
  }

  #element({ element, pointers }: Extract<GoType, { element: GoType }>, values: readonly string[] | undefined) {
    const schema = this.#type(element, values);
    const zero = pointers || this.#dialect === 'v2' ? undefined : zeros[element.is];
    if (zero === undefined) return schema;
    return { default: zero, ...('$ref' in schema ? { allOf: [schema] } : schema) };
  }

  #custom(text: string): JsonObject {
    return customs[this.#dialect][text] ?? commonCustoms[text] ?? {};
  }

  #watchEvent(): JsonObject {
    const object = this.#type({ is: 'custom', text: 'runtime.RawExtension' }, undefined);
    const isV3 = this.#dialect === 'v3';
    return {
      type: 'object',
      required: ['type', 'object'],
      properties: {
        object: isV3 ? { allOf: [object] } : object,
        type: { ...(isV3 ? { default: '' } : {}), type: 'string' },
      },
    };
  }
}

/** The kind that a struct is, also where it stands inside another one. */
function kindOf({ id, name: kind }: GoStruct): GroupVersionKind | undefined {
  if (id === 'meta/v1.APIGroup') return { group: '', version: 'v1', kind };
  const home = id.slice(0, id.lastIndexOf('.'));
  const found = builtInGroupVersions().find((gv) => gv.typesPackage === home);
  if (!found?.resources.some((resource) => resource.kind === kind)) return undefined;
  return { group: found.group, version: found.version, kind };
}

/** Which kinds a definition is of. */
export function kindExtension(kinds: readonly GroupVersionKind[]): JsonObject {
  const named = kinds.map(({ group, version, kind }) => ({ group, kind, version }));
  return { 'x-kubernetes-group-version-kind': named };
}

/** The default of the field: its own, or Go's zero value. */
function defaultOf({ default: own, type, pointer, kept, zero }: GoField): Json | undefined {
  if (own !== undefined) return own;
  if (zero) return zeros[type.is];
  if (pointer) return undefined;
  if (type.is === 'struct') return {};
  return kept ? zeros[type.is] : undefined;
}
