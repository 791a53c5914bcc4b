import { compareStrings } from '../compare-strings.js';
import { type LabelOperator, type LabelRequirement, labelRequirement } from './label-requirement.js';

interface Token {
  readonly type: 'word' | 'symbol' | 'end';
  readonly text: string;
  /** From 1, as editors count. */
  readonly column: number;
}

// A word is whatever holds neither blanks nor symbols; whether it is a good key or value is judged later.

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['in', 'in'],
  ['notin', 'notin'],
  ['>', 'gt'],
  ['<', 'lt'],
]);

/** The terms of a selector in the order they are written. The caller sorts. */
export function parseLabelRequirements(selector: string): LabelRequirement[] {
  return new Parser(selector).selector();
}

function scan(selector: string): Token[] {
  const scanner = /[ \t\r\n]+|(==|!=|[=!(),<>])|([^ \t\r\n=!(),<>]+)/y;
  const tokens: Token[] = [];
  while (scanner.lastIndex < selector.length) {
    const column = scanner.lastIndex + 1;
    const match = scanner.exec(selector);
    if (match?.[1]) tokens.push({ type: 'symbol', text: match[1], column });
    else if (match?.[2]) tokens.push({ type: 'word', text: match[2], column });
  }
  tokens.push({ type: 'end', text: '', column: selector.length + 1 });
  return tokens;
}

/** Recursive descent over the grammar that `labels.Parse` documents. `in` and `notin` are words where a word can stand. */
class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(source: string) {
    this.#source = source;
    this.#tokens = scan(source);
  }

  selector(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#next().type === 'end') return requirements;
    do requirements.push(this.#requirement());
    while (this.#take(','));
    if (this.#next().type !== 'end') throw this.#refuse('"," or the end');
    return requirements;
  }

  #requirement(): LabelRequirement {
    const negated = this.#take('!');
    if (this.#next().type !== 'word') throw this.#refuse(negated ? 'a key' : 'a key or "!"');
    const key = this.#word();
    if (negated) return this.#check(key, '!', []);
    if (this.#next().type === 'end' || this.#is(',')) return this.#check(key, 'exists', []);
    const operator = operators.get(this.#next().text);
    if (operator === undefined) throw this.#refuse('an operator: =, ==, !=, in, notin, > or <');
    this.#position++;
    const values = operator === 'in' || operator === 'notin' ? this.#set() : [this.#value()];
    return this.#check(key, operator, values);
  }

  /** `(a,,b)`: a place with nothing in it is the empty value, so `()` holds one. */
  #set(): string[] {
    if (!this.#take('(')) throw this.#refuse('"("');
    const values = new Set<string>();
    do {
      if (this.#next().type === 'word') values.add(this.#word());
      else if (this.#is(',') || this.#is(')')) values.add('');
      else throw this.#refuse('a value, "," or ")"');
    } while (this.#take(','));
    if (!this.#take(')')) throw this.#refuse('"," or ")"');
    return [...values].sort(compareStrings);
  }

  #value(): string {
    if (this.#next().type === 'end' || this.#is(',')) return '';
    if (this.#next().type !== 'word') throw this.#refuse('a value');
    return this.#word();
  }

  #check(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
    try {
      return labelRequirement(key, operator, values);
    } catch (cause) {
      throw new SyntaxError(`label selector ${JSON.stringify(this.#source)}: ${(cause as Error).message}`, { cause });
    }
  }

  #next(): Token {
    return this.#tokens[this.#position] as Token;
  }

  #word(): string {
    return (this.#tokens[this.#position++] as Token).text;
  }

  #is(symbol: string): boolean {
    return this.#next().type === 'symbol' && this.#next().text === symbol;
  }

  #take(symbol: string): boolean {
    if (!this.#is(symbol)) return false;
    this.#position++;
    return true;
  }

  #refuse(expected: string): SyntaxError {
    const { type, text, column } = this.#next();
    const found = type === 'end' ? 'the end' : JSON.stringify(text);
    return new SyntaxError(
      `label selector ${JSON.stringify(this.#source)}: expected ${expected} at column ${column}, found ${found}`,
    );
  }
}
