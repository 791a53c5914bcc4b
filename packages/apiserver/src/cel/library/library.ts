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
  nullType,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from '../language/cel-type.js';
import type { Functions, Overload } from '../language/overload.js';
import { TypeValue, type Value } from '../language/value.js';
import { conversions } from './conversions.js';
import { formats } from './formats.js';
import { lists } from './lists.js';
import { networks } from './networks.js';
import { operators } from './operators.js';
import { optionals } from './optionals.js';
import { patterns } from './patterns.js';
import { quantities } from './quantities.js';
import { semvers } from './semvers.js';
import { strings } from './strings.js';
import { times } from './times.js';
import { urls } from './urls.js';

/** Every function that a rule in Kubernetes may call. */
export const library: Functions = merged([
  operators,
  conversions,
  times,
  strings,
  lists,
  optionals,
  patterns,
  quantities,
  networks,
  urls,
  formats,
  semvers,
]);

const types: readonly (readonly [string, CelType])[] = [
  ['bool', boolType],
  ['int', intType],
  ['uint', uintType],
  ['double', doubleType],
  ['string', stringType],
  ['bytes', bytesType],
  ['null_type', nullType],
  ['list', listOf(dynType)],
  ['map', mapOf(dynType, dynType)],
  ['type', typeOf(dynType)],
  ['google.protobuf.Timestamp', timestampType],
  ['google.protobuf.Duration', durationType],
];

/** Names that stand for types. */
export const typeNames: ReadonlyMap<string, CelType> = new Map(types.map(([name, type]) => [name, typeOf(type)]));
export const typeValues: ReadonlyMap<string, Value> = new Map(types.map(([name]) => [name, new TypeValue(name)]));

function merged(parts: readonly Functions[]): Functions {
  const all: Record<string, readonly Overload[]> = Object.create(null);
  for (const part of parts) {
    for (const [name, overloads] of Object.entries(part)) all[name] = [...(all[name] ?? []), ...overloads];
  }
  return all;
}
