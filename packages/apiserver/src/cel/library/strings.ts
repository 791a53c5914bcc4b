import { goPattern, patternProblem } from '../../schema/pattern/go-pattern.js';
import { CelError, CostLimitError } from '../language/cel-error.js';
import { boolType, dynType, intType, listOf, stringType } from '../language/cel-type.js';
import { type Functions, member, plain } from '../language/overload.js';
import { itemsOf, type List, list } from '../language/value.js';
import { formatText } from './format-text.js';

const text = stringType;
const texts = listOf(stringType);

/** Texts: the language's own functions, and those of the extension in the version that Kubernetes uses. */
export const strings: Functions = {
  contains: [member('contains_string', [text, text], boolType, (s: string, part: string) => s.includes(part))],
  startsWith: [member('starts_with_string', [text, text], boolType, (s: string, part: string) => s.startsWith(part))],
  endsWith: [member('ends_with_string', [text, text], boolType, (s: string, part: string) => s.endsWith(part))],
  matches: [
    plain('matches', [text, text], boolType, matches),
    member('matches_string', [text, text], boolType, matches),
  ],
  charAt: [
    member('string_char_at_int', [text, intType], text, (s: string, at: bigint) => {
      const points = [...s];
      if (at < 0n || at > points.length) throw new CelError(`index out of range: ${at}`);
      return points[Number(at)] ?? '';
    }),
  ],
  indexOf: [
    member('string_index_of_string', [text, text], intType, (s: string, part: string) => indexOf(s, part, 0n)),
    member('string_index_of_string_int', [text, text, intType], intType, indexOf),
  ],
  lastIndexOf: [
    member('string_last_index_of_string', [text, text], intType, (s: string, part: string) =>
      lastIndexOf(s, part, BigInt([...s].length)),
    ),
    member('string_last_index_of_string_int', [text, text, intType], intType, (s: string, part: string, at: bigint) => {
      if (at < 0n || at >= [...s].length) throw new CelError(`index out of range: ${at}`);
      return lastIndexOf(s, part, at);
    }),
  ],
  lowerAscii: [
    member('string_lower_ascii', [text], text, (s: string) => s.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  ],
  upperAscii: [
    member('string_upper_ascii', [text], text, (s: string) => s.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  ],
  replace: [
    member('string_replace_string_string', [text, text, text], text, (s: string, old: string, fresh: string) =>
      replace(s, old, fresh, -1),
    ),
    member(
      'string_replace_string_string_int',
      [text, text, text, intType],
      text,
      (s: string, old: string, fresh: string, count: bigint) => replace(s, old, fresh, Number(count)),
    ),
  ],
  split: [
    member('string_split_string', [text, text], texts, (s: string, by: string) => list(split(s, by, -1))),
    member('string_split_string_int', [text, text, intType], texts, (s: string, by: string, count: bigint) =>
      list(split(s, by, Number(count))),
    ),
  ],
  substring: [
    member('string_substring_int', [text, intType], text, (s: string, from: bigint) => {
      const points = [...s];
      if (from < 0n || from > points.length) throw new CelError(`index out of range: ${from}`);
      return points.slice(Number(from)).join('');
    }),
    member('string_substring_int_int', [text, intType, intType], text, (s: string, from: bigint, to: bigint) => {
      const points = [...s];
      if (from > to) throw new CelError(`invalid substring range. start: ${from}, end: ${to}`);
      if (from < 0n || from > points.length) throw new CelError(`index out of range: ${from}`);
      if (to < 0n || to > points.length) throw new CelError(`index out of range: ${to}`);
      return points.slice(Number(from), Number(to)).join('');
    }),
  ],
  trim: [member('string_trim', [text], text, (s: string) => s.trim())],
  join: [
    member('list_join', [texts], text, (of: List) => join(of, '')),
    member('list_join_string', [texts, text], text, join),
  ],
  format: [member('string_format', [text, listOf(dynType)], text, (s: string, args: List) => formatText(s, args))],
  'strings.quote': [plain('strings_quote', [text], text, quote)],
};

/** Whether a regular expression of Go matches somewhere. */
function matches(s: string, pattern: string): boolean {
  const compiled = goPattern(pattern);
  if (compiled === undefined) throw new CelError(`error parsing regexp: ${patternProblem(pattern)}`);
  return compiled.test(s);
}

function indexOf(s: string, part: string, from: bigint): bigint {
  const points = [...s];
  if (part === '') return from;
  if (from < 0n) throw new CelError(`index out of range: ${from}`);
  if (from >= points.length) return -1n;
  const start = points.slice(0, Number(from)).join('').length;
  const found = s.indexOf(part, start);
  return found < 0 ? -1n : BigInt([...s.slice(0, found)].length);
}

function lastIndexOf(s: string, part: string, from: bigint): bigint {
  if (part === '') return from;
  const start = [...s].slice(0, Number(from)).join('').length;
  const found = s.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt([...s.slice(0, found)].length);
}

/**
 * No function makes a longer text. Looking at each character of one costs as much as a whole rule may, so that it is of no
 * use; and two calls of `replace` can make one that is longer than JavaScript has.
 */
const maxLength = 10_000_000;

function limited(length: number): void {
  if (length > maxLength) throw new CostLimitError();
}

function join(of: List, by: string): string {
  const parts = itemsOf(of) as readonly string[];
  limited(parts.reduce((sum, part) => sum + part.length + by.length, 0));
  return parts.join(by);
}

function replace(s: string, old: string, fresh: string, count: number): string {
  if (count === 0) return s;
  const most = count < 0 ? Number.POSITIVE_INFINITY : count;
  const places = old === '' ? s.length + 1 : Math.floor(s.length / old.length);
  // Only what may become too long is looked at closely.
  if (s.length + places * fresh.length > maxLength) {
    const found = old === '' ? [...s].length + 1 : s.split(old).length - 1;
    limited(s.length + Math.min(found, most) * (fresh.length - old.length));
  }
  if (old === '') {
    const points = [...s];
    let done = 0;
    let out = '';
    for (let at = 0; at <= points.length; at += 1) {
      if (done < most) {
        out += fresh;
        done += 1;
      }
      out += points[at] ?? '';
    }
    return out;
  }
  const parts = s.split(old);
  let out = parts[0] as string;
  for (const [index, part] of parts.slice(1).entries()) out += (index < most ? fresh : old) + part;
  return out;
}

function split(s: string, by: string, count: number): string[] {
  if (count === 0) return [];
  const parts = by === '' ? [...s] : s.split(by);
  if (count < 0 || parts.length <= count) return parts;
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(by)];
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

function quote(s: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be escaped
  return `"${s.replace(/[\x07\b\f\n\r\t\v\\"]/g, (c) => escapes[c] as string)}"`;
}
