import { CelError } from './cel-error.js';
import type { CelType } from './cel-type.js';

/** An unsigned integer; a plain `bigint` is a signed one. */
export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A moment. */
export class Timestamp {
  /** Since 1970, in nanoseconds. */
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A span of time. */
export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A list; elements are created on first use. */
export interface List {
  readonly isList: true;
  readonly size: number;
  at(index: number): Value;
  /** Lists in which order does not matter compare and add up in their own way. */
  readonly rule?: ListRule;
}

export interface ListRule {
  equals(a: List, b: List): boolean;
  add(a: List, b: List): List;
}

/** A map or an object. */
export interface Mapping {
  readonly isMapping: true;
  readonly size: number;
  get(key: Value): Value | undefined;
  keys(): readonly Value[];
  /** The name of the type of an object; undefined for a map. */
  readonly typeName: string | undefined;
  /** Whether `has()` finds a member that is null. @default false */
  readonly countsNull?: boolean;
}

/** A type, as `type(x)` gives it. */
export class TypeValue {
  readonly typeName: string;

  constructor(typeName: string) {
    this.typeName = typeName;
  }
}

/** A value that may be absent. */
export class Optional {
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A value of a type that an extension brings, e.g. a quantity. */
export interface OpaqueValue {
  readonly isOpaque: true;
  readonly typeName: string;
  equals(other: OpaqueValue): boolean;
}

/** Everything that an expression can give. */
export type Value =
  | boolean
  | bigint
  | number
  | string
  | null
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | List
  | Mapping
  | TypeValue
  | Optional
  | OpaqueValue;

/** A list whose elements are there already. */
export function list(items: readonly Value[]): List {
  return { isList: true, size: items.length, at: (index) => items[index] as Value };
}

export function isList(value: Value): value is List {
  return typeof value === 'object' && value !== null && 'isList' in value;
}

export function isMapping(value: Value): value is Mapping {
  return typeof value === 'object' && value !== null && 'isMapping' in value;
}

export function isOpaque(value: Value): value is OpaqueValue {
  return typeof value === 'object' && value !== null && 'isOpaque' in value;
}

export function itemsOf(of: List): Value[] {
  return Array.from({ length: of.size }, (_, index) => of.at(index));
}

/** A map from keys that are strings, booleans or numbers. */
export function mapping(entries: readonly (readonly [Value, Value])[]): Mapping {
  const byKey = new Map<string, readonly [Value, Value]>();
  for (const entry of entries) byKey.set(keyText(entry[0]), entry);
  return {
    isMapping: true,
    size: byKey.size,
    typeName: undefined,
    get: (key) => byKey.get(keyText(key))?.[1],
    keys: () => [...byKey.values()].map(([key]) => key),
  };
}

/** Equal keys have equal texts: 1, 1u and 1.0 are one key. */
function keyText(key: Value): string {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  const number = numberOf(key);
  if (number === undefined) throw new CelError('unsupported key type');
  return typeof number === 'number' && !Number.isInteger(number) ? `d${number}` : `n${BigInt(number)}`;
}

/** The number of a value; undefined for other types. */
export function numberOf(value: Value): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof Uint ? value.value : undefined;
}

/** Whether two values are equal; those of different types are not, but numbers are compared by what they count. */
export function equals(a: Value, b: Value): boolean {
  const x = numberOf(a);
  if (x !== undefined) {
    const y = numberOf(b);
    // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the number of the same size
    return y !== undefined && x == y;
  }
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return a === b;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.typeName === b.typeName;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    if (a.value === undefined || b.value === undefined) return a.value === b.value;
    return equals(a.value, b.value);
  }
  if (isOpaque(a)) return isOpaque(b) && a.typeName === b.typeName && a.equals(b);
  if (isList(a)) return isList(b) && equalLists(a, b);
  return isMapping(a) && isMapping(b) && equalMappings(a, b);
}

function equalLists(a: List, b: List): boolean {
  if (a.rule !== undefined) return a.rule.equals(a, b);
  if (a.size !== b.size) return false;
  for (let index = 0; index < a.size; index += 1) if (!equals(a.at(index), b.at(index))) return false;
  return true;
}

function equalMappings(a: Mapping, b: Mapping): boolean {
  if (a.size !== b.size) return false;
  return a.keys().every((key) => {
    const other = b.get(key);
    return other !== undefined && equals(a.get(key) as Value, other);
  });
}

/** Which of two values is greater; undefined when they cannot be compared, NaN when neither is. */
export function compare(a: Value, b: Value): number | undefined {
  const x = numberOf(a);
  if (x !== undefined) {
    const y = numberOf(b);
    if (y === undefined) return undefined;
    // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals the number of the same size
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : Number.NaN;
  }
  if (typeof a === 'string') return typeof b === 'string' ? compareTexts(a, b) : undefined;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined;
  if (a instanceof Timestamp) return b instanceof Timestamp ? order(a.nanos, b.nanos) : undefined;
  if (a instanceof Duration) return b instanceof Duration ? order(a.nanos, b.nanos) : undefined;
  return undefined;
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By code points: JavaScript's own order is by halves of surrogate pairs. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (at === length) return a.length - b.length;
  return weight(a.charCodeAt(at)) - weight(b.charCodeAt(at));
}

/** Surrogates stand for characters that come after all others. */
function weight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** The name of a value's type, as in `type()` and messages. */
export function typeNameOf(value: Value): string {
  switch (typeof value) {
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
  }
  if (value === null) return 'null_type';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof TypeValue) return 'type';
  if (value instanceof Optional) return 'optional_type';
  if (isList(value)) return 'list';
  return value.typeName ?? 'map';
}

/** Whether a value is assignable to a type: the check that is left where types are dynamic. */
export function isOfType(value: Value, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'parameter':
    case 'error':
      return true;
    case 'bool':
    case 'string':
    case 'int':
    case 'double':
    case 'uint':
    case 'bytes':
      return typeNameOf(value) === type.kind;
    case 'null':
      return value === null;
    case 'timestamp':
      return value instanceof Timestamp;
    case 'duration':
      return value instanceof Duration;
    case 'type':
      return value instanceof TypeValue;
    case 'optional':
      return value instanceof Optional;
    case 'list':
      return isList(value);
    case 'map':
      return isMapping(value);
    case 'opaque':
      return isOpaque(value) && value.typeName === type.name;
    case 'object':
      return isMapping(value) && value.typeName === type.name;
  }
}

/** How large a value is, where costs depend on it: characters, bytes, elements; else 1. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return countPoints(value);
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOf(value.value);
  return typeof value === 'object' && value !== null && (isList(value) || isMapping(value)) ? value.size : 1;
}

export function countPoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at += 1) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) count -= 1;
  }
  return count;
}
