import { labelValue, qualifiedName } from '../../schema/name-rules.js';
import { goQuote } from '../../status/go-quote.js';

class Odd extends Error {}

const symbols = /^(?:==|!=|[=!(),<>])/;
const word = /^[^ \t\r\n=!(),<>]+/;
const operators = ['in', 'notin', '=', '==', '!=', '>', '<'];

/** The error of kube-apiserver for a malformed label selector. */
export function labelSelectorError(text: string): string {
  try {
    new Reader(text).read();
  } catch (error) {
    if (error instanceof Odd) return error.message;
    throw error;
  }
  return `unable to parse requirement: ${goQuote(text)}`;
}

/** Goes through a selector as Go's parser does, and stops where that does. */
class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  read(): void {
    if (this.#next() === '') return;
    if (this.#next() !== '!' && !this.#isWord()) {
      throw new Odd(`found '${this.#next()}', expected: !, identifier, or 'end of string'`);
    }
    for (;;) {
      this.#requirement();
      if (this.#next() === '') return;
      if (this.#next() !== ',') throw new Odd(`found '${this.#next()}', expected: ',' or 'end of string'`);
      this.#at += 1;
      if (this.#next() !== '!' && !this.#isWord())
        throw new Odd(`found '${this.#next()}', expected: identifier after ','`);
    }
  }

  #requirement(): void {
    const exists = this.#take('!');
    if (!this.#isWord()) throw this.#odd(`found '${this.#next()}', expected: identifier`);
    const key = this.#next();
    this.#at += 1;
    // Go's parser does not say which field it means here.
    this.#check('<nil>', key, qualifiedName(key));
    if (exists || this.#next() === '' || this.#next() === ',') return;
    const operator = this.#next();
    if (!operators.includes(operator)) {
      throw this.#odd(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    this.#at += 1;
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    const problems = [...new Set(values)].sort().flatMap((value, i) => {
      const isNumber = (operator !== '>' && operator !== '<') || /^[+-]?\d+$/.test(value);
      const number = isNumber ? [] : ["for 'Gt', 'Lt' operators, the value must be an integer"];
      return [
        ...number.map((why) => `values[${i}]: Invalid value: ${goQuote(value)}: ${why}`),
        ...labelValue(value).map((why) => `values[${i}][${key}]: Invalid value: ${goQuote(value)}: ${why}`),
      ];
    });
    if (problems.length === 1) throw this.#odd(problems[0] ?? '');
    if (problems.length > 1) throw this.#odd(`[${problems.join(', ')}]`);
  }

  #values(): readonly string[] {
    const open = this.#next();
    if (!this.#take('(')) throw this.#odd(`found '${open}' expected: '('`);
    if (!this.#isWord() && this.#next() !== ',' && this.#next() !== ')') {
      throw this.#odd(`found '${this.#next()}', expected: ',', ')' or identifier`);
    }
    const values: string[] = [];
    for (;;) {
      if (this.#isWord()) {
        values.push(this.#next());
        this.#at += 1;
        if (this.#next() !== ',' && this.#next() !== ')')
          throw this.#odd(`found '${this.#next()}', expected: ',' or ')'`);
      } else if (this.#next() === ',' || this.#next() === ')') {
        values.push('');
      } else {
        throw this.#odd(`found '${this.#next()}', expected: ',', or identifier`);
      }
      if (this.#take(')')) return values;
      this.#at += 1;
    }
  }

  #value(): string {
    if (this.#next() === '' || this.#next() === ',') return '';
    if (!this.#isWord()) throw this.#odd(`found '${this.#next()}', expected: identifier`);
    this.#at += 1;
    return this.#tokens[this.#at - 1] ?? '';
  }

  #check(field: string, value: string, problems: readonly string[]): void {
    if (problems.length > 0) throw this.#odd(`${field}: Invalid value: ${goQuote(value)}: ${problems.join('; ')}`);
  }

  /** `''` at the end. */
  #next(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #isWord(): boolean {
    return this.#next() !== '' && !symbols.test(this.#next());
  }

  #take(symbol: string): boolean {
    if (this.#next() !== symbol) return false;
    this.#at += 1;
    return true;
  }

  #odd(why: string): Odd {
    return new Odd(`unable to parse requirement: ${why}`);
  }
}

function scan(text: string): string[] {
  const tokens: string[] = [];
  for (let rest = unblanked(text); rest !== ''; rest = unblanked(rest)) {
    const [token = rest] = symbols.exec(rest) ?? word.exec(rest) ?? [];
    tokens.push(token);
    rest = rest.slice(token.length);
  }
  return tokens;
}

/** Only these blanks count; others are part of a word. */
function unblanked(text: string): string {
  return text.replace(/^[ \t\r\n]+/, '');
}
