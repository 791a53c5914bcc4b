import type { Json } from 'riata/object';
import { stringEnd } from '../../schema/scan-members.js';
import { setMember } from '../../schema/structural/set-member.js';
import type { Steps } from '../../steps.js';

/** A shorter text is parsed in a millisecond or two. */
const longText = 128 * 1024;
/** How many values are read in about half a millisecond. */
const valuesAtOnce = 1024;

/** An open list or object. */
type Frame =
  | { readonly list: Json[] }
  | { readonly list?: undefined; readonly object: Record<string, Json>; key: string };

/** As `JSON.parse`, in steps. Takes no recursion, however deep the text is nested. Throws a `SyntaxError`. */
export function* parseJson(text: string): Steps<Json> {
  if (text.length < longText) return JSON.parse(text) as Json;
  return yield* new JsonText(text).parse();
}

class JsonText {
  readonly #text: string;
  readonly #blanks = /[ \t\n\r]*/y;
  readonly #scalars = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  *parse(): Steps<Json> {
    const stack: Frame[] = [];
    let read = 0;
    for (;;) {
      let value = this.#begin(stack);
      while (value !== undefined) {
        read += 1;
        if (read % valuesAtOnce === 0) yield;
        const top = stack.at(-1);
        if (top === undefined) {
          if (this.#next() !== '') this.#refuse();
          return value;
        }
        value = this.#put(top, value, stack);
      }
    }
  }

  /** The value that stands here; undefined if it is a list or an object that is only opened. */
  #begin(stack: Frame[]): Json | undefined {
    const sign = this.#next();
    if (sign === '{') {
      this.#at += 1;
      if (this.#accept('}')) return {};
      stack.push({ object: {}, key: this.#key() });
      return undefined;
    }
    if (sign === '[') {
      this.#at += 1;
      if (this.#accept(']')) return [];
      stack.push({ list: [] });
      return undefined;
    }
    return sign === '"' ? this.#string() : this.#scalar();
  }

  /** Adds a value to the list or object around it, and closes that if this was the last. */
  #put(top: Frame, value: Json, stack: Frame[]): Json | undefined {
    if (top.list !== undefined) top.list.push(value);
    else setMember(top.object, top.key, value);
    if (this.#accept(',')) {
      if (top.list === undefined) top.key = this.#key();
      return undefined;
    }
    if (!this.#accept(top.list === undefined ? '}' : ']')) this.#refuse();
    stack.pop();
    return top.list ?? top.object;
  }

  #key(): string {
    if (this.#next() !== '"') this.#refuse();
    const key = this.#string();
    if (!this.#accept(':')) this.#refuse();
    return key;
  }

  /** The next character that is no blank; empty at the end. */
  #next(): string {
    this.#blanks.lastIndex = this.#at;
    this.#blanks.test(this.#text);
    this.#at = this.#blanks.lastIndex;
    return this.#text.charAt(this.#at);
  }

  #accept(sign: string): boolean {
    if (this.#next() !== sign) return false;
    this.#at += 1;
    return true;
  }

  #string(): string {
    const end = stringEnd(this.#text, this.#at) + 1;
    const token = this.#text.slice(this.#at, end);
    this.#at = end;
    return JSON.parse(token) as string;
  }

  #scalar(): Json {
    this.#scalars.lastIndex = this.#at;
    if (!this.#scalars.test(this.#text)) this.#refuse();
    const token = this.#text.slice(this.#at, this.#scalars.lastIndex);
    this.#at = this.#scalars.lastIndex;
    return JSON.parse(token) as Json;
  }

  #refuse(): never {
    throw new SyntaxError(`no JSON at ${this.#at}`);
  }
}
