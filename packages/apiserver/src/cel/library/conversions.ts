import { Buffer } from 'node:buffer';
import { CelError } from '../language/cel-error.js';
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  parameter,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import {
  countPoints,
  type Duration,
  type List,
  type Mapping,
  type Timestamp,
  TypeValue,
  typeNameOf,
  type Uint,
  type Value,
} from '../language/value.js';
import { duration, int, timestamp, uint } from './operators.js';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from './time-text.js';

const a = parameter('A');
const b = parameter('B');
const same = <T>(value: T): T => value;
const billion = 1_000_000_000n;
const sized = (of: List | Mapping) => BigInt(of.size);

/** Conversions between types, and sizes. */
export const conversions: Functions = {
  dyn: [plain('to_dyn', [a], dynType, same<Value>)],
  type: [plain('type', [a], typeOf(a), (value: Value) => new TypeValue(typeNameOf(value)))],
  bool: [
    plain('bool_to_bool', [boolType], boolType, same<boolean>),
    plain('string_to_bool', [stringType], boolType, (text: string) => {
      if (['true', 'True', 'TRUE', 't', '1'].includes(text)) return true;
      if (['false', 'False', 'FALSE', 'f', '0'].includes(text)) return false;
      throw conversionError('string', 'bool');
    }),
  ],
  bytes: [
    plain('bytes_to_bytes', [bytesType], bytesType, same<Uint8Array>),
    plain('string_to_bytes', [stringType], bytesType, (text: string) => Buffer.from(text)),
  ],
  double: [
    plain('double_to_double', [doubleType], doubleType, same<number>),
    plain('int64_to_double', [intType], doubleType, (value: bigint) => Number(value)),
    plain('string_to_double', [stringType], doubleType, (text: string) => {
      if (!/^[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(inf|infinity)$|^nan$/i.test(text)) {
        throw conversionError('string', 'double');
      }
      const word = /^([+-]?)inf/i.exec(text);
      if (word !== null) return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
      return Number(text);
    }),
    plain('uint64_to_double', [uintType], doubleType, (value: Uint) => Number(value.value)),
  ],
  int: [
    plain('int64_to_int64', [intType], intType, same<bigint>),
    plain('double_to_int64', [doubleType], intType, (value: number) => {
      if (!(value > -(2 ** 63) && value < 2 ** 63)) throw new CelError('integer overflow');
      return BigInt(Math.trunc(value));
    }),
    plain('duration_to_int64', [durationType], intType, (value: Duration) => value.nanos),
    plain('string_to_int64', [stringType], intType, (text: string) => {
      if (!/^[+-]?\d+$/.test(text)) throw conversionError('string', 'int');
      const value = BigInt(text.replace(/^\+/, ''));
      if (value > 0x7fff_ffff_ffff_ffffn || value < -0x8000_0000_0000_0000n) throw conversionError('string', 'int');
      return value;
    }),
    plain('timestamp_to_int64', [timestampType], intType, (value: Timestamp) => floorDivide(value.nanos, billion)),
    plain('uint64_to_int64', [uintType], intType, (value: Uint) => int(value.value)),
  ],
  string: [
    plain('string_to_string', [stringType], stringType, same<string>),
    plain('bool_to_string', [boolType], stringType, (value: boolean) => String(value)),
    plain('bytes_to_string', [bytesType], stringType, (value: Uint8Array) => {
      const text = Buffer.from(value).toString('utf8');
      if (!Buffer.from(text).equals(value)) throw new CelError('invalid UTF-8 in bytes, cannot convert to string');
      return text;
    }),
    plain('double_to_string', [doubleType], stringType, formatDouble),
    plain('duration_to_string', [durationType], stringType, (value: Duration) => formatDuration(value.nanos)),
    plain('int64_to_string', [intType], stringType, (value: bigint) => String(value)),
    plain('timestamp_to_string', [timestampType], stringType, (value: Timestamp) => formatTimestamp(value.nanos)),
    plain('uint64_to_string', [uintType], stringType, (value: Uint) => String(value.value)),
  ],
  uint: [
    plain('uint64_to_uint64', [uintType], uintType, same<Uint>),
    plain('double_to_uint64', [doubleType], uintType, (value: number) => {
      if (!(value > -1 && value < 2 ** 64)) throw new CelError('unsigned integer overflow');
      return uint(BigInt(Math.trunc(value)));
    }),
    plain('int64_to_uint64', [intType], uintType, (value: bigint) => uint(value)),
    plain('string_to_uint64', [stringType], uintType, (text: string) => {
      if (!/^\d+$/.test(text) || BigInt(text) > 0xffff_ffff_ffff_ffffn) throw conversionError('string', 'uint');
      return uint(BigInt(text));
    }),
  ],
  timestamp: [
    plain('timestamp_to_timestamp', [timestampType], timestampType, same<Timestamp>),
    plain('int64_to_timestamp', [intType], timestampType, (value: bigint) => timestamp(value * billion)),
    plain('string_to_timestamp', [stringType], timestampType, (text: string) =>
      timestamp(parsed(() => parseTimestamp(text), 'google.protobuf.Timestamp')),
    ),
  ],
  duration: [
    plain('duration_to_duration', [durationType], durationType, same<Duration>),
    plain('int64_to_duration', [intType], durationType, (value: bigint) => duration(value)),
    plain('string_to_duration', [stringType], durationType, (text: string) =>
      duration(parsed(() => parseDuration(text), 'google.protobuf.Duration')),
    ),
  ],
  size: [
    plain('size_bytes', [bytesType], intType, (value: Uint8Array) => BigInt(value.length)),
    member('bytes_size', [bytesType], intType, (value: Uint8Array) => BigInt(value.length)),
    plain('size_list', [listOf(a)], intType, sized),
    member('list_size', [listOf(a)], intType, sized),
    plain('size_map', [mapOf(a, b)], intType, sized),
    member('map_size', [mapOf(a, b)], intType, sized),
    plain('size_string', [stringType], intType, (value: string) => BigInt(countPoints(value))),
    member('string_size', [stringType], intType, (value: string) => BigInt(countPoints(value))),
  ],
};

export function conversionError(from: string, to: string): CelError {
  return new CelError(`type conversion error from '${from}' to '${to}'`);
}

function parsed(parse: () => bigint, type: string): bigint {
  try {
    return parse();
  } catch {
    throw conversionError('string', type);
  }
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value < 0n && value % by !== 0n ? quotient - 1n : quotient;
}

/** As Go's `%g` writes it. */
export function formatDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const exponent = value === 0 ? 0 : Number(value.toExponential().split('e')[1]);
  if (exponent >= -4 && exponent < 21) {
    const plainText = String(value);
    if (!plainText.includes('e')) return plainText;
    return value.toFixed(20).replace(/0+$/, '');
  }
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
