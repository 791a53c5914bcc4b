import { type FieldError, notSupported } from '../../status/field-error.js';
import { goQuote } from '../../status/go-quote.js';
import { badRequest, invalidObject, type Refusal } from '../../status/refusal.js';
import { isTrue } from '../request-info.js';
import { first, type Query } from './query-string.js';

const minInt64 = -(2n ** 63n);
const maxInt64 = 2n ** 63n - 1n;

/** A whole number, or undefined if the parameter is not there. Throws 400, with the words of Go's parser. */
export function wholeNumber(query: Query, name: string): number | undefined {
  const text = first(query, name);
  if (text === undefined) return undefined;
  const fail = (why: string): Refusal => badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: ${why}`);
  if (!/^[+-]?[0-9]+$/.test(text)) throw fail('invalid syntax');
  // Longer than any int64 with leading zeros would be; BigInt has no limit of its own.
  if (text.length > 1000) throw fail('value out of range');
  const value = BigInt(text.replace(/^\+/, ''));
  if (value < minInt64 || value > maxInt64) throw fail('value out of range');
  return Number(value);
}

/** Undefined if the parameter is not there; any text but `false` and `0` is true, the empty one included. */
export function truth(query: Query, name: string): boolean | undefined {
  const text = first(query, name);
  return text === undefined ? undefined : isTrue(text);
}

/** The problems of `dryRun`: only `All` is known. */
export function dryRunProblems(values: readonly string[]): readonly FieldError[] {
  return values.every((value) => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])];
}

/** Throws what is wrong with options, if anything. `kind` is that of the options, e.g. `ListOptions`. */
export function refuseOptions(kind: string, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  throw invalidObject({ group: 'meta.k8s.io', plural: kind, kind }, '', problems);
}
