import { getOwn } from '../value/own.js';

/**
 * How a strategic merge patch treats a field, as OpenAPI says with `x-kubernetes-patch-strategy`: `merge` lists by key or
 * as sets, `replace` objects whole, `retainKeys` drops what the patch does not name. Absent: objects are merged, lists
 * replaced.
 */
export type PatchStrategy = 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys' | 'replace,retainKeys';

/** The facts about one field or type that a patch needs. Only differences from the default need to be given. */
export interface PatchNode {
  readonly patchStrategy?: PatchStrategy;
  /** The field that identifies the elements of a list (`x-kubernetes-patch-merge-key`). */
  readonly patchMergeKey?: string;
  /** The type that holds this node's `fields` and `values`, by name. */
  readonly type?: string;
  readonly fields?: Readonly<Record<string, PatchRef>>;
  /** The elements of a list. */
  readonly items?: PatchRef;
  /** The values of a map with free keys. */
  readonly values?: PatchRef;
}

/** A node, or the name of the type that describes it. */
export type PatchRef = PatchNode | string;

/**
 * What a strategic merge patch has to know about a kind (`strategicpatch.LookupPatchMeta`). Types are found by name when
 * a patch gets there, so that a table for all kinds can share them and be loaded piece by piece.
 *
 * ```ts
 * const schema = patchSchema('Pod', {
 *   Pod: { fields: { spec: 'PodSpec' } },
 *   PodSpec: { fields: { containers: { patchStrategy: 'merge', patchMergeKey: 'name', items: 'Container' } } },
 *   Container: { fields: { ports: { patchStrategy: 'merge', patchMergeKey: 'containerPort' } } },
 * });
 * ```
 */
export interface PatchSchema {
  readonly root: PatchRef;
  /** The type of that name, or `undefined` when nothing about it differs from the default. */
  lookup(typeName: string): PatchNode | undefined;
}

/** A schema over a table of types. */
export function patchSchema(root: PatchRef, types: Readonly<Record<string, PatchNode>> = {}): PatchSchema {
  return { root, lookup: (typeName) => getOwn(types, typeName) as PatchNode | undefined };
}

const nothing: PatchNode = {};

/** A place in a schema, with its path in the document for messages. */
export class SchemaPlace {
  readonly #schema: PatchSchema;
  readonly #node: PatchNode;
  readonly #type: PatchNode;
  readonly path: string;

  constructor(schema: PatchSchema, ref: PatchRef | undefined, path: string) {
    this.#schema = schema;
    this.path = path;
    this.#node = typeof ref === 'string' ? { type: ref } : (ref ?? nothing);
    const { type } = this.#node;
    this.#type = type === undefined ? this.#node : (schema.lookup(type) ?? nothing);
  }

  static root(schema: PatchSchema): SchemaPlace {
    return new SchemaPlace(schema, schema.root, '');
  }

  /** The field of that name. A field that the schema does not know is treated by default. */
  field(name: string): SchemaPlace {
    const { fields, values } = this.#type;
    const known = fields === undefined ? undefined : (getOwn(fields, name) as PatchRef | undefined);
    return new SchemaPlace(this.#schema, known ?? values, this.path === '' ? name : `${this.path}.${name}`);
  }

  /** The elements of this list. */
  get items(): SchemaPlace {
    return new SchemaPlace(this.#schema, this.#node.items ?? this.#type.items, `${this.path}[]`);
  }

  get mergeKey(): string | undefined {
    return this.#node.patchMergeKey;
  }

  get retainKeys(): boolean {
    return this.#node.patchStrategy?.includes('retainKeys') ?? false;
  }

  get mergesList(): boolean {
    return this.#node.patchStrategy?.startsWith('merge') ?? false;
  }

  get replaces(): boolean {
    return this.#node.patchStrategy?.startsWith('replace') ?? false;
  }
}
