import { perCharacter, perPatternCharacter } from './call-cost.js';
import { add, type Estimate, fixed, most, multiply, scale } from './estimate.js';
import type { Expression } from './expression.js';

/** A call, and what is known about the sizes of what it is given. */
export interface CallSite {
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
  sizeOf(part: Expression): Estimate;
  sizeOfItems(list: Expression): Estimate;
}

/** The cost of a call without its arguments, and the size of its result, where that is known. */
export interface CallEstimate {
  readonly cost: Estimate;
  readonly size?: Estimate | undefined;
}

/** The cost of one overload of a function. */
export function estimateCall(site: CallSite, overload: string): CallEstimate {
  const rule = ofFunction[site.name] ?? ofLists[site.name] ?? ofOverload[overload];
  return rule?.(site, overload) ?? { cost: fixed(1) };
}

type Rule = (site: CallSite, overload: string) => CallEstimate | undefined;

const argument = (site: CallSite, index = 0): Estimate => site.sizeOf(site.args[index] as Expression);
const receiver = (site: CallSite): Estimate => site.sizeOf((site.target ?? site.args[0]) as Expression);
/** Parsing an IP address or network compares as many bytes as it has. */
const addressBytes: Estimate = { min: 4, max: 16 };

const throughArgument: Rule = (site) => ({ cost: scale(argument(site), perCharacter) });
const throughReceiver: Rule = (site) => ({ cost: scale(receiver(site), perCharacter), size: receiver(site) });
const overItems: Rule = (site) => {
  if (site.target === undefined) return undefined;
  const { type } = site.target;
  if (type?.kind !== 'list') return { cost: scale(receiver(site), perCharacter) };
  const isLong = type.of.kind === 'string' || type.of.kind === 'bytes';
  const each = isLong ? add(fixed(1), scale(site.sizeOfItems(site.target), perCharacter)) : fixed(1);
  return { cost: multiply(receiver(site), each) };
};
const pattern = (site: CallSite): Estimate =>
  multiply(scale(add(receiver(site), fixed(1)), perCharacter), scale(argument(site), perPatternCharacter));
const smaller: Rule = (site) => {
  const [left, right] = site.args.map(({ type }) => type);
  if (left?.kind === 'opaque' && right?.kind === 'opaque' && left.name === right.name) return { cost: fixed(1) };
  const least = Math.min(argument(site, 0).max, argument(site, 1).max);
  return { cost: scale({ min: least > 0 ? 1 : 0, max: least }, perCharacter) };
};
const comparedNetworks = scale(add(addressBytes, addressBytes), perCharacter);

/** By the name of the function, as Kubernetes counts its own. */
const ofFunction: Readonly<Record<string, Rule>> = {
  ...rules('isSorted sum max min indexOf lastIndexOf', overItems),
  url: (site) => ({ cost: scale(argument(site), perCharacter), size: argument(site) }),
  ...rules('lowerAscii upperAscii substring trim', throughReceiver),
  ...rules('cidr isIP isCIDR quantity isQuantity semver isSemver', throughArgument),
  ip: (site, overload) => (overload === 'cidr_ip' ? { cost: fixed(1) } : throughArgument(site, overload)),
  'ip.isCanonical': (site) => ({ cost: scale(argument(site), 2 * perCharacter) }),
  replace: (site) => ({ cost: scale(receiver(site), 2 * perCharacter), size: sizeOfReplaced(site) }),
  split: (site) => {
    const limit = site.args[1];
    const parts = limit?.op === 'constant' && typeof limit.value === 'bigint' ? limit.value : undefined;
    const max = parts === undefined ? receiver(site).max : parts < 0n ? most : Number(parts);
    return { cost: scale(receiver(site), 2 * perCharacter), size: { min: 0, max } };
  },
  join: (site) => {
    const count = receiver(site);
    const texts = multiply(count, site.sizeOfItems(site.target as Expression));
    const gaps = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) };
    const size = site.args.length === 0 ? texts : add(texts, multiply(argument(site), gaps));
    return { cost: scale(size, perCharacter), size };
  },
  ...rules('find findAll', (site) => ({ cost: pattern(site), size: { min: 0, max: receiver(site).max } })),
  containsIP: (site, overload) => ({
    cost:
      overload === 'cidr_contains_ip_string'
        ? add(comparedNetworks, scale(argument(site), perCharacter))
        : comparedNetworks,
  }),
  containsCIDR: (site, overload) => {
    const own = add(add(comparedNetworks, scale(addressBytes, perCharacter)), fixed(1));
    return { cost: overload === 'cidr_contains_cidr_string' ? add(own, scale(argument(site), perCharacter)) : own };
  },
  validate: (site) => ({ cost: scale(scale(argument(site), perCharacter), 128 * perPatternCharacter) }),
};

