import type { CelType } from './cel-type.js';
import { add, type Estimate, fixed, multiply, union, unknown } from './estimate.js';
import { type CallEstimate, type CallSite, estimateCall } from './estimate-call.js';
import type { CallNode, Expression, ListNode, LoopNode, MapNode, SelectNode } from './expression.js';
import { countPoints } from './value.js';

/** How large the value at a path can be: `['self', 'spec', 'names', '@items']`; undefined if nothing is known. */
export type SizeOfPath = (path: readonly string[]) => number | undefined;

/** The sizes of the keys and values of a list or map that an expression makes. */
interface EntrySize {
  readonly container: 'list' | 'map';
  readonly key: Estimate;
  readonly value: Estimate;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Estimate | undefined;
  readonly entry: EntrySize | undefined;
}

/** The minimum and maximum cost of an expression, in cel-go's units, for any values. */
export function estimateCost(expression: Expression, sizeOfPath: SizeOfPath): Estimate {
  return new Estimator(sizeOfPath).cost(expression);
}

class Estimator {
  readonly #sizeOfPath: SizeOfPath;
  readonly #paths = new Map<Expression, readonly string[]>();
  readonly #sizes = new Map<Expression, Estimate>();
  readonly #entries = new Map<Expression, EntrySize>();
  readonly #locals = new Map<string, Local[]>();

  constructor(sizeOfPath: SizeOfPath) {
    this.#sizeOfPath = sizeOfPath;
  }

  cost(expression: Expression): Estimate {
    switch (expression.op) {
      case 'constant':
        return fixed(0);
      case 'name':
        this.#paths.set(expression, this.#local(expression.name)?.path ?? [expression.name]);
        return fixed(1);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'struct':
        return expression.fields.map(({ value }) => this.cost(value)).reduce(add, fixed(40));
      case 'loop':
        return isBind(expression) ? this.#bind(expression) : this.#loop(expression);
    }
  }

