import { Buffer } from 'node:buffer';
import type { Complaint } from './cel-error.js';
import type { Constant } from './expression.js';

/** A piece of the text of an expression. */
export type Token =
  | { readonly kind: 'name'; readonly text: string; readonly at: number; readonly quoted?: boolean }
  | { readonly kind: 'constant'; readonly value: Constant; readonly text: string; readonly at: number }
  | { readonly kind: 'sign'; readonly text: string; readonly at: number }
  | { readonly kind: 'end'; readonly text: '<EOF>'; readonly at: number };

const signs = ['==', '!=', '<=', '>=', '&&', '||'];
const singles: ReadonlySet<string> = new Set('+-*/%<>!?:.,()[]{}');
/** Signs that may be the first half of another, or of a number. */
const paired: ReadonlySet<string> = new Set('<>!.');
const space = /[ \t\n\r\f]/;
const literalPrefix = /[rRbB]/;

const surrogate = /[\ud800-\udfff]/;

/** The text as code points, in which places are counted. */
export class Tokenizer {
  /** The text itself if each of its characters is a code point. */
  readonly #source: string | readonly string[];
  #at = 0;

  constructor(source: string) {
    this.#source = surrogate.test(source) ? [...source] : source;
  }

  /** All of them, or what cannot be read. */
  all(): { readonly tokens: readonly Token[]; readonly complaint?: Complaint } {
    const tokens: Token[] = [];
    try {
      for (;;) {
        this.#skip();
        const at = this.#at;
        if (at >= this.#source.length) {
          tokens.push({ kind: 'end', text: '<EOF>', at });
          return { tokens };
        }
        tokens.push(this.#next(at));
      }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { tokens, complaint: { at: error.at, message: error.message } };
    }
  }

  #next(at: number): Token {
    const c = this.#source[at] as string;
    if (singles.has(c) && !paired.has(c)) {
      this.#at += 1;
      return { kind: 'sign', text: c, at };
    }
    const prefix = literalPrefix.test(c) ? this.#text(literalPrefix, 2).toLowerCase() : '';
    const quote = this.#source[at + prefix.length];
    if ((quote === '"' || quote === "'") && ['', 'r', 'b', 'rb', 'br'].includes(prefix))
      return this.#quoted(at, prefix);
    if (/[0-9]/.test(c) || (c === '.' && /[0-9]/.test(this.#source[at + 1] ?? ''))) return this.#number(at);
    if (/[A-Za-z_]/.test(c)) {
      const text = this.#text(/[A-Za-z0-9_]/);
      this.#at += text.length;
      return named(text, at);
    }
    if (c === '`') return this.#backQuoted(at);
    const pair = c + (this.#source[at + 1] ?? '');
    const sign = signs.includes(pair) ? pair : singles.has(c) ? c : undefined;
    if (sign === undefined) throw new Unreadable(at, `Syntax error: token recognition error at: '${c}'`);
    this.#at += sign.length;
    return { kind: 'sign', text: sign, at };
  }

  /** A run of such characters from here on. */
  #text(pattern: RegExp, most = Number.POSITIVE_INFINITY): string {
    let end = this.#at;
    while (end - this.#at < most && end < this.#source.length && pattern.test(this.#source[end] as string)) end += 1;
    return this.#slice(this.#at, end);
  }

  #slice(from: number, to: number): string {
    const part = this.#source.slice(from, to);
    return typeof part === 'string' ? part : part.join('');
  }

  #skip(): void {
    for (;;) {
      while (space.test(this.#source[this.#at] ?? 'x')) this.#at += 1;
      if (this.#source[this.#at] !== '/' || this.#source[this.#at + 1] !== '/') return;
      while (this.#at < this.#source.length && this.#source[this.#at] !== '\n') this.#at += 1;
    }
  }

  #number(at: number): Token {
    const rest = this.#slice(at, at + 400);
    const float = /^(\d+\.\d+([eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+([eE][+-]?\d+)?)/.exec(rest);
    const text = float?.[0] ?? /^(0[xX][0-9a-fA-F]+|\d+)[uU]?/.exec(rest)?.[0] ?? '';
    this.#at += text.length;
    if (float !== null) return { kind: 'constant', value: Number(text), text, at };
    if (/[uU]$/.test(text)) {
      const value = BigInt(text.slice(0, -1));
      if (value > 0xffff_ffff_ffff_ffffn) throw new Unreadable(at, 'Syntax error: invalid uint literal');
      return { kind: 'constant', value: { uint: value }, text, at };
    }
    return { kind: 'constant', value: BigInt(text), text, at };
  }

  #backQuoted(at: number): Token {
    const end = this.#source.indexOf('`', at + 1);
    const text = this.#slice(at + 1, end < 0 ? at : end);
    if (end < 0 || !/^[A-Za-z0-9_.\-/ ]+$/.test(text)) {
      throw new Unreadable(at, "Syntax error: token recognition error at: '`'");
    }
    this.#at = end + 1;
    return { kind: 'name', text, at, quoted: true };
  }

  #quoted(at: number, prefix: string): Token {
    const raw = prefix.includes('r');
    let from = at + prefix.length;
    const quote = this.#source[from] as string;
    const triple = this.#source[from + 1] === quote && this.#source[from + 2] === quote;
    from += triple ? 3 : 1;
    let end = from;
    for (;;) {
      const c = this.#source[end];
      if (c === undefined || (!triple && (c === '\n' || c === '\r'))) {
        const seen = this.#slice(at, end);
        throw new Unreadable(at, `Syntax error: token recognition error at: '${seen}'`);
      }
      if (c === quote && (!triple || (this.#source[end + 1] === quote && this.#source[end + 2] === quote))) break;
      end += c === '\\' && !raw ? 2 : 1;
    }
    this.#at = end + (triple ? 3 : 1);
    const text = this.#slice(at, this.#at);
    const inner = this.#slice(from, end);
    const isBytes = prefix.includes('b');
    const value = raw ? (isBytes ? Buffer.from(inner) : inner) : unescaped(inner, isBytes, at);
    return { kind: 'constant', value, text, at };
  }
}

class Unreadable extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

function named(text: string, at: number): Token {
  if (text === 'true' || text === 'false') return { kind: 'constant', value: text === 'true', text, at };
  if (text === 'null') return { kind: 'constant', value: null, text, at };
  if (text === 'in') return { kind: 'sign', text, at };
  return { kind: 'name', text, at };
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '`': '`',
  '?': '?',
};

function unescaped(text: string, isBytes: boolean, at: number): string | Uint8Array {
  if (!text.includes('\\')) return isBytes ? Buffer.from(text) : text;
  const parts: Buffer[] = [];
  let plain = '';
  const sequence =
    /\\(?:([abfnrtv\\"'`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.?))/gsu;
  let from = 0;
  for (const match of text.matchAll(sequence)) {
    plain += text.slice(from, match.index);
    from = match.index + match[0].length;
    const [, simple, hex, short, long, octal] = match;
    const code = hex ?? short ?? long;
    const value = code !== undefined ? Number.parseInt(code, 16) : octal && Number.parseInt(octal, 8);
    if (simple !== undefined) plain += escapes[simple];
    else if (typeof value !== 'number' || value > 0x10_ffff) throw new Unreadable(at, 'Syntax error: invalid escape');
    else if (isBytes && (hex !== undefined || octal !== undefined)) {
      parts.push(Buffer.from(plain), Buffer.from([value]));
      plain = '';
    } else plain += String.fromCodePoint(value);
  }
  plain += text.slice(from);
  if (!isBytes) return plain;
  return Buffer.concat([...parts, Buffer.from(plain)]);
}
