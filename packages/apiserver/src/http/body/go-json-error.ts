import { goQuote } from '../../status/go-quote.js';

/**
 * How deep a body may be nested. kube-apiserver allows 10,000; no real object nests that deep, and recursion here is
 * limited.
 */
export const maxDepth = 1_000;

/** Whether a text nests deeper than {@link maxDepth}. Brackets inside strings do not count. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
  }
  return false;
}

/** The place of the closing quote, or the end of the text. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at;
  }
  return text.length;
}

const endOfInput = 'unexpected end of JSON input';

class Bad extends Error {}

/**
 * The error of Go's decoder for a malformed JSON text. The text has one character per byte (latin1), as Go names bytes,
 * not characters.
 */
export function goJsonError(text: string): string {
  try {
    new Checker(text).check();
    return endOfInput;
  } catch (error) {
    if (error instanceof Bad) return error.message;
    throw error;
  }
}

class Checker {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  check(): void {
    this.#value();
    this.#blanks();
    if (this.#at < this.#text.length) throw this.#bad('after top-level value');
  }

  #value(): void {
    this.#blanks();
    const char = this.#peek();
    if (char === '{') this.#nested(() => this.#object());
    else if (char === '[') this.#nested(() => this.#array());
    else if (char === '"') this.#string();
    else if (char === 't') this.#literal('true');
    else if (char === 'f') this.#literal('false');
    else if (char === 'n') this.#literal('null');
    else if (char === '-' || isDigit(char)) this.#number();
    else throw this.#bad('looking for beginning of value');
  }

  #nested(read: () => void): void {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw this.#bad('exceeded max depth');
    this.#at += 1;
    read();
    this.#depth -= 1;
  }

  #object(): void {
    this.#blanks();
    if (this.#take('}')) return;
    for (;;) {
      this.#blanks();
      if (this.#peek() !== '"') throw this.#bad('looking for beginning of object key string');
      this.#string();
      this.#blanks();
      if (!this.#take(':')) throw this.#bad('after object key');
      this.#value();
      this.#blanks();
      if (this.#take('}')) return;
      if (!this.#take(',')) throw this.#bad('after object key:value pair');
    }
  }

  #array(): void {
    this.#blanks();
    if (this.#take(']')) return;
    for (;;) {
      this.#value();
      this.#blanks();
      if (this.#take(']')) return;
      if (!this.#take(',')) throw this.#bad('after array element');
    }
  }

  #string(): void {
    this.#at += 1;
    for (;;) {
      const char = this.#peek();
      if (char < ' ') throw this.#bad('in string literal');
      this.#at += 1;
      if (char === '"') return;
      if (char === '\\') this.#escape();
    }
  }

  #escape(): void {
    const char = this.#peek();
    if (!'bfnrt\\/"u'.includes(char)) throw this.#bad('in string escape code');
    this.#at += 1;
    if (char !== 'u') return;
    for (let digit = 0; digit < 4; digit += 1) {
      if (!/[0-9a-fA-F]/.test(this.#peek())) throw this.#bad('in \\u hexadecimal character escape');
      this.#at += 1;
    }
  }

  #literal(word: string): void {
    for (const expected of word) {
      // The end of the text reads as a blank here, as it does in Go.
      const char = this.#text[this.#at] ?? ' ';
      if (char !== expected) throw bad(char, `in literal ${word} (expecting '${expected}')`);
      this.#at += 1;
    }
  }

  #number(): void {
    this.#take('-');
    if (!this.#take('0')) this.#digits('in numeric literal');
    if (this.#take('.')) this.#digits('after decimal point in numeric literal');
    if (this.#take('e') || this.#take('E')) {
      if (!this.#take('+')) this.#take('-');
      this.#digits('in exponent of numeric literal');
    }
  }

  #digits(where: string): void {
    if (!isDigit(this.#text[this.#at] ?? ' ')) throw bad(this.#text[this.#at] ?? ' ', where);
    while (isDigit(this.#text[this.#at] ?? ' ')) this.#at += 1;
  }

  #blanks(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'x')) this.#at += 1;
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #peek(): string {
    const char = this.#text[this.#at];
    if (char === undefined) throw new Bad(endOfInput);
    return char;
  }

  #bad(where: string): Bad {
    return bad(this.#peek(), where);
  }
}

function bad(char: string, where: string): Bad {
  return new Bad(`invalid character ${goQuote(char, "'")} ${where}`);
}

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9';
}