/** A function that makes a list: the size of what it goes through, and what each element of that costs. */
const makes =
  (each: (site: CallSite) => number, through: (site: CallSite) => Estimate): Rule =>
  (site) => {
    const size = through(site);
    return { cost: add(scale(size, each(site)), fixed(11)), size };
  };
const squared = (size: Estimate): Estimate => multiply(size, size);
const compared = (list: Expression | undefined): number =>
  list?.type?.kind === 'list' && ['string', 'bytes'].includes(list.type.of.kind) ? 2 + perCharacter : 2;
const number = (part: Expression | undefined, otherwise: number): number =>
  part?.op === 'constant' && typeof part.value === 'bigint' ? Math.max(0, Number(part.value)) : otherwise;
const pairs =
  (factor: number): Rule =>
  (site) => ({ cost: add(scale(multiply(argument(site, 0), argument(site, 1)), factor), fixed(1)) });

/** Lists and sets, as the extensions of cel-go count. */
const ofLists: Readonly<Record<string, Rule>> = {
  slice: makes(
    () => 1,
    (site) => fixed(Math.max(0, number(site.args[1], receiver(site).max) - number(site.args[0], 0))),
  ),
  flatten: makes((site) => (site.args.length === 0 ? 1 : number(site.args[0], most)), receiver),
  'lists.range': makes(
    () => 1,
    (site) => fixed(number(site.args[0], most)),
  ),
  reverse: makes(() => 1, receiver),
  distinct: makes(
    () => 2,
    (site) => squared(receiver(site)),
  ),
  sort: makes(
    (site) => compared(site.target),
    (site) => squared(receiver(site)),
  ),
  '@sortByAssociatedKeys': makes(
    (site) => compared(site.args[0]),
    (site) => squared(argument(site)),
  ),
  'sets.contains': pairs(1),
  'sets.intersects': pairs(1),
  'sets.equivalent': pairs(2),
};

/** By the form of the function, as cel-go counts. */
const ofOverload: Readonly<Record<string, Rule>> = {
  string_format: (site) => ({ cost: scale(receiver(site), perCharacter) }),
  string_to_bytes: (site) => {
    const { min, max } = argument(site);
    return { cost: scale({ min, max }, perCharacter), size: { min, max: Math.min(most, max * 4) } };
  },
  bytes_to_string: (site) => {
    const { min, max } = argument(site);
    return { cost: scale({ min, max }, perCharacter), size: { min: Math.floor(min / 4), max } };
  },
  strings_quote: (site) => {
    const { min, max } = argument(site);
    return { cost: scale({ min, max }, perCharacter), size: { min: min + 2, max: Math.min(most, max * 2 + 2) } };
  },
  ...rules('starts_with_string ends_with_string', throughArgument),
  in_list: (site) => ({ cost: argument(site, 1) }),
  matches_string: (site) => ({ cost: pattern(site) }),
  contains_string: (site) => ({
    cost: multiply(scale(receiver(site), perCharacter), scale(argument(site), perCharacter)),
  }),
  add_list: (site) => ({ cost: fixed(1), size: add(argument(site, 0), argument(site, 1)) }),
  ...rules('add_string add_bytes', (site) => {
    const size = add(argument(site, 0), argument(site, 1));
    return { cost: scale(size, perCharacter), size };
  }),
  ...rules('equals not_equals', smaller),
  ...rules('less_string greater_string less_equals_string greater_equals_string', smaller),
  ...rules('less_bytes greater_bytes less_equals_bytes greater_equals_bytes', smaller),
};

function rules(names: string, rule: Rule): Record<string, Rule> {
  return Object.fromEntries(names.split(' ').map((name) => [name, rule]));
}

/** How long a text can be, and must be, after all replacements. */
function sizeOfReplaced(site: CallSite): Estimate {
  const [text, old, fresh] = [receiver(site), argument(site, 0), argument(site, 1)];
  const longest =
    old.min === 0
      ? (text.max + 1) * fresh.max + text.max
      : fresh.max <= old.min
        ? text.max
        : Math.ceil(text.max / old.min) * fresh.max;
  const shortest =
    old.max === 0
      ? (text.min + 1) * fresh.min + text.min
      : old.max <= fresh.min
        ? text.min
        : Math.ceil(text.min / old.max) * fresh.min;
  return { min: Math.min(most, shortest), max: Math.min(most, longest) };
}
