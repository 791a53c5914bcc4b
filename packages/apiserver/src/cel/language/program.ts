import { callCost } from './call-cost.js';
import { CelError, CostLimitError, noSuchOverload } from './cel-error.js';
import type { CallNode, Constant, Expression, LoopNode, SelectNode, StructNode } from './expression.js';
import type { Overload } from './overload.js';
import { isDynamic } from './type-bindings.js';
import { isList, isMapping, isOfType, list, mapping, Optional, typeNameOf, Uint, type Value } from './value.js';

/** The cost of one evaluation so far. */
class Meter {
  cost = 0;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(cost: number): void {
    this.cost += cost;
    if (this.cost > this.#limit) throw new CostLimitError();
  }
}

interface Frame {
  readonly meter: Meter;
  readonly values: ReadonlyMap<string, Value | CelError>;
}

type Step = (frame: Frame) => Value;

/** The result of an expression, or its error, and its cost. */
export type Outcome =
  | { readonly cost: number; readonly value: Value }
  | { readonly cost: number; readonly error: CelError | CostLimitError };

/** An expression, ready to be computed many times. */
export class Program {
  readonly #run: Step;

  /** The expression has been checked. Names of types have their values in `names`. */
  constructor(expression: Expression, names: ReadonlyMap<string, Value>) {
    this.#run = new Planner(names).plan(expression);
  }

  /** Never throws for what an expression does. */
  run(values: ReadonlyMap<string, Value>, costLimit: number): Outcome {
    const meter = new Meter(costLimit);
    try {
      const value = this.#run({ meter, values });
      return { cost: meter.cost, value };
    } catch (error) {
      if (error instanceof CelError || error instanceof CostLimitError) return { cost: meter.cost, error };
      throw error;
    }
  }
}

class Planner {
  readonly #names: ReadonlyMap<string, Value>;

  constructor(names: ReadonlyMap<string, Value>) {
    this.#names = names;
  }

  plan(expression: Expression): Step {
    switch (expression.op) {
      case 'constant': {
        const value = constantValue(expression.value);
        return () => value;
      }
      case 'name':
        return this.#name(expression.name);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list': {
        const items = expression.items.map((item) => this.plan(item));
        const { optional } = expression;
        return (frame) => {
          const made: Value[] = [];
          for (const [index, item] of items.entries()) {
            const value = item(frame);
            if (!optional.has(index)) made.push(value);
            else if (optionalOf(value).value !== undefined) made.push(optionalOf(value).value as Value);
          }
          frame.meter.add(10);
          return list(made);
        };
      }
      case 'map': {
        const entries = expression.entries.map(({ key, value, optional }) => ({
          key: this.plan(key),
          value: this.plan(value),
          optional,
        }));
        return (frame) => {
          const made: [Value, Value][] = [];
          for (const { key, value, optional } of entries) {
            const entry: [Value, Value] = [key(frame), value(frame)];
            if (!optional) made.push(entry);
            else if (optionalOf(entry[1]).value !== undefined)
              made.push([entry[0], optionalOf(entry[1]).value as Value]);
          }
          frame.meter.add(30);
          return mapping(made);
        };
      }
      case 'struct':
        return this.#struct(expression);
      case 'loop':
        return this.#loop(expression);
    }
  }

