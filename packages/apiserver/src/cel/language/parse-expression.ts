import type { Steps } from '../../steps.js';
import { CompileError } from './cel-error.js';
import { type CallNode, type Expression, partsOf, type StructField } from './expression.js';
import { expandMacro, MacroError } from './macros.js';
import { type Token, Tokenizer } from './tokenizer.js';

/** Deeper than this, an expression is refused rather than followed. */
const maxDepth = 250;
/** The same for what is written without brackets: `1 + 1 + 1 + …`. */
const maxHeight = 1000;

const reserved: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

const relations: Readonly<Record<string, string>> = {
  '<': '_<_',
  '<=': '_<=_',
  '>': '_>_',
  '>=': '_>=_',
  '==': '_==_',
  '!=': '_!=_',
  in: '@in',
};
const sums: Readonly<Record<string, string>> = { '+': '_+_', '-': '_-_' };
const products: Readonly<Record<string, string>> = { '*': '_*_', '/': '_/_', '%': '_%_' };

const prefixes = [
  ['!', '!_'],
  ['-', '-_'],
] as const;

/** A longer text is not even read. */
const maxPoints = 100_000;

/** Reads an expression; macros are laid out. Throws a {@link CompileError}. */
export function* parseExpression(source: string): Steps<Expression> {
  if (source.length > maxPoints) {
    const size = [...source].length;
    const message = `expression code point size exceeds limit: size: ${size}, limit ${maxPoints}`;
    if (size > maxPoints) throw new CompileError(source, [{ at: -1, message }]);
  }
  const { tokens, complaint } = new Tokenizer(source).all();
  if (complaint !== undefined) throw new CompileError(source, [complaint]);
  yield;
  const expression = new Parser(source, tokens).whole();
  yield;
  if (isDeeper(expression, maxHeight)) {
    throw new CompileError(source, [{ at: 0, message: `expression recursion limit exceeded: ${maxHeight}` }]);
  }
  return expression;
}

