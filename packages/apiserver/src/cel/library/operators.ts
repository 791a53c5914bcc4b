import { Buffer } from 'node:buffer';
import { CelError, noSuchOverload } from '../language/cel-error.js';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listOf,
  mapOf,
  optionalOf,
  parameter,
  stringType,
  timestampType,
  uintType,
} from '../language/cel-type.js';
import { type Functions, type Overload, plain } from '../language/overload.js';
import {
  compare,
  Duration,
  equals,
  isList,
  itemsOf,
  type List,
  type Mapping,
  Timestamp,
  Uint,
  type Value,
} from '../language/value.js';

const a = parameter('A');
const b = parameter('B');
const maxInt = 0x7fff_ffff_ffff_ffffn;
const maxUint = 0xffff_ffff_ffff_ffffn;
/** From the year 1 to the year 9999, in nanoseconds. */
const minTime = -62_135_596_800_000_000_000n;
const maxTime = 253_402_300_799_999_999_999n;

/** Checks that a result fits into 64 bits. */
export function int(value: bigint): bigint {
  if (value > maxInt || value < -maxInt - 1n) throw new CelError('integer overflow');
  return value;
}

export function uint(value: bigint): Uint {
  if (value < 0n || value > maxUint) throw new CelError('unsigned integer overflow');
  return new Uint(value);
}

export function duration(nanos: bigint): Duration {
  if (nanos > maxInt || nanos < -maxInt - 1n) throw new CelError('integer overflow');
  return new Duration(nanos);
}

export function timestamp(nanos: bigint): Timestamp {
  if (nanos < minTime || nanos > maxTime) throw new CelError('timestamp overflow');
  return new Timestamp(nanos);
}

const numeric: readonly (readonly [string, CelType])[] = [
  ['int64', intType],
  ['uint64', uintType],
  ['double', doubleType],
];
const ordered: readonly (readonly [string, CelType])[] = [
  ['bool', boolType],
  ...numeric,
  ['string', stringType],
  ['bytes', bytesType],
  ['timestamp', timestampType],
  ['duration', durationType],
];

/** The forms of `<` and its like: for each type, and across the types of numbers. */
function comparison(name: string, holds: (order: number) => boolean): readonly Overload[] {
  const call = (x: Value, y: Value) => {
    const order = compare(x, y);
    if (order === undefined) throw noSuchOverload();
    return holds(order);
  };
  const same = ordered.map(([type, of]) => plain(`${name}_${type}`, [of, of], boolType, call));
  const across = numeric.flatMap(([one, x]) =>
    numeric.filter(([two]) => two !== one).map(([two, y]) => plain(`${name}_${one}_${two}`, [x, y], boolType, call)),
  );
  return [...same, ...across];
}

