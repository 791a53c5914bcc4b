import type { StructuralSchema } from '../schema/structural-schema.js';

/** The parts that every node has. */
interface NodeFacts {
  /** The fields, keys and names whose absence makes this value absent; empty for a value that is always there. */
  readonly guards: readonly ChainNode[];
  /** Whether it is a number with a fraction; integers and doubles do not mix in arithmetic. */
  readonly isDouble?: boolean | undefined;
}

/** A name: a root such as `object`, or the variable of a loop. */
export interface NameNode extends NodeFacts {
  readonly op: 'name';
  readonly name: string;
  /** How its absence shows: it is null, or a CEL optional. Undefined for a name that always has a value. */
  readonly absent?: 'null' | 'optional' | undefined;
  readonly schema?: StructuralSchema | undefined;
  /** Whether fields that the schema requires are always there. Not so for what was stored under an older schema. */
  readonly trusted: boolean;
  /** Whether it is a whole Kubernetes object, which always has `metadata`. */
  readonly isObject?: boolean | undefined;
  /** Whether all fields that it has are there: `variables`. */
  readonly isComplete?: boolean | undefined;
}

/** A field of an object. */
export interface SelectNode extends NodeFacts {
  readonly op: 'select';
  readonly of: CelNode;
  readonly field: string;
  /** Whether the schema has no such field: then only a method can be meant. */
  readonly isUnknown?: boolean | undefined;
  readonly schema?: StructuralSchema | undefined;
  readonly trusted: boolean;
}

/** A member of a map or an element of a list. */
export interface IndexNode extends NodeFacts {
  readonly op: 'index';
  readonly of: CelNode;
  readonly key: CelNode;
  readonly schema?: StructuralSchema | undefined;
  readonly trusted: boolean;
}

/** What can be absent. */
export type ChainNode = NameNode | SelectNode | IndexNode;

export interface LiteralNode extends NodeFacts {
  readonly op: 'literal';
  readonly value: string | number | bigint | boolean | null;
}

export interface CallNode extends NodeFacts {
  readonly op: 'call';
  /** Undefined for a function, which has no receiver. */
  readonly of: CelNode | undefined;
  readonly name: string;
  readonly args: readonly CelNode[];
}

export interface BinaryNode extends NodeFacts {
  readonly op: 'binary';
  readonly operator: string;
  readonly left: CelNode;
  readonly right: CelNode;
}

export interface UnaryNode extends NodeFacts {
  readonly op: 'unary';
  readonly operator: '!' | '-';
  readonly of: CelNode;
}

export interface ConditionNode extends NodeFacts {
  readonly op: 'condition';
  readonly test: CelNode;
  readonly yes: CelNode;
  readonly no: CelNode;
}

/** Whether everything in `absences` is there. */
export interface PresentNode extends NodeFacts {
  readonly op: 'present';
  readonly absences: readonly ChainNode[];
}

export interface ListNode extends NodeFacts {
  readonly op: 'list';
  readonly items: readonly CelNode[];
}

export interface MapNode extends NodeFacts {
  readonly op: 'map';
  readonly entries: readonly (readonly [string, CelNode])[];
}

/** A message such as `Object.spec{…}`. */
export interface StructNode extends NodeFacts {
  readonly op: 'struct';
  readonly name: string;
  readonly fields: readonly (readonly [string, CelNode])[];
}

/** A macro over the elements of a list or the keys of a map. */
export interface LoopNode extends NodeFacts {
  readonly op: 'loop';
  readonly macro: 'all' | 'exists' | 'exists_one' | 'map' | 'filter';
  readonly of: CelNode;
  readonly variable: string;
  readonly body: CelNode;
}

/** Text of the caller's own, with expressions in it. */
export interface RawNode extends NodeFacts {
  readonly op: 'raw';
  readonly parts: readonly (string | CelNode)[];
}

/** An expression as it is recorded. */
export type CelNode =
  | NameNode
  | SelectNode
  | IndexNode
  | LiteralNode
  | CallNode
  | BinaryNode
  | UnaryNode
  | ConditionNode
  | PresentNode
  | ListNode
  | MapNode
  | StructNode
  | LoopNode
  | RawNode;

const none: readonly ChainNode[] = [];

/** The guards of several parts, each once. */
export function guardsOf(...parts: readonly CelNode[]): readonly ChainNode[] {
  const all = parts.flatMap(({ guards }) => guards);
  return all.length === 0 ? none : [...new Set(all)];
}

export const literal = (value: LiteralNode['value']): LiteralNode => ({
  op: 'literal',
  value,
  guards: none,
  isDouble: typeof value === 'number' && !Number.isInteger(value),
});

