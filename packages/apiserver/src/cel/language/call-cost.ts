import { Buffer } from 'node:buffer';
import { isList, isMapping, isOpaque, type List, sizeOf, type Value } from './value.js';

/** The cost of going through one character of a text. */
export const perCharacter = 0.1;
/** The cost of one character of a regular expression, for each character that it is tried on. */
export const perPatternCharacter = 0.25;

/** The cost of a call, in cel-go's units. */
export function callCost(name: string, overload: string, args: readonly Value[], result: Value): number {
  const rule = ofFunction[name] ?? ofLists[name] ?? ofOverload[overload];
  if (name === '_==_' && args[0] !== undefined && isOpaque(args[0])) return 1;
  return rule === undefined ? 1 : rule(args, result, overload);
}

type Rule = (args: readonly Value[], result: Value, overload: string) => number;

const size = (args: readonly Value[], index: number) => sizeOf(args[index] as Value);

const through: Rule = (args) => Math.ceil(size(args, 0) * perCharacter);
const twiceThrough: Rule = (args) => Math.ceil(size(args, 0) * 2 * perCharacter);
const smaller: Rule = (args) => Math.ceil(Math.min(size(args, 0), size(args, 1)) * perCharacter);
const both: Rule = (args) => Math.ceil((size(args, 0) + size(args, 1)) * perCharacter);
const pattern: Rule = (args) =>
  Math.ceil((1 + size(args, 0)) * perCharacter) * Math.ceil(size(args, 1) * perPatternCharacter);
const traversal: Rule = (args) => traversalCost(args[0] as Value);

/** By the name of the function, as Kubernetes counts its own. */
const ofFunction: Readonly<Record<string, Rule>> = {
  ...rules('isSorted sum max min indexOf lastIndexOf', traversal),
  ...rules('url lowerAscii upperAscii substring trim cidr isIP isCIDR quantity isQuantity semver isSemver', through),
  'jsonpatch.escapeKey': through,
  // The cost limit allows two authorization checks in an expression.
  check: () => 350_000,
  ...rules('fieldSelector labelSelector', (args) => {
    const length = size(args, 1);
    return 10 + Math.ceil(length * perCharacter) + Math.ceil(Math.ceil(length * 0.5) * 50);
  }),
  ...rules('replace split ip.isCanonical', twiceThrough),
  ...rules('find findAll', pattern),
  join: (_, result) => Math.ceil(sizeOf(result) * 2 * perCharacter),
  ip: (args, result, overload) => (overload === 'cidr_ip' ? 1 : through(args, result, overload)),
  containsIP: (args, _, overload) =>
    Math.ceil(2 * size(args, 0) * perCharacter) +
    (overload === 'cidr_contains_ip_string' ? Math.ceil(size(args, 1) * perCharacter) : 0),
  containsCIDR: (args, _, overload) =>
    Math.ceil(2 * size(args, 0) * perCharacter) +
    Math.ceil(size(args, 0) * perCharacter) +
    1 +
    (overload === 'cidr_contains_cidr_string' ? Math.ceil(size(args, 1) * perCharacter) : 0),
  validate: (args) => {
    const format = args[0] as { maxRegexSize?: number };
    return Math.ceil((1 + size(args, 1)) * perCharacter) * Math.ceil((format.maxRegexSize ?? 0) * perPatternCharacter);
  },
};

const made = (count: number, each = 1): number => Math.floor(count * each) + 11;
const compared =
  (index: number): Rule =>
  (args) => {
    const list = args[index] as List;
    const isLong = list.size > 0 && (typeof list.at(0) === 'string' || list.at(0) instanceof Uint8Array);
    return made(list.size * list.size, isLong ? 2 + perCharacter : 2);
  };
const pairs =
  (factor: number): Rule =>
  (args) =>
    1 + size(args, 0) * size(args, 1) * factor;

/** Lists and sets, as the extensions of cel-go count. */
const ofLists: Readonly<Record<string, Rule>> = {
  ...rules('slice lists.range reverse', (_, result) => made(sizeOf(result))),
  flatten: (args) => made(size(args, 0), args.length === 2 ? Number(args[1]) : 1),
  ...rules('distinct sort', compared(0)),
  '@sortByAssociatedKeys': compared(1),
  ...rules('sets.contains sets.intersects', pairs(1)),
  'sets.equivalent': pairs(2),
};

/** By the form of the function, as cel-go counts. */
const ofOverload: Readonly<Record<string, Rule>> = {
  ...rules('starts_with_string ends_with_string string_to_bytes bytes_to_string strings_quote string_format', through),
  in_list: (args) => size(args, 1),
  ...rules('equals not_equals', smaller),
  ...rules('less_string greater_string less_equals_string greater_equals_string', smaller),
  ...rules('less_bytes greater_bytes less_equals_bytes greater_equals_bytes', smaller),
  ...rules('add_string add_bytes', both),
  ...rules('matches_string matches', pattern),
  contains_string: (args) => Math.ceil(size(args, 0) * perCharacter) * Math.ceil(size(args, 1) * perCharacter),
};

function rules(names: string, rule: Rule): Record<string, Rule> {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]));
}

/** The cost of looking at everything in a value. */
function traversalCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * perCharacter);
  if (value instanceof Uint8Array) return Math.floor(value.length * perCharacter);
  if (typeof value !== 'object' || value === null) return 1;
  let cost = 0;
  if (isList(value)) {
    for (let index = 0; index < value.size; index += 1) cost += traversalCost(value.at(index));
    return cost;
  }
  if (!isMapping(value)) return 1;
  for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.get(key) as Value);
  return cost;
}
