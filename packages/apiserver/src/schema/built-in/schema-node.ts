import type { KubernetesExtensions, PatchStrategy, StructuralSchema, StructuralType } from 'riata/object';
import type { GoField, GoStruct, GoType } from './go-type.js';

/**
 * A place in the schema of a built-in kind. Reads like any structural schema; lower nodes are created on first use, so
 * that recursive types are fine and a server starts without reading them all. Its members are accessors: copy it field
 * by field, not by spreading.
 */
export class SchemaNode implements StructuralSchema {
  /** The type as Go has it. */
  readonly go: GoType;
  readonly #field: GoField | undefined;
  #properties: Record<string, SchemaNode> | undefined;
  #element: SchemaNode | undefined;

  constructor(go: GoType, field?: GoField) {
    this.go = go;
    this.#field = field;
  }

  get type(): StructuralType | undefined {
    switch (this.go.is) {
      case 'struct':
      case 'map':
        return 'object';
      case 'list':
        return 'array';
      case 'int':
        return 'integer';
      case 'float':
        return 'number';
      case 'bool':
        return 'boolean';
      case 'custom':
        return customs[this.go.text]?.type;
      default:
        return 'string';
    }
  }

  get format(): string | undefined {
    if (this.go.is === 'int') return this.go.text === 'int32' || this.go.bits === 32 ? 'int32' : 'int64';
    if (this.go.is === 'float') return 'double';
    if (this.go.is === 'bytes') return 'byte';
    return this.go.is === 'custom' ? customs[this.go.text]?.format : undefined;
  }

  get properties(): Readonly<Record<string, SchemaNode>> | undefined {
    if (this.go.is !== 'struct') return undefined;
    if (this.#properties === undefined) {
      const made: Record<string, SchemaNode> = Object.create(null);
      for (const field of this.go.fields.values()) made[field.name] = new SchemaNode(field.type, field);
      this.#properties = made;
    }
    return this.#properties;
  }

  get required(): readonly string[] | undefined {
    if (this.go.is !== 'struct') return undefined;
    const names = [...this.go.fields.values()].filter((field) => field.required).map((field) => field.name);
    return names.length === 0 ? undefined : names;
  }

  get items(): SchemaNode | undefined {
    return this.go.is === 'list' ? this.#elementOf(this.go.element) : undefined;
  }

  get additionalProperties(): SchemaNode | undefined {
    return this.go.is === 'map' ? this.#elementOf(this.go.element) : undefined;
  }

  get default(): string | number | undefined {
    return this.#field?.default ?? (this.#field?.zero && this.go.is === 'string' ? '' : undefined);
  }

  get 'x-kubernetes-list-type'(): KubernetesExtensions['x-kubernetes-list-type'] {
    return this.go.is === 'list' ? this.#field?.listType : undefined;
  }

  get 'x-kubernetes-list-map-keys'(): readonly string[] | undefined {
    return this.#field?.listType === 'map' ? this.#field.mapKeys : undefined;
  }

  get 'x-kubernetes-map-type'(): KubernetesExtensions['x-kubernetes-map-type'] {
    if (this.#field?.granular) return 'granular';
    if (this.go.is === 'struct' && this.go.atomic) return 'atomic';
    if (this.go.is === 'custom') return customs[this.go.text]?.atomic ? 'atomic' : undefined;
    if (this.type !== 'object') return undefined;
    return this.#field?.listType === 'atomic' ? 'atomic' : undefined;
  }

  get 'x-kubernetes-preserve-unknown-fields'(): true | undefined {
    return this.go.is === 'custom' && customs[this.go.text]?.open ? true : undefined;
  }

  get 'x-kubernetes-int-or-string'(): true | undefined {
    return this.go.is === 'custom' && customs[this.go.text]?.intOrString ? true : undefined;
  }

  /** How a strategic merge patch treats the field. */
  get patchStrategy(): PatchStrategy | undefined {
    return this.#field?.patchStrategy as PatchStrategy | undefined;
  }

  /** The field that identifies the elements of the list in a strategic merge patch. */
  get patchMergeKey(): string | undefined {
    return this.#field?.patchMergeKey;
  }

  /** The struct that it is, or that its elements are. */
  get struct(): GoStruct | undefined {
    let type = this.go;
    while (type.is === 'list' || type.is === 'map') type = type.element;
    return type.is === 'struct' ? type : undefined;
  }

  #elementOf(type: GoType): SchemaNode {
    this.#element ??= new SchemaNode(type);
    return this.#element;
  }
}

interface CustomFacts {
  readonly type?: StructuralType;
  readonly format?: string;
  readonly intOrString?: true;
  /** Anything may stand in it. */
  readonly open?: true;
  /** A writer owns all of it. */
  readonly atomic?: true;
}

/** The types that read and write their own JSON. */
const customs: Readonly<Record<string, CustomFacts>> = {
  'resource.Quantity': { intOrString: true, format: 'quantity' },
  'intstr.IntOrString': { intOrString: true, format: 'int-or-string' },
  'v1.Time': { type: 'string', format: 'date-time' },
  'v1.MicroTime': { type: 'string', format: 'date-time' },
  'v1.FieldsV1': { type: 'object', open: true },
  'runtime.RawExtension': { type: 'object', open: true, atomic: true },
  'v1.JSON': { open: true },
  'v1.JSONSchemaPropsOrArray': { open: true },
  'v1.JSONSchemaPropsOrBool': { open: true },
  'v1.JSONSchemaPropsOrStringArray': { open: true },
};
