import { CelError } from '../language/cel-error.js';
import { boolType, listOf, optionalOf, parameter } from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import {
  Duration,
  isList,
  isMapping,
  itemsOf,
  type List,
  list,
  numberOf,
  Optional,
  Timestamp,
  type Value,
} from '../language/value.js';

const v = parameter('V');
const optional = optionalOf(v);
const none = new Optional(undefined);

/** Values that may be absent. */
export const optionals: Functions = {
  'optional.of': [plain('optional_of', [v], optional, (value: Value) => new Optional(value))],
  'optional.ofNonZeroValue': [
    plain('optional_ofNonZeroValue', [v], optional, (value: Value) => (isZero(value) ? none : new Optional(value))),
  ],
  'optional.none': [plain('optional_none', [], optional, () => none)],
  value: [
    member('optional_value', [optional], v, (of: Optional) => {
      if (of.value === undefined) throw new CelError('optional.none() dereference');
      return of.value;
    }),
  ],
  hasValue: [member('optional_hasValue', [optional], boolType, (of: Optional) => of.value !== undefined)],
  or: [
    member('optional_or_optional', [optional, optional], optional, (of: Optional, other: Optional) =>
      of.value === undefined ? other : of,
    ),
  ],
  orValue: [member('optional_orValue_value', [optional, v], v, (of: Optional, other: Value) => of.value ?? other)],
  first: [member('list_first', [listOf(v)], optional, (of: List) => (of.size === 0 ? none : new Optional(of.at(0))))],
  last: [
    member('list_last', [listOf(v)], optional, (of: List) => (of.size === 0 ? none : new Optional(of.at(of.size - 1)))),
  ],
  'optional.unwrap': [plain('optional_unwrap', [listOf(optional)], listOf(v), unwrap)],
  unwrapOpt: [member('optional_unwrapOpt', [listOf(optional)], listOf(v), unwrap)],
};

function unwrap(of: List): List {
  return list(
    itemsOf(of).flatMap((item) => {
      if (!(item instanceof Optional)) throw new CelError(`value ${String(item)} is not optional`);
      return item.value === undefined ? [] : [item.value];
    }),
  );
}

function isZero(value: Value): boolean {
  if (value === null || value === false || value === '') return true;
  const number = numberOf(value);
  if (number !== undefined) return Number(number) === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp || typeof value !== 'object') return false;
  return (isList(value) || isMapping(value)) && value.size === 0;
}
