import { CelError } from '../language/cel-error.js';
import { boolType, intType, opaque, stringType } from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import type { OpaqueValue } from '../language/value.js';

/** A version as semver.org has it. */
class SemverValue implements OpaqueValue {
  readonly isOpaque = true;
  readonly typeName = 'kubernetes.Semver';

  readonly numbers: readonly [bigint, bigint, bigint];
  readonly pre: readonly string[];

  constructor(numbers: readonly [bigint, bigint, bigint], pre: readonly string[]) {
    this.numbers = numbers;
    this.pre = pre;
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof SemverValue && compare(this, other) === 0;
  }
}

const semver = opaque('kubernetes.Semver');
const number = '(0|[1-9]\\d*)';
const words = '(?:[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)';
const pattern = new RegExp(`^${number}\\.${number}\\.${number}(?:-(${words}))?(?:\\+${words})?$`);

/** Versions. */
export const semvers: Functions = {
  semver: [
    plain('string_to_semver', [stringType], semver, (text: string) => version(text)),
    plain('string_bool_to_semver', [stringType, boolType], semver, (text: string, lenient: boolean) =>
      version(lenient ? normalised(text) : text),
    ),
  ],
  isSemver: [
    plain('is_semver_string', [stringType], boolType, (text: string) => parse(text) !== undefined),
    plain(
      'is_semver_string_bool',
      [stringType, boolType],
      boolType,
      (text: string, lenient: boolean) => parse(lenient ? normalised(text) : text) !== undefined,
    ),
  ],
  isGreaterThan: [
    member('semver_is_greater_than', [semver, semver], boolType, (x: SemverValue, y: SemverValue) => compare(x, y) > 0),
  ],
  isLessThan: [
    member('semver_is_less_than', [semver, semver], boolType, (x: SemverValue, y: SemverValue) => compare(x, y) < 0),
  ],
  compareTo: [
    member('semver_compare_to', [semver, semver], intType, (x: SemverValue, y: SemverValue) => BigInt(compare(x, y))),
  ],
  major: [member('semver_major', [semver], intType, (of: SemverValue) => of.numbers[0])],
  minor: [member('semver_minor', [semver], intType, (of: SemverValue) => of.numbers[1])],
  patch: [member('semver_patch', [semver], intType, (of: SemverValue) => of.numbers[2])],
};

function parse(text: string): SemverValue | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const pre = match[4]?.split('.') ?? [];
  if (pre.some((word) => /^0\d+$/.test(word))) return undefined;
  return new SemverValue([BigInt(match[1] as string), BigInt(match[2] as string), BigInt(match[3] as string)], pre);
}

function version(text: string): SemverValue {
  const found = parse(text);
  if (found === undefined) throw new CelError('No Major.Minor.Patch elements found');
  return found;
}

/** `v1` is 1.0.0, and zeros may lead. */
function normalised(text: string): string {
  const [, core = '', rest = ''] = /^v?([0-9.]*)(.*)$/s.exec(text) ?? [];
  const parts = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (parts.length < 3 && rest === '') parts.push('0');
  return parts.join('.') + rest;
}

function compare(x: SemverValue, y: SemverValue): number {
  for (const [index, own] of x.numbers.entries()) {
    const other = y.numbers[index] as bigint;
    if (own !== other) return own < other ? -1 : 1;
  }
  if (x.pre.length === 0 || y.pre.length === 0) return Math.sign(y.pre.length - x.pre.length);
  for (let at = 0; at < Math.max(x.pre.length, y.pre.length); at += 1) {
    const order = compareWords(x.pre[at], y.pre[at]);
    if (order !== 0) return order;
  }
  return 0;
}

function compareWords(x: string | undefined, y: string | undefined): number {
  if (x === undefined || y === undefined) return x === y ? 0 : x === undefined ? -1 : 1;
  const [isNumber, isOther] = [/^\d+$/.test(x), /^\d+$/.test(y)];
  if (isNumber && isOther) return Number(BigInt(x) > BigInt(y)) - Number(BigInt(x) < BigInt(y));
  if (isNumber !== isOther) return isNumber ? -1 : 1;
  return x < y ? -1 : x > y ? 1 : 0;
}
