import { compareStrings } from '../compare-strings.js';
import { labelValueProblems, qualifiedNameProblems } from '../names.js';
import { describeValue } from '../with-metadata.js';

/** How a {@link LabelRequirement} relates key and values (`selection.Operator`). */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One term of a label selector (`labels.Requirement`). Made by {@link labelRequirement}, which checks it. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

const int64 = /^[+-]?\d{1,30}$/;
const maxInt64 = 2n ** 63n - 1n;

function parseInt64(text: string): bigint | undefined {
  if (!int64.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value >= -maxInt64 - 1n && value <= maxInt64 ? value : undefined;
}

const desired: Record<LabelOperator, { readonly values: 'none' | 'one' | 'some'; readonly integer?: boolean }> = {
  '=': { values: 'one' },
  '==': { values: 'one' },
  '!=': { values: 'one' },
  in: { values: 'some' },
  notin: { values: 'some' },
  exists: { values: 'none' },
  '!': { values: 'none' },
  gt: { values: 'one', integer: true },
  lt: { values: 'one', integer: true },
};

/**
 * A checked requirement, frozen (`labels.NewRequirement`). The key is a qualified name; `=`, `==`, `!=`, `gt` and `lt`
 * require one value, `in` and `notin` at least one, `exists` and `!` none; the value of `gt` and `lt` must be an
 * integer. The empty text is a valid value. Throws a `TypeError` that lists all problems.
 */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[] = [],
): LabelRequirement {
  // The types say so, but labels are often taken from objects where they may be missing.
  for (const part of [key, ...values]) {
    if (typeof part === 'string') continue;
    throw new TypeError(`label requirement on ${JSON.stringify(key)}: expected a string, got ${describeValue(part)}`);
  }
  const problems = qualifiedNameProblems(key).map((problem) => `key ${problem}`);
  const rule = Object.hasOwn(desired, operator) ? desired[operator] : undefined;
  if (rule === undefined) {
    problems.push(`operator ${JSON.stringify(operator)} must be one of ${Object.keys(desired).join(', ')}`);
  } else if (
    rule.values === 'none' ? values.length > 0 : rule.values === 'one' ? values.length !== 1 : !values.length
  ) {
    const expected = { none: 'no values', one: 'exactly one value', some: 'at least one value' }[rule.values];
    problems.push(`operator ${operator} requires ${expected}, got ${values.length}`);
  }
  for (const value of values) {
    const named = JSON.stringify(value);
    if (rule?.integer && parseInt64(value) === undefined) {
      problems.push(`operator ${operator} requires a 64-bit integer, got ${named}`);
    }
    problems.push(...labelValueProblems(value).map((problem) => `value ${named} ${problem}`));
  }
  if (problems.length > 0) throw new TypeError(`label requirement on ${JSON.stringify(key)}: ${problems.join('; ')}`);
  return Object.freeze({ key, operator, values: Object.freeze([...values]) });
}

/** True when labels fulfil a requirement (`Requirement.Matches`). A missing key fulfils `!`, `!=` and `notin`. */
export function matchesRequirement(
  requirement: LabelRequirement,
  labels: Readonly<Record<string, string>> | undefined | null,
): boolean {
  const { key, operator, values } = requirement;
  // Own properties only: a label may well be called "constructor".
  const value = labels && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '=':
    case '==':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'gt':
    case 'lt': {
      const left = value === undefined ? undefined : parseInt64(value);
      const right = parseInt64(values[0] ?? '');
      if (left === undefined || right === undefined) return false;
      return operator === 'gt' ? left > right : left < right;
    }
  }
}

/** Writes a requirement as it stands in a selector (`Requirement.String`): values sorted, `key in (a,b)`. */
export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort(compareStrings).join(',')})`;
    case 'gt':
    case 'lt':
      return `${key}${operator === 'gt' ? '>' : '<'}${values.join(',')}`;
    default:
      return `${key}${operator}${values.join(',')}`;
  }
}