/** A root name, or one that may be absent. */
export function nameNode(
  name: string,
  facts: Partial<Pick<NameNode, 'absent' | 'schema' | 'trusted' | 'isObject' | 'isComplete'>> = {},
): NameNode {
  const node = { op: 'name' as const, name, trusted: false, ...facts };
  const made: NameNode = { ...node, guards: none };
  if (facts.absent === undefined) return made;
  const guarded: { -readonly [K in keyof NameNode]: NameNode[K] } = { ...made };
  guarded.guards = [guarded];
  return guarded;
}

/** A field; `optional`: whether an object may lack it. */
export function selectNode(
  of: CelNode,
  field: string,
  facts: Pick<SelectNode, 'schema' | 'trusted' | 'isUnknown'> & { readonly optional: boolean },
): SelectNode {
  const { optional, schema, trusted, isUnknown } = facts;
  const isDouble = schema?.type === 'number';
  const node: { -readonly [K in keyof SelectNode]: SelectNode[K] } = {
    ...{ op: 'select', of, field, schema, trusted, isDouble, isUnknown },
    guards: of.guards,
  };
  if (optional) node.guards = [...of.guards, node];
  return node;
}

/** A member by its key or an element by its index; `optional`: whether there may be none. */
export function indexNode(
  of: CelNode,
  key: CelNode,
  facts: { readonly optional: boolean; readonly schema?: StructuralSchema | undefined; readonly trusted: boolean },
): IndexNode {
  const { optional, schema, trusted } = facts;
  const isDouble = schema?.type === 'number';
  const node: { -readonly [K in keyof IndexNode]: IndexNode[K] } = {
    ...{ op: 'index', of, key, schema, trusted, isDouble },
    guards: guardsOf(of, key),
  };
  if (optional) node.guards = [...node.guards, node];
  return node;
}

export function callNode(of: CelNode | undefined, name: string, args: readonly CelNode[], isDouble = false): CallNode {
  return { op: 'call', of, name, args, isDouble, guards: guardsOf(...(of === undefined ? [] : [of]), ...args) };
}

/** A call without a receiver. */
export function functionNode(name: string, ...args: readonly CelNode[]): CallNode {
  return callNode(undefined, name, args, name === 'double');
}

export function binaryNode(operator: string, left: CelNode, right: CelNode, isDouble = false): BinaryNode {
  return { op: 'binary', operator, left, right, isDouble, guards: guardsOf(left, right) };
}

export function notNode(of: CelNode): CelNode {
  if (of.op === 'unary' && of.operator === '!') return of.of;
  if (of.op === 'binary' && (of.operator === '==' || of.operator === '!=')) {
    return { ...of, operator: of.operator === '==' ? '!=' : '==' };
  }
  return { op: 'unary', operator: '!', of, guards: of.guards };
}

export function negativeNode(of: CelNode): UnaryNode {
  return { op: 'unary', operator: '-', of, isDouble: of.isDouble, guards: of.guards };
}

/** A value without its guards, for uses that know it exists. */
export function settled<N extends CelNode>(node: N): N {
  return node.guards.length === 0 ? node : { ...node, guards: none };
}

export function presentNode(absences: readonly ChainNode[]): PresentNode {
  return { op: 'present', absences, guards: none };
}

/** A test that is false, or `whenAbsent`, where something that it needs is absent. */
export function testNode(test: CelNode, whenAbsent = false): CelNode {
  if (test.guards.length === 0) return test;
  const present = presentNode(test.guards);
  return whenAbsent ? orNode(notNode(present), settled(test)) : andNode(present, settled(test));
}

/** A value, or another one where something that it needs is absent. */
export function valueOr(value: CelNode, otherwise: CelNode): CelNode {
  if (value.guards.length === 0) return value;
  return conditionNode(presentNode(value.guards), settled(value), otherwise);
}

export function andNode(left: CelNode, right: CelNode): CelNode {
  return settled(binaryNode('&&', left, right));
}

export function orNode(left: CelNode, right: CelNode): CelNode {
  return settled(binaryNode('||', left, right));
}

/** `test ? yes : no`. */
export function conditionNode(test: CelNode, yes: CelNode, no: CelNode): ConditionNode {
  const isDouble = yes.isDouble === true || no.isDouble === true;
  return { op: 'condition', test, yes, no, isDouble, guards: guardsOf(yes, no) };
}

export function listNode(items: readonly CelNode[]): ListNode {
  return { op: 'list', items, guards: guardsOf(...items) };
}

export function mapNode(entries: readonly (readonly [string, CelNode])[]): MapNode {
  return { op: 'map', entries, guards: guardsOf(...entries.map(([, value]) => value)) };
}

export function structNode(name: string, fields: readonly (readonly [string, CelNode])[]): StructNode {
  return { op: 'struct', name, fields, guards: guardsOf(...fields.map(([, value]) => value)) };
}

/** A loop; what its body may lack is the body's own business. */
export function loopNode(macro: LoopNode['macro'], of: CelNode, variable: string, body: CelNode): LoopNode {
  return { op: 'loop', macro, of, variable, body: settled(body), guards: of.guards };
}
