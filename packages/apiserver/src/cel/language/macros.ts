import type { Expression, LoopNode } from './expression.js';

/** A macro that is used in a way that it does not know. */
export class MacroError extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** The variable in which a loop gathers what it finds; no expression can name it. */
const found = '@result';

/** The expansion of a macro call; undefined for other calls. */
export function expandMacro(
  name: string,
  at: number,
  target: Expression | undefined,
  args: readonly Expression[],
): Expression | undefined {
  if (target === undefined) return name === 'has' && args.length === 1 ? has(at, args[0] as Expression) : undefined;
  const make = macros[name]?.[args.length];
  return make?.(new Maker(at), target, args);
}

type Macro = (make: Maker, target: Expression, args: readonly Expression[]) => Expression;

/** By name and number of arguments. */
const macros: Readonly<Record<string, Readonly<Record<number, Macro>>>> = {
  all: { 2: (make, target, args) => all(make, target, one(args), args[1]), 3: (m, t, a) => all(m, t, two(a), a[2]) },
  exists: { 2: (m, t, a) => exists(m, t, one(a), a[1]), 3: (m, t, a) => exists(m, t, two(a), a[2]) },
  exists_one: { 2: (m, t, a) => existsOne(m, t, one(a), a[1]) },
  existsOne: { 3: (m, t, a) => existsOne(m, t, two(a), a[2]) },
  map: {
    2: (m, t, a) => collect(m, t, one(a), undefined, a[1]),
    3: (m, t, a) => collect(m, t, one(a), a[1], a[2]),
  },
  filter: { 2: (m, t, a) => collect(m, t, one(a), a[1], a[0]) },
  transformList: {
    3: (m, t, a) => collect(m, t, two(a), undefined, a[2]),
    4: (m, t, a) => collect(m, t, two(a), a[2], a[3]),
  },
  transformMap: {
    3: (m, t, a) => insert(m, t, two(a), undefined, [a[0], a[2]]),
    4: (m, t, a) => insert(m, t, two(a), a[2], [a[0], a[3]]),
  },
  transformMapEntry: {
    3: (m, t, a) => insert(m, t, two(a), undefined, [a[2]]),
    4: (m, t, a) => insert(m, t, two(a), a[2], [a[3]]),
  },
  optMap: { 2: (m, t, a) => ofOptional(m, t, a, 'optMap', (inner) => m.call('optional.of', [inner])) },
  optFlatMap: { 2: (m, t, a) => ofOptional(m, t, a, 'optFlatMap', (inner) => inner) },
  sortBy: { 2: sortBy },
};

interface Variables {
  readonly item: string;
  readonly second: string | undefined;
}

/** Makes nodes at the place of the macro. */
class Maker {
  readonly #at: number;

  constructor(at: number) {
    this.#at = at;
  }

