import { compareStrings } from './compare-strings.js';
import { isJsonObject, type Json } from './json.js';

/**
 * Text as Go's standard library formats it: path elements and identifiers are compared with the API server's, and messages
 * are read beside it, so both must match exactly.
 */

/** Nothing in it needs an escape. */
const simple = /^[ !#-%'-;=?-[\]-~\u00a0-\u1fff]*$/;
/** JSON has short escapes for these, which Go doesn't use. */
const short = /[\b\f]/;

const htmlEscapes = ['<', '>', '&', '\u2028', '\u2029'].map(
  (c) => [c, `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`] as const,
);

/** A string as Go's JSON writes it: `<`, `>`, `&` and the line separators escaped, no short forms for \b and \f. */
export function goJsonString(text: string): string {
  if (simple.test(text)) return `"${text}"`;
  let json = JSON.stringify(text);
  if (short.test(text)) {
    json = json.replace(/\\(.)/g, (found, c) => (c === 'b' ? '\\u0008' : c === 'f' ? '\\u000c' : found));
  }
  // One character at a time without a callback: rules with thousands of `&&` are keys of a list.
  for (const [c, escaped] of htmlEscapes) json = json.replaceAll(c, escaped);
  return json;
}

/** A value as Go's `encoding/json` writes it: keys sorted by their bytes, `<`, `>` and `&` escaped. */
export function goJson(value: Json): string {
  if (typeof value === 'string') return goJsonString(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (!isJsonObject(value)) return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  const parts: string[] = [];
  for (const key of sortedKeys(value)) parts.push(`${goJsonString(key)}:${goJson(value[key] as Json)}`);
  return `{${parts.join(',')}}`;
}

function sortedKeys(value: object): string[] {
  return Object.keys(value)
    .filter((key) => (value as Record<string, unknown>)[key] !== undefined)
    .sort(compareStrings);
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
]);

/** A string in quotes as Go's `%q` prints it: `strconv.Quote`, or with single quotes `strconv.QuoteRune`. */
export function goQuote(text: string, quote: '"' | "'" = '"'): string {
  if (quote === '"' && /^[ -~]*$/.test(text)) return JSON.stringify(text);
  return quote + text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["'\\]/gu, (rune) => escapeRune(rune, quote)) + quote;
}

function escapeRune(rune: string, quote: string): string {
  if (rune === '"' || rune === "'") return rune === quote ? `\\${rune}` : rune;
  const short = shortEscapes.get(rune);
  if (short !== undefined) return short;
  const code = rune.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\\ufffd';
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** A number as `%v` prints it: integers in full, others with an exponent below 1e-4 and from 1e6 on. */
export function goNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const size = Number(exponent);
  return size >= -4 && size < 6 ? String(value) : exponential(digits, size);
}

function exponential(digits: string, exponent: number): string {
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

/** A JSON value as `%v` prints it. */
export function goPlain(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  return `map[${sortedKeys(value)
    .map((key) => `${key}:${goPlain(value[key] as Json)}`)
    .join(' ')}]`;
}

/** A JSON value as `%#v` prints it. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return String(value);
  const parts = sortedKeys(value).map((key) => `${goQuote(key)}:${goSyntax(value[key] as Json)}`);
  return `map[string]interface {}{${parts.join(', ')}}`;
}

/** The name of a JSON value's type, as `%T` prints it. */
export function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return 'int64';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}
