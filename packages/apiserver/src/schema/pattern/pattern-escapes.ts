import { type CharTest, not, posixClass, unicodeClass } from './char-test.js';
import { PatternError } from './pattern-error.js';

const plain: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** The character that an escape stands for, and where it ends. `at` is the place of the backslash. */
export function readEscape(source: string, at: number): { readonly code: number; readonly end: number } {
  const rest = source.slice(at);
  const code = source.codePointAt(at + 1);
  if (code === undefined) throw new PatternError('trailing backslash at end of expression', '');
  const letter = String.fromCodePoint(code);
  if (code < 0x80 && !/[0-9A-Za-z]/.test(letter)) return { code, end: at + 2 };
  const known = Object.hasOwn(plain, letter) ? plain[letter] : undefined;
  if (known !== undefined) return { code: known, end: at + 2 };
  const [octal] = /^\\(0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(rest) ?? [];
  if (octal !== undefined) return { code: Number.parseInt(octal.slice(1), 8), end: at + octal.length };
  const [hex, short, long] = /^\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})/.exec(rest) ?? [];
  if (hex !== undefined) {
    const value = Number.parseInt(short ?? long ?? '', 16);
    if (value <= 0x10ffff) return { code: value, end: at + hex.length };
  }
  throw new PatternError('invalid escape sequence', wrongEscape(rest, letter));
}

/** As much of an invalid escape as the error shows. */
function wrongEscape(rest: string, letter: string): string {
  if (letter !== 'x') return `\\${letter}`;
  const open = /^\\x\{([0-9A-Fa-f]*)/.exec(rest);
  if (open === null) return /^\\x.{0,2}/su.exec(rest)?.[0] ?? rest;
  const digits = open[1] as string;
  for (let count = 1; count <= digits.length; count += 1) {
    if (Number.parseInt(digits.slice(0, count), 16) > 0x10ffff) return rest.slice(0, 3 + count);
  }
  return /^\\x\{[0-9A-Fa-f]*.?/su.exec(rest)?.[0] ?? rest;
}

interface Found {
  readonly test: CharTest;
  readonly end: number;
}

/** `\p{Greek}` and its like, at the place of the backslash. */
export function unicodeAt(source: string, at: number, fold: boolean): Found {
  const rest = source.slice(at);
  const [whole, letter, brace, short] = /^\\([pP])(?:(\{[^}]*\})|(.))/su.exec(rest) ?? [];
  if (whole === undefined) throw new PatternError('invalid character class range', rest);
  if (short === '{') throw new PatternError('invalid character class range', rest);
  const name = brace === undefined ? (short as string) : brace.slice(1, -1);
  const test = unicodeClass(name.replace(/^\^/, ''), fold);
  if (test === undefined) throw new PatternError('invalid character class range', whole);
  const negated = (letter === 'P') !== name.startsWith('^');
  return { test: negated ? not(test) : test, end: at + whole.length };
}

/** `[:alpha:]` and its like, inside of brackets; undefined for anything else. */
export function posixAt(source: string, at: number, fold: boolean): Found | undefined {
  if (!source.startsWith('[:', at)) return undefined;
  const close = source.indexOf(':]', at + 2);
  if (close < 0) return undefined;
  const name = source.slice(at, close + 2);
  const test = posixClass(name, fold);
  if (test === undefined) throw new PatternError('invalid character class range', name);
  return { test, end: close + 2 };
}
