import { Buffer } from 'node:buffer';
import { goQuote } from '../../status/go-quote.js';
import { CelError } from '../language/cel-error.js';
import {
  Duration,
  isList,
  isMapping,
  itemsOf,
  type List,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from '../language/value.js';
import { conversionError, formatDouble } from './conversions.js';
import { formatDuration, formatTimestamp } from './time-text.js';

/** A piece of a template: text as it is, or the place of an argument. */
export type Clause = { readonly text: string } | { readonly verb: string; readonly precision: number };

/** The pieces of a template. Throws a `CelError`. */
export function clausesOf(template: string): Clause[] {
  const clauses: Clause[] = [];
  let from = 0;
  for (const match of template.matchAll(/%(?:(%)|(?:\.(\d+))?([sdfebxXo])|(?:\.\d*)?(.?))/gsu)) {
    const [whole, percent, digits, verb, wrong] = match;
    clauses.push({ text: template.slice(from, match.index) });
    from = match.index + whole.length;
    if (percent !== undefined) clauses.push({ text: '%' });
    else if (verb !== undefined) clauses.push({ verb, precision: digits === undefined ? 6 : Number(digits) });
    else if (wrong === '') throw new CelError('unexpected end of string');
    else throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${wrong}"`);
  }
  return [...clauses, { text: template.slice(from) }];
}

/** The accepted values of each clause, in words and by the names of types. */
const takes: Readonly<Record<string, readonly [name: string, what: string, types: readonly string[]]>> = {
  d: ['decimal', 'integers', ['int', 'uint']],
  f: ['fixed-point', 'doubles', ['double']],
  e: ['scientific', 'doubles', ['double']],
  b: ['binary', 'integers and bools', ['int', 'uint', 'bool']],
  o: ['octal', 'integers', ['int', 'uint']],
  x: ['hex', 'integers, byte buffers, and strings', ['int', 'uint', 'string', 'bytes']],
};

/** Why a value of a type cannot stand for a clause; undefined if it can. */
export function clauseProblem(verb: string, typeName: string): string | undefined {
  const [name, what, types] = takes[verb.toLowerCase()] ?? ['', '', undefined];
  if (types === undefined || types.includes(typeName)) return undefined;
  return `error during formatting: ${name} clause can only be used on ${what}, was given ${typeName}`;
}

/** `'%s is %d'.format([…])`. */
export function formatText(template: string, args: List): string {
  let next = 0;
  return clausesOf(template)
    .map((clause) => {
      if ('text' in clause) return clause.text;
      if (next >= args.size) throw new CelError(`index ${next} out of range`);
      const value = args.at(next);
      next += 1;
      const problem = clauseProblem(clause.verb, typeNameOf(value));
      const isWord = 'fe'.includes(clause.verb) && typeof value === 'string' && /^(NaN|-?Infinity)$/.test(value);
      if (problem !== undefined && !isWord) throw new CelError(problem);
      return written(clause.verb, value, clause.precision);
    })
    .join('');
}

function written(verb: string, value: Value, precision: number): string {
  switch (verb) {
    case 's':
      return asText(value);
    case 'd':
      return whole(value).toString();
    case 'f':
      return floating(value, (number) => number.toFixed(precision));
    case 'e':
      return floating(value, (number) => scientific(number, precision));
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : whole(value).toString(2);
    case 'o':
      return whole(value).toString(8);
    default: {
      const isText = typeof value === 'string' || value instanceof Uint8Array;
      const hex = isText ? Buffer.from(value as string).toString('hex') : whole(value).toString(16);
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
  }
}

function whole(value: Value): bigint {
  return value instanceof Uint ? value.value : (value as bigint);
}

function floating(value: Value, write: (number: number) => string): string {
  if (typeof value !== 'number') return value as string;
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return write(value);
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** With the power of ten written out: `1.5×10⁰³`. */
function scientific(value: number, precision: number): string {
  const [digits = '', exponent = ''] = value.toExponential(precision).split('e');
  const power = exponent
    .slice(1)
    .padStart(2, '0')
    .replace(/\d/g, (digit) => superscripts[Number(digit)] as string);
  return `${digits}×10${exponent.startsWith('-') ? '⁻' : ''}${power}`;
}

/** As `%s` writes a value. */
function asText(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return floating(value, formatDouble);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof Duration) return formatDuration(value.nanos);
  if (value instanceof Timestamp) return formatTimestamp(value.nanos);
  return nested(value);
}

/** The same inside lists and maps, where texts are quoted. */
function nested(value: Value): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return floating(value, (number) => number.toFixed(6));
  if (value === null) return 'null';
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return `b${goQuote(Buffer.from(value).toString('utf8'))}`;
  if (value instanceof Duration) return `duration(${goQuote(formatDuration(value.nanos))})`;
  if (value instanceof Timestamp) return `timestamp(${goQuote(formatTimestamp(value.nanos))})`;
  if (value instanceof TypeValue) return value.typeName;
  if (isList(value)) return `[${itemsOf(value).map(nested).join(', ')}]`;
  if (!isMapping(value)) throw conversionError(typeNameOf(value), 'string');
  const members = value.keys().map((key) => [nested(key), nested(value.get(key) as Value)] as const);
  members.sort(([x], [y]) => (x < y ? -1 : x > y ? 1 : 0));
  return `{${members.map(([key, member]) => `${key}:${member}`).join(', ')}}`;
}