  #local(name: string): Local | undefined {
    return this.#locals.get(name)?.at(-1);
  }

  #push(name: string, local: Local): void {
    this.#locals.set(name, [...(this.#locals.get(name) ?? []), local]);
  }

  #pop(name: string): void {
    this.#locals.get(name)?.pop();
  }

  #path(expression: Expression): readonly string[] {
    if (expression.op === 'name') {
      const local = this.#local(expression.name);
      if (local !== undefined) return local.path;
    }
    return this.#paths.get(expression) ?? [];
  }

  #select(node: SelectNode): Estimate {
    if (node.qualified !== undefined) return fixed(1);
    const of = this.cost(node.of);
    // To ask whether something is there costs nothing.
    if (node.test) return of;
    this.#paths.set(node, [...this.#path(node.of), node.field]);
    const { kind } = node.of.type as CelType;
    return kind === 'map' || kind === 'object' || kind === 'parameter' ? add(of, fixed(1)) : of;
  }

  #list(node: ListNode): Estimate {
    const costs = node.items.map((item) => this.cost(item));
    const sizes = node.items.map((item) => this.#sizeOrUnknown(item));
    this.#entries.set(node, { container: 'list', key: fixed(1), value: sizes.reduce(union, sizes[0] ?? fixed(0)) });
    return costs.reduce(add, fixed(10));
  }

  #map(node: MapNode): Estimate {
    const parts = node.entries.flatMap(({ key, value }) => [key, value]);
    const costs = parts.map((part) => this.cost(part));
    const keys = node.entries.map(({ key }) => this.#sizeOrUnknown(key));
    const values = node.entries.map(({ value }) => this.#sizeOrUnknown(value));
    const entry = { key: keys.reduce(union, keys[0] ?? fixed(0)), value: values.reduce(union, values[0] ?? fixed(0)) };
    this.#entries.set(node, { container: 'map', ...entry });
    return costs.reduce(add, fixed(30));
  }

  #call(node: CallNode): Estimate {
    const { name, args, target } = node;
    if (name === 'dyn' && args[0] !== undefined) {
      const inner = this.cost(args[0]);
      this.#copySizes(node, args[0]);
      return add(fixed(1), inner);
    }
    const argCosts = args.map((arg) => this.cost(arg));
    const targetCost = target === undefined ? fixed(0) : this.cost(target);
    const own = this.#ownCost(node, argCosts);
    const size = own.size ?? this.#size(node);
    if (size !== undefined) this.#sizes.set(node, size);
    return add(targetCost, own.cost);
  }

  /** The cost of the call, its arguments included: over all overloads that it may have. */
  #ownCost(node: CallNode, argCosts: readonly Estimate[]): CallEstimate {
    const { name, args } = node;
    const [first, second, third] = argCosts as [Estimate, Estimate, Estimate];
    if (name === '_&&_' || name === '_||_') {
      return { cost: { min: first.min, max: add(first, second).max } };
    }
    if (name === '_?_:_') {
      const [, yes, no] = args as readonly [Expression, Expression, Expression];
      this.#joinEntries(node, yes, no);
      const size = union(this.#sizeOrUnknown(yes), this.#sizeOrUnknown(no));
      return { cost: add(first, union(second, third)), size };
    }
    if (name === '_[_]') {
      const of = args[0] as Expression;
      const isList = of.type?.kind === 'list';
      this.#paths.set(node, [...this.#path(of), isList ? '@items' : '@values']);
      const size = this.#entry(of)?.value;
      return { cost: argCosts.reduce(add, fixed(1)), ...(size && { size }) };
    }
    if (name === '_+_' && args.length === 2) this.#joinEntries(node, args[0] as Expression, args[1] as Expression);
    const site: CallSite = {
      name,
      args,
      target: node.target,
      sizeOf: (part) => this.#sizeOrUnknown(part),
      sizeOfItems: (part) => this.#sizeOfItems(part),
    };
    const ids = (node.overloads ?? []).map(({ id }) => id);
    const each = (ids.length === 0 ? ['none'] : ids).map((id) => estimateCall(site, id));
    const all = each.reduce((a, b) => ({
      cost: union(a.cost, b.cost),
      ...(a.size && b.size ? { size: union(a.size, b.size) } : { size: a.size ?? b.size }),
    }));
    return { ...all, cost: argCosts.reduce(add, all.cost) };
  }

  #joinEntries(node: Expression, a: Expression, b: Expression): void {
    const [x, y] = [this.#entry(a), this.#entry(b)];
    if (x === undefined || y === undefined) return;
    this.#entries.set(node, { container: x.container, key: union(x.key, y.key), value: union(x.value, y.value) });
  }

  #loop(node: LoopNode): Estimate {
    const before = add(this.cost(node.range), this.cost(node.init));
    this.#pushValue(node.accumulator, node.init);
    this.#pushItems(node);
    const each = add(this.cost(node.condition), this.cost(node.step));
    this.#pop(node.item);
    if (node.second !== undefined) this.#pop(node.second);
    const after = this.cost(node.result);
    this.#pop(node.accumulator);
    const count = this.#sizeOrUnknown(node.range);
    if (node.init.op === 'constant') this.#sizes.set(node, this.#sizeOrUnknown(node.init));
    else if (node.init.op === 'list' || node.init.op === 'map') {
      this.#sizes.set(node, count);
      const entry = this.#entry(node.step);
      if (entry !== undefined) this.#entries.set(node, entry);
    }
    return add(add(before, after), multiply(count, each));
  }

  #bind(node: LoopNode): Estimate {
    const before = add(this.cost(node.range), this.cost(node.init));
    this.#pushValue(node.accumulator, node.init);
    const body = this.cost(node.result);
    this.#pop(node.accumulator);
    this.#copySizes(node, node.result);
    return add(before, body);
  }

  #pushValue(name: string, value: Expression): void {
    this.#push(name, { path: this.#path(value), size: this.#size(value), entry: this.#entry(value) });
  }

  #pushItems({ range, item, second }: LoopNode): void {
    const entry = this.#entry(range);
    const isList = (entry?.container ?? range.type?.kind) === 'list';
    const path = this.#path(range);
    const keys: Local = { path: [...path, isList ? '@indices' : '@keys'], size: entry?.key, entry: undefined };
    const values: Local = { path: [...path, isList ? '@items' : '@values'], size: entry?.value, entry: undefined };
    this.#push(item, second === undefined && isList ? values : keys);
    if (second !== undefined) this.#push(second, values);
  }

  #copySizes(to: Expression, from: Expression): void {
    const size = this.#size(from);
    const entry = this.#entry(from);
    if (size !== undefined) this.#sizes.set(to, size);
    if (entry !== undefined) this.#entries.set(to, entry);
  }

  #entry(expression: Expression): EntrySize | undefined {
    const known = this.#entries.get(expression);
    if (known !== undefined || expression.op !== 'name') return known;
    return this.#local(expression.name)?.entry;
  }

  #sizeOrUnknown(expression: Expression): Estimate {
    return this.#size(expression) ?? unknown;
  }

  #size(expression: Expression): Estimate | undefined {
    const known = this.#sizes.get(expression) ?? sizeOfLiteral(expression);
    if (known !== undefined) return known;
    const path = this.#path(expression);
    const most = path.length === 0 ? undefined : this.#sizeOfPath(path);
    if (most !== undefined) return { min: 0, max: most };
    if (isScalar(expression.type)) return fixed(1);
    return expression.op === 'name' ? this.#local(expression.name)?.size : undefined;
  }

  /** The size of the elements of a list. */
  #sizeOfItems(list: Expression): Estimate {
    const path = this.#path(list);
    const most = path.length === 0 ? undefined : this.#sizeOfPath([...path, '@items']);
    return most === undefined ? unknown : { min: 0, max: most };
  }
}

function isBind({ range, condition, accumulator }: LoopNode): boolean {
  return (
    range.op === 'list' &&
    range.items.length === 0 &&
    condition.op === 'constant' &&
    condition.value === false &&
    accumulator !== '@result'
  );
}

function sizeOfLiteral(expression: Expression): Estimate | undefined {
  if (expression.op === 'list') return fixed(expression.items.length);
  if (expression.op === 'map') return fixed(expression.entries.length);
  if (expression.op !== 'constant') return undefined;
  const { value } = expression;
  if (typeof value === 'string') return fixed(countPoints(value));
  return fixed(value instanceof Uint8Array ? value.length : 1);
}

function isScalar(type: CelType | undefined): boolean {
  if (type === undefined) return false;
  if (type.kind === 'optional') return isScalar(type.of);
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind);
}
