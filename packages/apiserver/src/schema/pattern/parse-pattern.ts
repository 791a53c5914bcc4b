import { anyButNewline, anyChar, type CharTest, charRange, not, oneOf, perlClass } from './char-test.js';
import { PatternError } from './pattern-error.js';
import { posixAt, readEscape, unicodeAt } from './pattern-escapes.js';
import { type Assertion, allOf, anyOf, heightOf, type PatternNode } from './pattern-node.js';

const maxHeight = 1000;
const maxRepeat = 1000;

interface Flags {
  readonly fold: boolean;
  readonly lines: boolean;
  readonly dotAll: boolean;
}

/** A parenthesis that is open. */
interface Frame {
  readonly done: PatternNode[];
  current: PatternNode[];
  readonly flags: Flags;
  readonly captures: boolean;
}

const assertions: Readonly<Record<string, Assertion>> = {
  A: 'text-begin',
  z: 'text-end',
  b: 'word-edge',
  B: 'no-word-edge',
};

/** Reads a regular expression in Go's syntax (RE2). Throws a {@link PatternError} with the words of Go's parser. */
export function parsePattern(source: string): PatternNode {
  return new PatternParser(source).parse();
}

class PatternParser {
  readonly #source: string;
  readonly #stack: Frame[] = [];
  #at = 0;
  #flags: Flags = { fold: false, lines: false, dotAll: false };
  #frame: Frame = frame(this.#flags, false);
  /** Where the repetition right before this place begins. */
  #lastRepeat: number | undefined;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): PatternNode {
    while (this.#at < this.#source.length) {
      this.#lastRepeat = this.#one();
    }
    if (this.#stack.length > 0) throw new PatternError('missing closing )', this.#source);
    return this.#closed(this.#frame);
  }

