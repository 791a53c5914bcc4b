import type { Json } from '../../json.js';

/**
 * How the values at one place of an object merge and who may own what of them (`schema.Atom`). A place may take several
 * forms (scalar, list, map); which one counts is decided by the value found there. Everything below is reached by
 * calls and made on first use, so that types may refer to themselves.
 */
export interface MergeType {
  readonly scalar?: ScalarType;
  readonly list?: ListType;
  readonly map?: MapType;
}

/** The type of a scalar; `untyped` allows any. */
export type ScalarType = 'string' | 'numeric' | 'boolean' | 'untyped';

/** How a list merges. */
export interface ListType {
  /**
   * `atomic`: owned and replaced as one. `set`: scalars, each with its own owner. `map`: objects identified by `keys`.
   */
  readonly kind: 'atomic' | 'set' | 'map';
  /** The fields that identify the items of a `map` list. */
  readonly keys: readonly string[];
  /** How each item merges. */
  items(): MergeType;
}

/** How an object merges, be it one of declared fields or a map with any keys. */
export interface MapType {
  /** Owned and replaced as one. */
  readonly atomic: boolean;
  /** Whether any field is declared. */
  readonly declared: boolean;
  /** A declared field. These belong to the object whether set or not, unlike the keys of a map. */
  field(name: string): FieldType | undefined;
  /** The type of what is not declared; undefined if nothing else is allowed. */
  values(): MergeType | undefined;
}

/** A declared field of a {@link MapType}. */
export interface FieldType {
  readonly type: MergeType;
  /** The field's value in a list item that lacks it, when the field is a key. */
  readonly default?: Json;
}

/** The type of what is below a field: of the declared field, else of the map's values. */
export function typeOfField(map: MapType, name: string): MergeType | undefined {
  return map.field(name)?.type ?? map.values();
}

const noField = (): undefined => undefined;

/** Of unknown shape and owned as one, whatever it turns out to be. */
export const atomicType: MergeType = {
  scalar: 'untyped',
  list: { kind: 'atomic', keys: [], items: () => atomicType },
  map: { atomic: true, declared: false, field: noField, values: () => atomicType },
};

/** Of unknown shape (`DeducedParseableType`): objects merge field by field, lists are replaced as one. */
export const deducedType: MergeType = {
  scalar: 'untyped',
  list: { kind: 'atomic', keys: [], items: () => atomicType },
  map: { atomic: false, declared: false, field: noField, values: () => deducedType },
};

/** A map of values of unknown shape: there is no schema that could have changed. */
export function isDeducedMap(map: MapType): boolean {
  return !map.declared && map.values()?.scalar === 'untyped';
}

/** The forms a value may take under a type, as bits. */
export const scalarForm = 1;
export const listForm = 2;
export const mapForm = 4;

function formsOf(type: MergeType): number {
  return (type.scalar ? scalarForm : 0) | (type.list ? listForm : 0) | (type.map ? mapForm : 0);
}

/**
 * The form that the value has, if its type allows it; otherwise (also for null and missing values) all that it allows.
 */
export function narrow(type: MergeType, value: Json | undefined): number {
  if (value === undefined || value === null) return formsOf(type);
  if (typeof value !== 'object') return type.scalar ? scalarForm : formsOf(type);
  if (Array.isArray(value)) return type.list ? listForm : formsOf(type);
  return type.map ? mapForm : formsOf(type);
}
