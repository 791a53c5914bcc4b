import type { Steps } from '../../steps.js';
import { CompileError, type Complaint } from './cel-error.js';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  parameter,
  sameType,
  stringType,
  uintType,
} from './cel-type.js';
import type { CallNode, Constant, Expression, LoopNode, MakeStruct, SelectNode, StructNode } from './expression.js';
import type { Functions, Overload } from './overload.js';
import { assignAll, Bindings, isDynamic, renamed, signatureOf, substitute } from './type-bindings.js';

/** The names that an expression may use. */
export interface Scope {
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: Functions;
  /** The messages that it may make, by name. @default none */
  readonly structs?: (name: string) => StructType | undefined;
}

/** A message that an expression may make. */
export interface StructType {
  readonly type: Extract<CelType, { kind: 'object' }>;
  readonly make: MakeStruct;
  /** Whether a field that it does not have is called one of no type, as upstream does for some. @default false */
  readonly takesNoOther?: boolean;
}

/** Finds the type of an expression and of every part of it, and which forms of functions it calls. */
export function* checkExpression(expression: Expression, scope: Scope, source: string): Steps<CelType> {
  const checker = new Checker(scope);
  const type = checker.check(expression);
  // Mixed element types are reported only if there is no other error.
  const complaints = checker.complaints.length > 0 ? checker.complaints : checker.mixed();
  if (complaints.length > 0) throw new CompileError(source, complaints);
  yield;
  checker.finish();
  return substitute(checker.bindings, type, true);
}

/** An element of a list or map. */
interface Element {
  readonly at: number;
  readonly type: CelType;
}

class Checker {
  readonly #functions: Functions;
  readonly #structs: NonNullable<Scope['structs']>;
  readonly #checked: Expression[] = [];
  #variables: ReadonlyMap<string, CelType>;
  #fresh = 0;
  /** Inside the arguments of `format`, which may be of any types. */
  #formats = false;
  readonly bindings = new Bindings();
  readonly complaints: Complaint[] = [];
  /** The elements of each list, and the keys and values of each map, that have to be of one type. */
  readonly #aggregates: { readonly items: readonly Element[]; readonly all: boolean }[] = [];

  constructor({ variables, functions, structs = () => undefined }: Scope) {
    this.#variables = variables;
    this.#functions = functions;
    this.#structs = structs;
  }

  check(expression: Expression): CelType {
    const type = this.#typeOf(expression);
    expression.type = type;
    this.#checked.push(expression);
    return type;
  }

  /** Puts what was found out later into the types of all parts. */
  finish(): void {
    for (const expression of this.#checked) {
      if (expression.type) expression.type = substitute(this.bindings, expression.type, true);
    }
  }