  #struct({ name, make, fields }: StructNode): Step {
    if (make === undefined) throw new Error(`the checker has not found the message ${name}`);
    const steps = fields.map(({ name: field, value, optional }) => ({ field, value: this.plan(value), optional }));
    return (frame) => {
      const made = new Map<string, Value>();
      for (const { field, value, optional } of steps) {
        const given = value(frame);
        const own = optional ? optionalOf(given).value : given;
        if (own !== undefined) made.set(field, own);
      }
      frame.meter.add(40);
      return make(made);
    };
  }

  #name(full: string): Step {
    const name = full.replace(/^\./, '');
    const constant = this.#names.get(name);
    return (frame) => {
      frame.meter.add(1);
      const own: Value | CelError | undefined = frame.values.get(name);
      const value = own === undefined ? constant : own;
      if (value === undefined) throw new CelError(`no such attribute(s): ${name}`);
      // The accumulator of a loop may be an error.
      if (value instanceof CelError) throw value;
      return value;
    };
  }

  #select(node: SelectNode): Step {
    if (node.qualified !== undefined) return this.#name(node.qualified);
    const of = this.plan(node.of);
    const { field, test } = node;
    if (test) return (frame) => isPresent(of(frame), field);
    return (frame) => {
      const target = of(frame);
      frame.meter.add(1);
      if (target instanceof Optional) {
        return new Optional(target.value === undefined ? undefined : memberOf(target.value, field));
      }
      const value = memberOf(target, field);
      if (value === undefined) throw new CelError(`no such key: ${field}`);
      return value;
    };
  }

  #call(node: CallNode): Step {
    const args = (node.target === undefined ? node.args : [node.target, ...node.args]).map((arg) => this.plan(arg));
    const [first, second, third] = args as [Step, Step, Step];
    switch (node.name) {
      case '_&&_':
        return logical(first, second, false);
      case '_||_':
        return logical(first, second, true);
      case '_?_:_':
        return (frame) => {
          const condition = first(frame);
          if (typeof condition !== 'boolean') throw noSuchOverload();
          return condition ? second(frame) : third(frame);
        };
      case '@not_strictly_false':
        return (frame) => {
          const value = attempt(first, frame);
          frame.meter.add(1);
          return value !== false;
        };
      case '_?._':
      case '_[?_]':
        return (frame) => {
          const of = first(frame);
          const key = second(frame);
          frame.meter.add(1);
          const target = of instanceof Optional ? of.value : of;
          return new Optional(target === undefined ? undefined : elementOf(target, key, true));
        };
      case 'orValue':
      case 'or':
        return (frame) => {
          const value = optionalOf(first(frame));
          if (value.value !== undefined) return node.name === 'or' ? value : value.value;
          return second(frame);
        };
      case '_[_]':
        return (frame) => {
          const of = first(frame);
          const key = second(frame);
          frame.meter.add(1);
          if (of instanceof Optional) {
            return new Optional(of.value === undefined ? undefined : elementOf(of.value, key, true));
          }
          return elementOf(of, key, false) as Value;
        };
      default:
        return this.#function(node, args);
    }
  }

  #function(node: CallNode, args: readonly Step[]): Step {
    const { name } = node;
    const overloads = node.overloads ?? [];
    const types = (node.target === undefined ? node.args : [node.target, ...node.args]).map((arg) => arg.type);
    const isSure = overloads.length === 1 && types.every((type) => type !== undefined && !mayVary(type));
    return (frame) => {
      const values = args.map((arg) => arg(frame));
      const overload = isSure ? (overloads[0] as Overload) : pick(name, overloads, values);
      const result = overload.call(...values);
      frame.meter.add(callCost(name, overload.id, values, result));
      return result;
    };
  }

  #loop(node: LoopNode): Step {
    const [range, init, condition, step, result] = [node.range, node.init, node.condition, node.step, node.result].map(
      (part) => this.plan(part),
    ) as [Step, Step, Step, Step, Step];
    return (frame) => {
      const over = range(frame);
      const values = new Map<string, Value | CelError>(frame.values);
      const inner = { meter: frame.meter, values };
      // An error is kept like a value: `all` and `exists` may find an answer in spite of it.
      let gathered = attempt(init, frame);
      const keep = (value: Value | CelError): void => {
        gathered = value;
        values.set(node.accumulator, value);
      };
      keep(gathered);
      for (const [key, value] of entriesOf(over)) {
        if (node.second === undefined) values.set(node.item, isList(over) ? value : key);
        else values.set(node.item, key).set(node.second, value);
        if (condition(inner) !== true) break;
        keep(attempt(step, inner));
      }
      return result(inner);
    };
  }
}

function mayVary(type: { readonly kind: string; readonly of?: unknown }): boolean {
  // Times in a namespace are declared as such, and are texts.
  return isDynamic(type as never) || type.kind === 'parameter' || type.kind === 'timestamp';
}

/** The form of a function that takes these values. */
function pick(name: string, overloads: readonly Overload[], values: readonly Value[]): Overload {
  const found = overloads.find(
    ({ args }) => args.length === values.length && args.every((type, index) => isOfType(values[index] as Value, type)),
  );
  if (found !== undefined) return found;
  const isOperator = /^[_!@-]/.test(name);
  throw noSuchOverload(isOperator ? undefined : name);
}

function logical(first: Step, second: Step, decides: boolean): Step {
  return (frame) => {
    const left = attempt(first, frame);
    if (left === decides) return decides;
    const right = attempt(second, frame);
    if (right === decides) return decides;
    if (left instanceof CelError) throw left;
    if (right instanceof CelError) throw right;
    if (typeof left !== 'boolean' || typeof right !== 'boolean') throw noSuchOverload();
    return !decides;
  };
}

/** The value, or the error as a value. */
function attempt(step: Step, frame: Frame): Value | CelError {
  try {
    return step(frame);
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

function entriesOf(over: Value): Iterable<readonly [Value, Value]> {
  if (isList(over)) return Array.from({ length: over.size }, (_, index) => [BigInt(index), over.at(index)] as const);
  if (isMapping(over)) return over.keys().map((key) => [key, over.get(key) as Value] as const);
  throw noSuchOverload();
}

function memberOf(of: Value, field: string): Value | undefined {
  if (isMapping(of)) return of.get(field);
  if (of instanceof Optional) return of.value === undefined ? undefined : memberOf(of.value, field);
  if (isList(of)) throw new CelError("unsupported index type 'string' in list");
  return undefined;
}

function isPresent(of: Value, field: string): boolean {
  const value = memberOf(of, field);
  return value !== undefined && (value !== null || (isMapping(of) && of.countsNull === true));
}

function elementOf(of: Value, key: Value, lenient: boolean): Value | undefined {
  if (isMapping(of)) {
    const value = of.get(key);
    if (value === undefined && !lenient) throw new CelError(`no such key: ${String(key)}`);
    return value;
  }
  if (!isList(of)) throw noSuchOverload();
  const index = key instanceof Uint ? key.value : key;
  if (typeof index !== 'bigint' && !(typeof index === 'number' && Number.isInteger(index))) {
    throw new CelError(`unsupported index type '${typeNameOf(key)}' in list`);
  }
  if (index >= 0 && index < of.size) return of.at(Number(index));
  if (lenient) return undefined;
  throw new CelError(`index out of bounds: ${index}`);
}

function optionalOf(value: Value): Optional {
  if (value instanceof Optional) return value;
  throw noSuchOverload();
}

function constantValue(constant: Constant): Value {
  return typeof constant === 'object' && constant !== null && 'uint' in constant ? new Uint(constant.uint) : constant;
}
