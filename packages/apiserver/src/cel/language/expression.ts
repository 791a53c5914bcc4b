import type { CelType } from './cel-type.js';
import type { Overload } from './overload.js';
import type { Value } from './value.js';

/** A constant as it stands in an expression. */
export type Constant = string | number | bigint | boolean | null | Uint8Array | { readonly uint: bigint };

interface Node {
  /** Where it stands, in code points of the source: of the operator or bracket for what has one. */
  readonly at: number;
  /** Set by the checker. */
  type?: CelType;
}

export interface ConstantNode extends Node {
  readonly op: 'constant';
  readonly value: Constant;
}

export interface NameNode extends Node {
  readonly op: 'name';
  readonly name: string;
}

export interface SelectNode extends Node {
  readonly op: 'select';
  readonly of: Expression;
  readonly field: string;
  /** `has(a.b)`: whether it is there. */
  readonly test: boolean;
  /** A qualified name, e.g. of a type, found by the checker. */
  qualified?: string;
}

export interface CallNode extends Node {
  readonly op: 'call';
  /** As cel-go calls it, e.g. `_+_`. */
  name: string;
  target: Expression | undefined;
  readonly args: readonly Expression[];
  /** The overloads that fit the types of the arguments; several if some type is dynamic. Set by the checker. */
  overloads?: readonly Overload[];
}

export interface ListNode extends Node {
  readonly op: 'list';
  readonly items: readonly Expression[];
  /** Which of the items are written as `?x`. */
  readonly optional: ReadonlySet<number>;
}

export interface MapNode extends Node {
  readonly op: 'map';
  readonly entries: readonly { readonly key: Expression; readonly value: Expression; readonly optional: boolean }[];
}

/** A message, e.g. `Object.spec{replicas: 1}`. */
export interface StructNode extends Node {
  readonly op: 'struct';
  readonly name: string;
  readonly fields: readonly StructField[];
  /** Set by the checker. */
  make?: MakeStruct;
}

export interface StructField {
  readonly name: string;
  readonly value: Expression;
  /** Whether it is written as `?name`. */
  readonly optional: boolean;
  /** Where its colon stands. */
  readonly at: number;
}

/** Makes a message of its fields. Throws a `CelError`. */
export type MakeStruct = (fields: ReadonlyMap<string, Value>) => Value;

/** The expansion of macros like `all` and `map`. */
export interface LoopNode extends Node {
  readonly op: 'loop';
  readonly range: Expression;
  readonly item: string;
  /** With two variables, `item` is the index or the key, and this the value. */
  readonly second: string | undefined;
  readonly accumulator: string;
  readonly init: Expression;
  readonly condition: Expression;
  readonly step: Expression;
  readonly result: Expression;
}

/** A parsed expression. */
export type Expression = ConstantNode | NameNode | SelectNode | CallNode | ListNode | MapNode | StructNode | LoopNode;

const none: readonly Expression[] = [];

/** The expressions that one is made of. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.op) {
    case 'select':
      return [expression.of];
    case 'call':
      return expression.target === undefined ? expression.args : [expression.target, ...expression.args];
    case 'list':
      return expression.items;
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expression.fields.map(({ value }) => value);
    case 'loop':
      return [expression.range, expression.init, expression.condition, expression.step, expression.result];
    default:
      return none;
  }
}