  /**
   * Lists and maps whose elements are not of the type of the first; any type is one of its own here
   * (`ValidateHomogeneousAggregateLiterals`).
   */
  mixed(): readonly Complaint[] {
    return this.#aggregates.flatMap(({ items: [first, ...others], all }) => {
      if (first === undefined) return [];
      const wanted = substitute(this.bindings, first.type, true);
      const wrong = others.filter(({ type }) => !sameType(wanted, substitute(this.bindings, type, true)));
      return (all ? wrong : wrong.slice(0, 1)).map(({ at, type }) => {
        return { at, message: `expected type '${formatType(wanted)}' but found '${this.#show(type)}'` };
      });
    });
  }

  #typeOf(expression: Expression): CelType {
    switch (expression.op) {
      case 'constant':
        return typeOfConstant(expression.value);
      case 'name':
        return this.#variable(expression.name) ?? this.#undeclared(expression.at, expression.name);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return listOf(
          this.#joined(
            expression.items.map((item, index) => {
              return { at: item.at, type: this.#unwrapped(item, expression.optional.has(index)) };
            }),
            false,
          ),
        );
      case 'map': {
        const entries = expression.entries.map(({ key, value, optional }) => ({
          key: { at: key.at, type: this.check(key) },
          value: { at: value.at, type: this.#unwrapped(value, optional) },
        }));
        const keys = entries.map(({ key }) => key);
        const values = entries.map(({ value }) => value);
        return mapOf(this.#joined(keys, true), this.#joined(values, true));
      }
      case 'struct':
        return this.#struct(expression);
      case 'loop':
        return this.#loop(expression);
    }
  }

  #struct(node: StructNode): CelType {
    const found = this.#structs(node.name.replace(/^\./, ''));
    const other = found === undefined ? this.#variable(node.name) : undefined;
    if (found !== undefined) node.make = found.make;
    else if (other?.kind === 'type') this.#complain(node.at, `'${formatType(other.of)}' is not a message type`);
    else this.#undeclared(node.at, node.name);
    const type = found?.type ?? other;
    for (const { name, value, optional, at } of node.fields) {
      const given = this.#unwrapped(value, optional);
      if (type === undefined) continue;
      const expected = type.kind === 'object' ? fieldType(type, name) : undefined;
      if (expected === undefined && found?.takesNoOther !== true) this.#complain(at, `undefined field '${name}'`);
      else if (expected === undefined || !this.#fits(expected, given)) {
        const types = `'${expected === undefined ? '' : this.#show(expected)}' but provided type is '${this.#show(given)}'`;
        this.#complain(at, `expected type of field '${name}' is ${types}`);
      }
    }
    return found?.type ?? errorType;
  }

  #variable(name: string): CelType | undefined {
    return this.#variables.get(name.replace(/^\./, ''));
  }

  #undeclared(at: number, name: string): CelType {
    return this.#complain(at, `undeclared reference to '${name.replace(/^\./, '')}' (in container '')`);
  }

  #complain(at: number, message: string): CelType {
    this.complaints.push({ at, message });
    return errorType;
  }

  #open(): CelType {
    this.#fresh += 1;
    return parameter(`_var${this.#fresh}`);
  }

  #fits(to: CelType, from: CelType): boolean {
    return assignAll(this.bindings, [to], [from]);
  }

  #mismatch(at: number, expected: CelType, got: CelType): CelType {
    return this.#complain(at, `expected type '${this.#show(expected)}' but found '${this.#show(got)}'`);
  }

  #show(type: CelType): string {
    return formatType(substitute(this.bindings, type));
  }

  /** The type of an element, without the wrapping of one that is written as `?x`. */
  #unwrapped(item: Expression, isOptional: boolean): CelType {
    const type = this.check(item);
    if (!isOptional) return type;
    const inner = substitute(this.bindings, type);
    if (inner.kind === 'optional') return inner.of;
    if (!isDynamic(inner)) this.#mismatch(item.at, optionalOf(inner), inner);
    return inner;
  }

  /** The type of all elements together; `all`: whether every one that does not fit is complained about. */
  #joined(items: readonly Element[], all: boolean): CelType {
    if (!this.#formats) this.#aggregates.push({ items, all });
    let joined: CelType | undefined;
    for (const { type } of items) {
      if (joined === undefined) joined = type;
      else if (!this.#fits(joined, type)) joined = dynType;
      else if (isDynamic(type)) joined = type;
    }
    return joined ?? this.#open();
  }

  #select(node: SelectNode): CelType {
    const name = qualifiedName(node);
    const known = name === undefined ? undefined : this.#variable(name);
    if (known !== undefined && name !== undefined && !node.test) {
      node.qualified = name;
      return known;
    }
    const type = this.#field(node.at, this.check(node.of), node.field);
    return node.test ? boolType : type;
  }

  #field(at: number, of: CelType, field: string): CelType {
    const whole = substitute(this.bindings, of);
    const target = whole.kind === 'optional' ? whole.of : whole;
    const type = this.#fieldOf(at, target, field);
    return whole.kind === 'optional' ? optionalOf(type) : type;
  }

  #fieldOf(at: number, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.of;
      case 'object':
        return fieldType(target, field) ?? this.#complain(at, `undefined field '${field}'`);
      case 'opaque':
        return this.#complain(at, `unexpected failed resolution of '${target.name}'`);
      case 'parameter':
        this.#fits(dynType, target);
        return dynType;
      default:
        if (!isDynamic(target)) this.#complain(at, `type '${formatType(target)}' does not support field selection`);
        return dynType;
    }
  }

  #call(node: CallNode): CelType {
    if (node.name === '_?._') return this.#optionalField(node);
    const outer = this.#formats;
    this.#formats ||= node.name === 'format';
    const args = node.args.map((arg) => this.check(arg));
    this.#formats = outer;
    if (node.target !== undefined) {
      const prefix = qualifiedName(node.target);
      const full = prefix === undefined ? undefined : `${prefix}.${node.name}`;
      if (full !== undefined && Object.hasOwn(this.#functions, full)) {
        node.name = full;
        node.target = undefined;
      } else args.unshift(this.check(node.target));
    } else node.name = node.name.replace(/^\./, '');
    if (!Object.hasOwn(this.#functions, node.name)) return this.#undeclared(node.at, node.name);
    if (node.name === '_&&_' || node.name === '_||_') return this.#logical(node, args);
    return this.#resolve(node, args);
  }

  #optionalField(node: CallNode): CelType {
    const [of, field] = node.args as readonly [Expression, Expression];
    const name = field.op === 'constant' ? String(field.value) : '';
    const type = this.#field(node.at, this.check(of), name);
    field.type = stringType;
    node.overloads = [];
    return type.kind === 'optional' ? type : optionalOf(type);
  }

  #logical(node: CallNode, args: readonly CelType[]): CelType {
    const wrong = args.flatMap((type, index) => (this.#fits(boolType, type) ? [] : [index]));
    for (const index of wrong) this.#mismatch(node.args[index]?.at ?? node.at, boolType, args[index] as CelType);
    node.overloads = this.#functions[node.name] ?? [];
    return wrong.length === 0 ? boolType : errorType;
  }

  #resolve(node: CallNode, args: readonly CelType[]): CelType {
    const fitting: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of this.#functions[node.name] ?? []) {
      if (overload.isMember !== (node.target !== undefined)) continue;
      this.#fresh += 1;
      const suffix = `#${this.#fresh}`;
      const expected = overload.args.map((type) => renamed(type, suffix));
      if (!assignAll(this.bindings, expected, args)) continue;
      fitting.push(overload);
      const own = substitute(this.bindings, renamed(overload.result, suffix));
      if (result === undefined) result = own;
      else if (!isDynamic(result) && !sameType(result, own)) result = dynType;
    }
    node.overloads = fitting;
    if (result !== undefined) return result;
    const shown = args.map((type) => substitute(this.bindings, type, true));
    const signature = signatureOf(shown, node.target !== undefined);
    return this.#complain(node.at, `found no matching overload for '${node.name}' applied to '${signature}'`);
  }

  #loop(node: LoopNode): CelType {
    const range = substitute(this.bindings, this.check(node.range));
    const gathered = this.check(node.init);
    const outer = this.#variables;
    const inLoop = new Map(outer).set(node.accumulator, gathered);
    this.#variables = inLoop;
    const [item, second] = this.#itemTypes(node, range);
    const inBody = new Map(inLoop).set(node.item, item);
    if (node.second !== undefined) inBody.set(node.second, second);
    this.#variables = inBody;
    this.#assert(node.condition, boolType);
    this.#assert(node.step, gathered);
    this.#variables = inLoop;
    const result = this.check(node.result);
    this.#variables = outer;
    return substitute(this.bindings, result);
  }

  #assert(expression: Expression, expected: CelType): void {
    const type = this.check(expression);
    if (!this.#fits(expected, type)) this.#mismatch(expression.at, expected, type);
  }

  #itemTypes(node: LoopNode, range: CelType): readonly [CelType, CelType] {
    switch (range.kind) {
      case 'list':
        return node.second === undefined ? [range.of, range.of] : [intType, range.of];
      case 'map':
        return [range.key, range.of];
      case 'dyn':
      case 'error':
      case 'parameter':
        this.#fits(dynType, range);
        return [dynType, dynType];
      default: {
        const message = `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`;
        return [this.#complain(node.range.at, message), errorType];
      }
    }
  }
}

function fieldType(of: Extract<CelType, { kind: 'object' }>, field: string): CelType | undefined {
  return of.fields.get(field) ?? (of.isOpen ? dynType : undefined);
}

/** `a.b.c` as one name; undefined for anything else. */
function qualifiedName(expression: Expression): string | undefined {
  if (expression.op === 'name') return expression.name;
  if (expression.op !== 'select' || expression.test) return undefined;
  const of = qualifiedName(expression.of);
  return of === undefined ? undefined : `${of}.${expression.field}`;
}

function typeOfConstant(value: Constant): CelType {
  switch (typeof value) {
    case 'string':
      return stringType;
    case 'number':
      return doubleType;
    case 'bigint':
      return intType;
    case 'boolean':
      return boolType;
    default:
      return value === null ? nullType : value instanceof Uint8Array ? bytesType : uintType;
  }
}