  /** Reads one thing; where that is a repetition, gives its place. */
  #one(): number | undefined {
    const start = this.#at;
    const char = this.#source[start] as string;
    switch (char) {
      case '(':
        this.#open();
        return undefined;
      case ')':
        this.#close();
        return undefined;
      case '|':
        this.#frame.done.push(allOf(this.#frame.current));
        this.#frame.current = [];
        break;
      case '^':
        this.#assert(this.#flags.lines ? 'line-begin' : 'text-begin');
        break;
      case '$':
        this.#assert(this.#flags.lines ? 'line-end' : 'text-end');
        break;
      case '.':
        this.#push(this.#flags.dotAll ? anyChar : anyButNewline);
        break;
      case '[':
        this.#class();
        return undefined;
      case '*':
      case '+':
      case '?':
        this.#at += 1;
        this.#repeat(start, char === '+' ? 1 : 0, char === '?' ? 1 : undefined);
        return start;
      case '{':
        return this.#counted();
      case '\\':
        this.#escape();
        return undefined;
      default:
        this.#literal();
        return undefined;
    }
    this.#at += 1;
    return undefined;
  }

  #push(test: CharTest): void {
    this.#frame.current.push({ op: 'char', test });
  }

  #assert(what: Assertion): void {
    this.#frame.current.push({ op: 'assert', what });
  }

  #literal(): void {
    const code = this.#source.codePointAt(this.#at) as number;
    this.#at += code > 0xffff ? 2 : 1;
    this.#push(charRange(code, code, this.#flags.fold));
  }

  #open(): void {
    if (this.#source[this.#at + 1] === '?') {
      this.#openSpecial();
      return;
    }
    this.#at += 1;
    this.#down(true);
  }

  #down(captures: boolean, flags = this.#flags): void {
    this.#stack.push(this.#frame);
    this.#frame = frame(this.#flags, captures);
    this.#flags = flags;
  }

  /** A group with a name, without one, or a change of flags. */
  #openSpecial(): void {
    const rest = this.#source.slice(this.#at);
    if (/^\(\?(P<.|<.)/su.test(rest)) {
      const end = rest.indexOf('>');
      if (end < 0) throw new PatternError('invalid named capture', rest);
      const head = rest.slice(0, end + 1);
      if (!/^\(\?P?<\w+>$/.test(head)) throw new PatternError('invalid named capture', head);
      this.#at += head.length;
      this.#down(true);
      return;
    }
    const [head = ''] = /^\(\?[imsU]*(-[imsU]+)?[:)]/.exec(rest) ?? [];
    if (head === '') throw new PatternError('invalid or unsupported Perl syntax', wrongFlags(rest));
    const [on = '', off = ''] = head.slice(2, -1).split('-');
    const is = (flag: string, before: boolean) => (before || on.includes(flag)) && !off.includes(flag);
    const { fold, lines, dotAll } = this.#flags;
    const flags = { fold: is('i', fold), lines: is('m', lines), dotAll: is('s', dotAll) };
    this.#at += head.length;
    if (head.endsWith(':')) this.#down(false, flags);
    else this.#flags = flags;
  }

  #close(): void {
    const outer = this.#stack.pop();
    if (outer === undefined) throw new PatternError('unexpected )', this.#source);
    const inner = this.#frame;
    this.#frame = outer;
    this.#flags = inner.flags;
    this.#at += 1;
    this.#frame.current.push(this.#closed(inner));
  }

  #closed({ done, current, captures }: Frame): PatternNode {
    const whole = anyOf([...done, allOf(current)]);
    return this.#limited(captures ? { op: 'repeat', part: whole, min: 1, max: 1, height: heightOf(whole) + 1 } : whole);
  }

  #limited(node: PatternNode): PatternNode {
    if (heightOf(node) > maxHeight) throw new PatternError('expression nests too deeply', this.#source);
    return node;
  }

  #counted(): number | undefined {
    const start = this.#at;
    const [whole = '', min = '', comma, max = ''] =
      /^\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}/.exec(this.#source.slice(start)) ?? [];
    if (whole === '') {
      this.#literal();
      return undefined;
    }
    this.#at += whole.length;
    const least = Number(min);
    const most = comma === undefined ? least : max === '' ? undefined : Number(max);
    if (least > maxRepeat || (most !== undefined && (most > maxRepeat || least > most))) {
      throw new PatternError('invalid repeat count', whole);
    }
    this.#repeat(start, least, most, true);
    return start;
  }

  #repeat(start: number, min: number, max: number | undefined, counted = false): void {
    const lazy = this.#source[this.#at] === '?';
    if (lazy) this.#at += 1;
    const text = (from: number) => this.#source.slice(from, this.#at);
    if (this.#lastRepeat !== undefined) {
      throw new PatternError('invalid nested repetition operator', text(this.#lastRepeat));
    }
    const part = this.#frame.current.pop();
    if (part === undefined) throw new PatternError('missing argument to repetition operator', text(start));
    const node = this.#limited({ op: 'repeat', part, min, max, lazy, height: heightOf(part) + 1 });
    if (counted && (min >= 2 || (max ?? 0) >= 2) && !fitsRepeats(node, maxRepeat)) {
      throw new PatternError('invalid repeat count', text(start));
    }
    this.#frame.current.push(node);
  }

  #escape(): void {
    const letter = this.#source[this.#at + 1] ?? '';
    const assertion = Object.hasOwn(assertions, letter) ? assertions[letter] : undefined;
    if (assertion !== undefined) {
      this.#at += 2;
      this.#assert(assertion);
    } else if (letter === 'C') {
      throw new PatternError('invalid escape sequence', '\\C');
    } else if (letter === 'Q') {
      this.#quoted();
    } else {
      const { test, end } = this.#special(this.#at) ?? this.#escapedChar(this.#at);
      this.#at = end;
      this.#push(test);
    }
  }

  #escapedChar(at: number): { readonly test: CharTest; readonly end: number } {
    const { code, end } = readEscape(this.#source, at);
    return { test: charRange(code, code, this.#flags.fold), end };
  }

  /** `\Q…\E`: everything between stands for itself. */
  #quoted(): void {
    const start = this.#at + 2;
    const found = this.#source.indexOf('\\E', start);
    const end = found < 0 ? this.#source.length : found;
    this.#at = start;
    while (this.#at < end) this.#literal();
    this.#at = found < 0 ? end : end + 2;
  }

  /** A set of characters that an escape stands for, here or inside of brackets. */
  #special(at: number): { readonly test: CharTest; readonly end: number } | undefined {
    if (this.#source[at] !== '\\') return undefined;
    const { fold } = this.#flags;
    const letter = this.#source[at + 1] ?? '';
    if (letter === 'p' || letter === 'P') return unicodeAt(this.#source, at, fold);
    const test = perlClass(letter, fold);
    return test && { test, end: at + 2 };
  }

  #class(): void {
    const source = this.#source;
    const start = this.#at;
    const { fold } = this.#flags;
    const tests: CharTest[] = [];
    let at = start + 1;
    const negated = source[at] === '^';
    if (negated) at += 1;
    const readChar = () => {
      if (at >= source.length) throw new PatternError('missing closing ]', source.slice(start));
      const code = source.codePointAt(at) as number;
      const read = source[at] === '\\' ? readEscape(source, at) : { code, end: at + (code > 0xffff ? 2 : 1) };
      at = read.end;
      return read.code;
    };
    for (let first = true; first || source[at] !== ']'; first = false) {
      const set = posixAt(source, at, fold) ?? this.#special(at);
      if (set !== undefined) {
        tests.push(set.test);
        at = set.end;
        continue;
      }
      const from = at;
      const low = readChar();
      let high = low;
      if (source[at] === '-' && at + 1 < source.length && source[at + 1] !== ']') {
        at += 1;
        high = readChar();
        if (high < low) throw new PatternError('invalid character class range', source.slice(from, at));
      }
      tests.push(charRange(low, high, fold));
    }
    this.#at = at + 1;
    this.#push(negated ? not(oneOf(tests)) : oneOf(tests));
  }
}

function frame(flags: Flags, captures: boolean): Frame {
  return { done: [], current: [], flags, captures };
}

/** Up to the first character that cannot be a flag, or that comes a second time where it may not. */
function wrongFlags(rest: string): string {
  return /^\(\?[imsU]*(-[imsU]*)?.?/su.exec(rest)?.[0] ?? rest;
}

/** Whether repetitions of repetitions stay within bounds. */
function fitsRepeats(node: PatternNode, left: number): boolean {
  if (node.op === 'char' || node.op === 'assert') return true;
  if (node.op !== 'repeat') return node.parts.every((part) => fitsRepeats(part, left));
  const isCounted = node.min > 1 || (node.max ?? 0) > 1;
  const most = isCounted ? (node.max ?? node.min) : 1;
  return most <= left && fitsRepeats(node.part, Math.floor(left / most));
}