/** The operators of the language. */
export const operators: Functions = {
  '!_': [plain('logical_not', [boolType], boolType, (x: boolean) => !x)],
  '-_': [
    plain('negate_int64', [intType], intType, (x: bigint) => int(-x)),
    plain('negate_double', [doubleType], doubleType, (x: number) => -x),
  ],
  '_&&_': [plain('logical_and', [boolType, boolType], boolType, (x: boolean, y: boolean) => x && y)],
  '_||_': [plain('logical_or', [boolType, boolType], boolType, (x: boolean, y: boolean) => x || y)],
  '_?_:_': [plain('conditional', [boolType, a, a], a, (x: boolean, y: Value, z: Value) => (x ? y : z))],
  '@not_strictly_false': [plain('not_strictly_false', [boolType], boolType, (x: boolean) => x)],
  '_==_': [plain('equals', [a, a], boolType, equals)],
  '_!=_': [plain('not_equals', [a, a], boolType, (x: Value, y: Value) => !equals(x, y))],
  '_<_': comparison('less', (order) => order < 0),
  '_<=_': comparison('less_equals', (order) => order <= 0),
  '_>_': comparison('greater', (order) => order > 0),
  '_>=_': comparison('greater_equals', (order) => order >= 0),
  '_+_': [
    plain('add_bytes', [bytesType, bytesType], bytesType, (x: Uint8Array, y: Uint8Array) => Buffer.concat([x, y])),
    plain('add_double', [doubleType, doubleType], doubleType, (x: number, y: number) => x + y),
    plain('add_duration_duration', [durationType, durationType], durationType, (x: Duration, y: Duration) =>
      duration(x.nanos + y.nanos),
    ),
    plain('add_duration_timestamp', [durationType, timestampType], timestampType, (x: Duration, y: Timestamp) =>
      timestamp(x.nanos + y.nanos),
    ),
    plain('add_timestamp_duration', [timestampType, durationType], timestampType, (x: Timestamp, y: Duration) =>
      timestamp(x.nanos + y.nanos),
    ),
    plain('add_int64', [intType, intType], intType, (x: bigint, y: bigint) => int(x + y)),
    plain('add_list', [listOf(a), listOf(a)], listOf(a), addLists),
    plain('add_string', [stringType, stringType], stringType, (x: string, y: string) => x + y),
    plain('add_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) => uint(x.value + y.value)),
  ],
  '_-_': [
    plain('subtract_double', [doubleType, doubleType], doubleType, (x: number, y: number) => x - y),
    plain('subtract_duration_duration', [durationType, durationType], durationType, (x: Duration, y: Duration) =>
      duration(x.nanos - y.nanos),
    ),
    plain('subtract_int64', [intType, intType], intType, (x: bigint, y: bigint) => int(x - y)),
    plain('subtract_timestamp_duration', [timestampType, durationType], timestampType, (x: Timestamp, y: Duration) =>
      timestamp(x.nanos - y.nanos),
    ),
    plain('subtract_timestamp_timestamp', [timestampType, timestampType], durationType, (x: Timestamp, y: Timestamp) =>
      duration(x.nanos - y.nanos),
    ),
    plain('subtract_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) => uint(x.value - y.value)),
  ],
  '_*_': [
    plain('multiply_double', [doubleType, doubleType], doubleType, (x: number, y: number) => x * y),
    plain('multiply_int64', [intType, intType], intType, (x: bigint, y: bigint) => int(x * y)),
    plain('multiply_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) => uint(x.value * y.value)),
  ],
  '_/_': [
    plain('divide_double', [doubleType, doubleType], doubleType, (x: number, y: number) => x / y),
    plain('divide_int64', [intType, intType], intType, (x: bigint, y: bigint) =>
      int(x / divisor(y, 'division by zero')),
    ),
    plain('divide_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) =>
      uint(x.value / divisor(y.value, 'division by zero')),
    ),
  ],
  '_%_': [
    plain('modulo_int64', [intType, intType], intType, (x: bigint, y: bigint) => x % divisor(y, 'modulus by zero')),
    plain('modulo_uint64', [uintType, uintType], uintType, (x: Uint, y: Uint) =>
      uint(x.value % divisor(y.value, 'modulus by zero')),
    ),
  ],
  '@in': [
    plain('in_list', [a, listOf(a)], boolType, (x: Value, y: List) => {
      for (let index = 0; index < y.size; index += 1) if (equals(x, y.at(index))) return true;
      return false;
    }),
    plain('in_map', [a, mapOf(a, b)], boolType, (x: Value, y: Mapping) => y.get(x) !== undefined),
  ],
  // These depend on more than the values: the evaluator computes them.
  '_[_]': [
    plain('index_list', [listOf(a), intType], a, apart),
    plain('index_map', [mapOf(a, b), a], b, apart),
    plain('optional_list_index_int', [optionalOf(listOf(a)), intType], optionalOf(a), apart),
    plain('optional_map_index_value', [optionalOf(mapOf(a, b)), a], optionalOf(b), apart),
  ],
  '_[?_]': [
    plain('list_optindex_optional_int', [listOf(a), intType], optionalOf(a), apart),
    plain('optional_list_optindex_optional_int', [optionalOf(listOf(a)), intType], optionalOf(a), apart),
    plain('map_optindex_optional_value', [mapOf(a, b), a], optionalOf(b), apart),
    plain('optional_map_optindex_optional_value', [optionalOf(mapOf(a, b)), a], optionalOf(b), apart),
  ],
};

function apart(): never {
  throw new Error('the evaluator has its own way with this operator');
}

function divisor(value: bigint, problem: string): bigint {
  if (value === 0n) throw new CelError(problem);
  return value;
}

function addLists(x: List, y: List): List {
  if (!isList(y)) throw noSuchOverload();
  if (x.rule !== undefined) return x.rule.add(x, y);
  if (y.size === 0) return x;
  // Loops add one element after the other: a copy each time would be quadratic.
  const items = GrownList.growable(x) ?? itemsOf(x);
  for (const item of itemsOf(y)) items.push(item);
  return new GrownList(items, x.size + y.size);
}

/** A list that shares its array with lists that were made from it; each sees only its own part. */
class GrownList implements List {
  readonly isList = true;
  readonly size: number;
  readonly #items: Value[];

  constructor(items: Value[], size: number) {
    this.#items = items;
    this.size = size;
  }

  at(index: number): Value {
    return this.#items[index] as Value;
  }

  /** The array, if nothing has been added to it since. */
  static growable(list: List): Value[] | undefined {
    return list instanceof GrownList && list.#items.length === list.size ? list.#items : undefined;
  }
}