/** Whether the tree is higher than it may be; found without going down into it. */
function isDeeper(expression: Expression, most: number): boolean {
  let level: readonly Expression[] = [expression];
  for (let height = 0; level.length > 0; height += 1) {
    if (height > most) return true;
    const below: Expression[] = [];
    for (const node of level) for (const part of partsOf(node)) below.push(part);
    level = below;
  }
  return false;
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(source: string, tokens: readonly Token[]) {
    this.#source = source;
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#expression();
    if (this.#token.kind !== 'end') this.#unexpected();
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #is(text: string): boolean {
    return this.#token.kind === 'sign' && this.#token.text === text;
  }

  #take(): Token {
    const token = this.#token;
    this.#next += 1;
    return token;
  }

  #accept(text: string): Token | undefined {
    return this.#is(text) ? this.#take() : undefined;
  }

  #expect(text: string): Token {
    return this.#accept(text) ?? this.#unexpected(`'${text}'`);
  }

  #unexpected(expected?: string): never {
    const { text, at } = this.#token;
    const message =
      expected === undefined
        ? `Syntax error: mismatched input '${text}' expecting <EOF>`
        : `Syntax error: mismatched input '${text}' expecting ${expected}`;
    this.#refuse(at, message);
  }

  #refuse(at: number, message: string): never {
    throw new CompileError(this.#source, [{ at, message }]);
  }

  #expression(): Expression {
    this.#depth += 1;
    if (this.#depth > maxDepth) {
      this.#refuse(this.#token.at, `expression recursion limit exceeded: ${maxDepth}`);
    }
    const condition = this.#either();
    const question = this.#accept('?');
    this.#depth -= 1;
    if (question === undefined) return condition;
    const yes = this.#either();
    this.#expect(':');
    const no = this.#expression();
    return call('_?_:_', question.at, [condition, yes, no]);
  }

  // Made once, as they are called for every operand.
  readonly #both = (): Expression => this.#chain('&&', '_&&_', this.#relation);
  readonly #relation = (): Expression => this.#leftToRight(relations, this.#sum);
  readonly #sum = (): Expression => this.#leftToRight(sums, this.#product);
  readonly #product = (): Expression => this.#leftToRight(products, this.#unary);
  readonly #unary = (): Expression => this.#signed();

  #either(): Expression {
    return this.#chain('||', '_||_', this.#both);
  }

  /** `a && b && c` as a tree that is not deep, as cel-go balances it. */
  #chain(sign: string, name: string, operand: () => Expression): Expression {
    const operands = [operand()];
    const places: number[] = [];
    for (let found = this.#accept(sign); found !== undefined; found = this.#accept(sign)) {
      places.push(found.at);
      operands.push(operand());
    }
    const balanced = (from: number, to: number): Expression => {
      if (from === to) return operands[from] as Expression;
      const middle = Math.floor((from + to - 1) / 2);
      return call(name, places[middle] as number, [balanced(from, middle), balanced(middle + 1, to)]);
    };
    return balanced(0, operands.length - 1);
  }

  #leftToRight(names: Readonly<Record<string, string>>, operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const { kind, text, at } = this.#token;
      if (kind !== 'sign' || !Object.hasOwn(names, text)) return left;
      this.#take();
      left = call(names[text] as string, at, [left, operand()]);
    }
  }

  #signed(): Expression {
    const { at } = this.#token;
    for (const [sign, name] of prefixes) {
      if (!this.#is(sign)) continue;
      let count = 0;
      while (this.#accept(sign)) count += 1;
      if (sign === '-') {
        const token = this.#token;
        // A minus is part of the number that it stands before.
        if (count % 2 === 1 && token.kind === 'constant' && isNumber(token.value)) {
          this.#take();
          return this.#members(this.#constant(token, true));
        }
      }
      const operand = this.#members(this.#primary());
      return count % 2 === 0 ? operand : call(name, at, [operand]);
    }
    return this.#members(this.#primary());
  }

  #members(start: Expression): Expression {
    let at = start;
    for (;;) {
      const dot = this.#accept('.');
      if (dot !== undefined) {
        const isOptional = this.#accept('?') !== undefined;
        at = this.#member(at, dot.at, isOptional);
        continue;
      }
      const bracket = this.#accept('[');
      if (bracket === undefined) return at;
      const isOptional = this.#accept('?') !== undefined;
      const index = this.#expression();
      this.#expect(']');
      at = call(isOptional ? '_[?_]' : '_[_]', bracket.at, [at, index]);
    }
  }

  #member(of: Expression, dot: number, isOptional: boolean): Expression {
    const token = this.#token;
    if (token.kind !== 'name') this.#unexpected('IDENTIFIER');
    this.#take();
    const open = token.quoted || isOptional ? undefined : this.#accept('(');
    if (open !== undefined) return this.#call(token.text, open.at, of);
    if (isOptional) {
      return call('_?._', dot, [of, { op: 'constant', value: token.text, at: token.at }]);
    }
    return { op: 'select', of, field: token.text, test: false, at: dot };
  }

  #call(name: string, at: number, target: Expression | undefined): Expression {
    const args = this.#list(')');
    try {
      return expandMacro(name, at, target, args) ?? { op: 'call', name, target, args, at };
    } catch (error) {
      if (error instanceof MacroError) this.#refuse(error.at, error.message);
      throw error;
    }
  }

  #list(close: string): Expression[] {
    const items: Expression[] = [];
    if (this.#accept(close)) return items;
    do {
      items.push(this.#expression());
    } while (this.#accept(','));
    this.#expect(close);
    return items;
  }

  #primary(): Expression {
    const token = this.#token;
    if (token.kind === 'constant') {
      this.#take();
      return this.#constant(token, false);
    }
    if (this.#accept('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#accept('[')) return this.#listLiteral(token.at);
    if (this.#accept('{')) return this.#mapLiteral(token.at);
    const leadingDot = this.#accept('.') !== undefined;
    const name = this.#token;
    if (name.kind !== 'name' || name.quoted) {
      this.#unexpected(
        "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
      );
    }
    this.#take();
    if (reserved.has(name.text)) this.#refuse(name.at, `reserved identifier: ${name.text}`);
    const open = this.#accept('(');
    const text = leadingDot ? `.${name.text}` : name.text;
    if (open !== undefined) return this.#call(text, open.at, undefined);
    const typeName = this.#typeName(text);
    if (typeName !== undefined) return this.#struct(typeName);
    return { op: 'name', name: text, at: name.at };
  }

  /** The name of a message that begins here: `a.b.c` with a brace behind it. */
  #typeName(first: string): string | undefined {
    let [at, name] = [this.#next, first];
    const isSign = (text: string) => this.#tokens[at]?.kind === 'sign' && this.#tokens[at]?.text === text;
    while (isSign('.') && this.#tokens[at + 1]?.kind === 'name') {
      name += `.${this.#tokens[at + 1]?.text}`;
      at += 2;
    }
    if (!isSign('{')) return undefined;
    this.#next = at;
    return name;
  }

  #struct(name: string): Expression {
    const { at } = this.#take();
    const fields: StructField[] = [];
    while (!this.#is('}')) {
      const optional = this.#accept('?') !== undefined;
      const field = this.#token;
      if (field.kind !== 'name') this.#unexpected("{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}");
      this.#take();
      const colon = this.#expect(':');
      fields.push({ name: field.text, value: this.#expression(), optional, at: colon.at });
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return { op: 'struct', name, fields, at };
  }

  #constant(token: Extract<Token, { kind: 'constant' }>, isNegative: boolean): Expression {
    const { at } = token;
    let { value } = token;
    if (isNegative && (typeof value === 'number' || typeof value === 'bigint')) value = -value;
    if (typeof value === 'bigint' && (value > 0x7fff_ffff_ffff_ffffn || value < -0x8000_0000_0000_0000n)) {
      this.#refuse(at, 'invalid int literal');
    }
    return { op: 'constant', value, at };
  }

  #listLiteral(at: number): Expression {
    const items: Expression[] = [];
    const optional = new Set<number>();
    while (!this.#is(']')) {
      if (this.#accept('?')) optional.add(items.length);
      items.push(this.#expression());
      if (!this.#accept(',')) break;
    }
    this.#expect(']');
    return { op: 'list', items, optional, at };
  }

  #mapLiteral(at: number): Expression {
    const entries: { key: Expression; value: Expression; optional: boolean }[] = [];
    while (!this.#is('}')) {
      const optional = this.#accept('?') !== undefined;
      const key = this.#expression();
      this.#expect(':');
      entries.push({ key, value: this.#expression(), optional });
      if (!this.#accept(',')) break;
    }
    this.#expect('}');
    return { op: 'map', entries, at };
  }
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}

function call(name: string, at: number, args: readonly Expression[]): CallNode {
  return { op: 'call', name, target: undefined, args, at };
}