  constant(value: boolean | bigint): Expression {
    return { op: 'constant', value, at: this.#at };
  }

  name(name: string): Expression {
    return { op: 'name', name, at: this.#at };
  }

  get found(): Expression {
    return this.name(found);
  }

  call(name: string, args: readonly Expression[], target?: Expression): Expression {
    return { op: 'call', name, target, args, at: this.#at };
  }

  list(items: readonly Expression[]): Expression {
    return { op: 'list', items, optional: new Set(), at: this.#at };
  }

  get emptyMap(): Expression {
    return { op: 'map', entries: [], at: this.#at };
  }

  loop(range: Expression, variables: Variables, parts: Pick<LoopNode, 'init' | 'condition' | 'step' | 'result'>) {
    return { op: 'loop' as const, at: this.#at, range, ...variables, accumulator: found, ...parts };
  }

  /** A name for a value: a loop over nothing. */
  bind(name: string, value: Expression, body: Expression): Expression {
    const parts = { init: value, condition: this.constant(false), step: this.name(name), result: body };
    const loop = this.loop(this.list([]), { item: '#unused', second: undefined }, parts);
    return { ...loop, accumulator: name };
  }
}

function has(at: number, argument: Expression): Expression {
  if (argument.op !== 'select') throw new MacroError(argument.at, 'invalid argument to has() macro');
  return { ...argument, test: true, at };
}

function one([first]: readonly Expression[]): Variables {
  return { item: variable(first as Expression), second: undefined };
}

function two([first, second]: readonly Expression[]): Variables {
  const variables = { item: variable(first as Expression), second: variable(second as Expression) };
  if (variables.item === variables.second) {
    throw new MacroError((second as Expression).at, `duplicate variable name: ${variables.item}`);
  }
  return variables;
}

function variable(expression: Expression): string {
  if (expression.op !== 'name') throw new MacroError(expression.at, 'argument must be a simple name');
  if (expression.name === found || expression.name === '__result__') {
    throw new MacroError(expression.at, 'iteration variable overwrites accumulator variable');
  }
  return expression.name;
}

function all(make: Maker, target: Expression, variables: Variables, predicate?: Expression): Expression {
  return make.loop(target, variables, {
    init: make.constant(true),
    condition: make.call('@not_strictly_false', [make.found]),
    step: make.call('_&&_', [make.found, predicate as Expression]),
    result: make.found,
  });
}

function exists(make: Maker, target: Expression, variables: Variables, predicate?: Expression): Expression {
  return make.loop(target, variables, {
    init: make.constant(false),
    condition: make.call('@not_strictly_false', [make.call('!_', [make.found])]),
    step: make.call('_||_', [make.found, predicate as Expression]),
    result: make.found,
  });
}

function existsOne(make: Maker, target: Expression, variables: Variables, predicate?: Expression): Expression {
  const more = make.call('_+_', [make.found, make.constant(1n)]);
  return make.loop(target, variables, {
    init: make.constant(0n),
    condition: make.constant(true),
    step: make.call('_?_:_', [predicate as Expression, more, make.found]),
    result: make.call('_==_', [make.found, make.constant(1n)]),
  });
}

function collect(
  make: Maker,
  target: Expression,
  variables: Variables,
  predicate?: Expression,
  transform?: Expression,
): Expression {
  const more = make.call('_+_', [make.found, make.list([transform as Expression])]);
  return make.loop(target, variables, {
    init: make.list([]),
    condition: make.constant(true),
    step: predicate === undefined ? more : make.call('_?_:_', [predicate, more, make.found]),
    result: make.found,
  });
}

function insert(
  make: Maker,
  target: Expression,
  variables: Variables,
  predicate: Expression | undefined,
  what: readonly (Expression | undefined)[],
): Expression {
  const more = make.call('cel.@mapInsert', [make.found, ...(what as Expression[])]);
  return make.loop(target, variables, {
    init: make.emptyMap,
    condition: make.constant(true),
    step: predicate === undefined ? more : make.call('_?_:_', [predicate, more, make.found]),
    result: make.found,
  });
}

function ofOptional(
  make: Maker,
  target: Expression,
  [name, body]: readonly Expression[],
  macro: string,
  wrap: (inner: Expression) => Expression,
): Expression {
  if (name?.op !== 'name') {
    throw new MacroError(name?.at ?? 0, `${macro}() variable name must be a simple identifier`);
  }
  const inner = make.bind(name.name, make.call('value', [], target), body as Expression);
  return make.call('_?_:_', [make.call('hasValue', [], target), wrap(inner), make.call('optional.none', [])]);
}

function sortBy(make: Maker, target: Expression, args: readonly Expression[]): Expression {
  if (target.op === 'constant' || target.op === 'map' || target.op === 'struct') {
    const message = 'sortBy can only be applied to a list, identifier, comprehension, call or select expression';
    throw new MacroError(target.at, message);
  }
  const input = '@__sortBy_input__';
  const keys = collect(make, make.name(input), one(args), undefined, args[1]);
  return make.bind(input, target, make.call('@sortByAssociatedKeys', [keys], make.name(input)));
}
