import { CelError, noSuchOverload } from '../language/cel-error.js';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  parameter,
  stringType,
  timestampType,
  uintType,
} from '../language/cel-type.js';
import { type Functions, member, type Overload, plain } from '../language/overload.js';
import {
  compare,
  Duration,
  equals,
  isList,
  itemsOf,
  type List,
  list,
  type Mapping,
  mapping,
  type Value,
} from '../language/value.js';
import { operators } from './operators.js';

const a = parameter('T');
const ofAny = listOf(a);

const numbers: readonly (readonly [string, CelType, Value])[] = [
  ['int', intType, 0n],
  ['uint', uintType, 0n],
  ['double', doubleType, 0],
  ['duration', durationType, new Duration(0n)],
];
const comparable: readonly (readonly [string, CelType])[] = [
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['bool', boolType],
  ['duration', durationType],
  ['timestamp', timestampType],
  ['string', stringType],
  ['bytes', bytesType],
];

const each = (make: (name: string, type: CelType) => Overload) => comparable.map(([name, type]) => make(name, type));

/** Lists and sets: those of Kubernetes, and the extensions of the language that it uses. */
export const lists: Functions = {
  isSorted: each((name, type) =>
    member(`list_${name}_is_sorted_bool`, [listOf(type)], boolType, (of: List) =>
      itemsOf(of).every((item, index, all) => index === 0 || order(all[index - 1] as Value, item) <= 0),
    ),
  ),
  sum: numbers.map(([name, type, zero]) =>
    member(`list_${name}_sum_${name}`, [listOf(type)], type, (of: List) => sum(itemsOf(of), zero)),
  ),
  max: each((name, type) =>
    member(`list_${name}_max_${name}`, [listOf(type)], type, (of: List) => extreme(of, 'max', 1)),
  ),
  min: each((name, type) =>
    member(`list_${name}_min_${name}`, [listOf(type)], type, (of: List) => extreme(of, 'min', -1)),
  ),
  indexOf: [
    member('list_a_index_of_int', [ofAny, a], intType, (of: List, expected: Value) =>
      BigInt(itemsOf(of).findIndex((item) => equals(item, expected))),
    ),
  ],
  lastIndexOf: [
    member('list_a_last_index_of_int', [ofAny, a], intType, (of: List, expected: Value) =>
      BigInt(itemsOf(of).findLastIndex((item) => equals(item, expected))),
    ),
  ],
  slice: [
    member('list_slice', [ofAny, intType, intType], ofAny, (of: List, from: bigint, to: bigint) => {
      const call = `cannot slice(${from}, ${to})`;
      if (from < 0n || to < 0n) throw new CelError(`${call}, negative indexes not supported`);
      if (from > to) throw new CelError(`${call}, start index must be less than or equal to end index`);
      if (to > of.size) throw new CelError(`${call}, list is length ${of.size}`);
      return list(itemsOf(of).slice(Number(from), Number(to)));
    }),
  ],
  flatten: [
    member('list_flatten', [listOf(ofAny)], ofAny, (of: List) => list(flat(of, 1))),
    member('list_flatten_int', [listOf(dynType), intType], listOf(dynType), (of: List, depth: bigint) => {
      if (depth < 0n) throw new CelError('level must be non-negative');
      return list(flat(of, Number(depth)));
    }),
  ],
  sort: each((name, type) => member(`list_${name}_sort`, [listOf(type)], listOf(type), (of: List) => sortBy(of, of))),
  '@sortByAssociatedKeys': each((name, type) =>
    member(`list_${name}_sortByAssociatedKeys`, [ofAny, listOf(type)], ofAny, sortBy),
  ),
  'lists.range': [
    plain('lists_range', [intType], listOf(intType), (count: bigint) => {
      if (count > 1_000_000n) throw new CelError('lists.range: too many elements');
      return list(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
    }),
  ],
  reverse: [member('list_reverse', [ofAny], ofAny, (of: List) => list(itemsOf(of).reverse()))],
  distinct: [
    member('list_distinct', [ofAny], ofAny, (of: List) => {
      const kept: Value[] = [];
      for (const item of itemsOf(of)) if (!kept.some((known) => equals(known, item))) kept.push(item);
      return list(kept);
    }),
  ],
  'sets.contains': [plain('list_sets_contains_list', [ofAny, ofAny], boolType, holdsAll)],
  'sets.equivalent': [
    plain(
      'list_sets_equivalent_list',
      [ofAny, ofAny],
      boolType,
      (x: List, y: List) => holdsAll(x, y) && holdsAll(y, x),
    ),
  ],
  'sets.intersects': [
    plain('list_sets_intersects_list', [ofAny, ofAny], boolType, (x: List, y: List) =>
      itemsOf(y).some((item) => itemsOf(x).some((other) => equals(item, other))),
    ),
  ],
  'cel.@mapInsert': [
    plain(
      '@mapInsert_map_key_value',
      [mapOf(parameter('K'), parameter('V')), parameter('K'), parameter('V')],
      mapOf(parameter('K'), parameter('V')),
      (of: Mapping, key: Value, value: Value) => inserted(of, [[key, value]]),
    ),
    plain(
      '@mapInsert_map_map',
      [mapOf(parameter('K'), parameter('V')), mapOf(parameter('K'), parameter('V'))],
      mapOf(parameter('K'), parameter('V')),
      (of: Mapping, more: Mapping) => inserted(of, entries(more)),
    ),
  ],
};

function order(x: Value, y: Value): number {
  const found = compare(x, y);
  if (found === undefined) throw noSuchOverload();
  return found;
}

function sum(items: readonly Value[], zero: Value): Value {
  if (items.length === 0) return zero;
  const forms = operators['_+_'] ?? [];
  return items.reduce((total, item) => {
    const add = forms.find(({ id }) => id === sumOf(item));
    if (add === undefined) throw noSuchOverload();
    return add.call(total, item);
  });
}

function sumOf(item: Value): string {
  if (typeof item === 'bigint') return 'add_int64';
  if (typeof item === 'number') return 'add_double';
  return item instanceof Duration ? 'add_duration_duration' : 'add_uint64';
}

function extreme(of: List, name: string, sign: number): Value {
  const items = itemsOf(of);
  if (items.length === 0) throw new CelError(`${name} called on empty list`);
  return items.reduce((best, item) => (order(item, best) * sign > 0 ? item : best));
}

function flat(of: List, depth: number): Value[] {
  return itemsOf(of).flatMap((item) => (depth > 0 && isList(item) ? flat(item, depth - 1) : [item]));
}

function sortBy(of: List, keys: List): List {
  const pairs = itemsOf(of).map((item, index) => [keys.at(index), item] as const);
  return list(pairs.sort(([x], [y]) => order(x, y)).map(([, item]) => item));
}

function holdsAll(of: List, expected: List): boolean {
  const items = itemsOf(of);
  return itemsOf(expected).every((item) => items.some((other) => equals(item, other)));
}

function entries(of: Mapping): (readonly [Value, Value])[] {
  return of.keys().map((key) => [key, of.get(key) as Value] as const);
}

function inserted(of: Mapping, more: readonly (readonly [Value, Value])[]): Mapping {
  for (const [key] of more) {
    if (of.get(key) !== undefined) throw new CelError(`insert failed: key ${String(key)} already exists`);
  }
  return mapping([...entries(of), ...more]);
}
