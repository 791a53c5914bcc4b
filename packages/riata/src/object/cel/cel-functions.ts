import { CelCompileError } from './cel-compile-error.js';
import { callMethod, plainBoolean } from './cel-methods.js';
import {
  andNode,
  binaryNode,
  type CelNode,
  conditionNode,
  functionNode,
  literal,
  notNode,
  orNode,
  type RawNode,
  structNode,
  testNode,
} from './cel-node.js';
import { celProxy, type Recorder, recorderOf, toNode } from './cel-proxy.js';
import type {
  CelBool,
  CelCidr,
  CelDuration,
  CelIp,
  CelList,
  CelOf,
  CelQuantity,
  CelSemver,
  CelString,
  CelTest,
  CelTimestamp,
  CelUrl,
  Operand,
  ValueOf,
} from './cel-types.js';

const make = (node: CelNode, recorder: Recorder | undefined): unknown => celProxy(node, recorder, callMethod);

function tests(name: string, given: readonly unknown[]): readonly CelNode[] {
  if (given.length === 0) throw new CelCompileError(`${name}: requires an expression`);
  const recorder = recorderOf(given);
  return given.map((one) => {
    if (typeof one === 'boolean') throw new CelCompileError(plainBoolean(`an argument of ${name}`));
    return testNode(toNode(one, recorder, name));
  });
}

/** True if all are: CEL's `&&`. */
export function and(...expressions: readonly CelTest[]): CelBool {
  const node = tests('and', expressions).reduce(andNode);
  return make(node, recorderOf(expressions)) as CelBool;
}

/** True if one is: CEL's `||`. */
export function or(...expressions: readonly CelTest[]): CelBool {
  const node = tests('or', expressions).reduce(orNode);
  return make(node, recorderOf(expressions)) as CelBool;
}

/** The opposite: CEL's `!`. */
export function not(expression: CelTest): CelBool {
  const [node] = tests('not', [expression]);
  return make(notNode(node as CelNode), recorderOf([expression])) as CelBool;
}

/** One value or the other: CEL's `test ? yes : no`. Both have the same type. */
export function when<const T>(test: CelTest, yes: T, no: NoInfer<T> | Operand<ValueOf<T>>): CelOf<ValueOf<T>> {
  const [node] = tests('when', [test]);
  const recorder = recorderOf([test, yes, no]);
  const made = conditionNode(node as CelNode, toNode(yes, recorder, 'when'), toNode(no, recorder, 'when'));
  return make(made, recorder) as CelOf<ValueOf<T>>;
}

/** One string out of several, numbers and others written as CEL's `string(…)` writes them. */
export function concat(...parts: readonly (string | CelString | CelText)[]): CelString {
  const recorder = recorderOf(parts);
  const nodes = parts.map((part) => toNode(part, recorder, 'concat'));
  const node = nodes.length === 0 ? literal('') : nodes.reduce((left, right) => binaryNode('+', left, right));
  return make(node, recorder) as CelString;
}

/** What {@link concat} takes besides strings: the text of another value, by its `toText()`. */
export type CelText = CelString;

/** A list of values or expressions, as an expression. */
export function listOf<T>(items: readonly Operand<T>[]): CelList<T> {
  const recorder = recorderOf(items);
  return make(toNode(items, recorder, 'listOf'), recorder) as CelList<T>;
}

const conversion =
  <Result>(name: string) =>
  (text: string | CelString): Result => {
    const recorder = recorderOf([text]);
    return make(functionNode(name, toNode(text, recorder, name)), recorder) as Result;
  };

/** A quantity such as `500m` or `1Gi`. */
export const quantity: (text: string | CelString) => CelQuantity = conversion('quantity');
/** A duration in Go's form, e.g. `1h30m`. */
export const duration: (text: string | CelString) => CelDuration = conversion('duration');
/** A time in the form of RFC 3339. */
export const timestamp: (text: string | CelString) => CelTimestamp = conversion('timestamp');
/** A URL. */
export const url: (text: string | CelString) => CelUrl = conversion('url');
/** An IP address. */
export const ip: (text: string | CelString) => CelIp = conversion('ip');
/** A network, e.g. `10.0.0.0/8`. */
export const cidr: (text: string | CelString) => CelCidr = conversion('cidr');
/** A version as semver.org has it. */
export const semver: (text: string | CelString) => CelSemver = conversion('semver');

/**
 * CEL of your own, for what the vocabulary lacks; expressions can be put in. Its type is the one that you name: the server
 * checks it, you do not.
 *
 * ```ts
 * cel<boolean>`${object.spec.ports}.sortBy(p, p.port) == ${object.spec.ports}`
 * ```
 */
export function cel<T>(text: TemplateStringsArray, ...expressions: readonly unknown[]): CelOf<T> {
  const recorder = recorderOf(expressions);
  const parts = text.flatMap((part, index) =>
    index < expressions.length ? [part, toNode(expressions[index], recorder, 'cel`…`')] : [part],
  );
  const node: RawNode = { op: 'raw', parts: parts.filter((part) => part !== ''), guards: [] };
  return make(node, recorder) as CelOf<T>;
}

declare const patchBrand: unique symbol;

/** One operation of a JSON patch, for `policy(…).patch`. */
export interface CelPatch {
  readonly [patchBrand]: true;
}

/** A JSON pointer, whole or as its parts, which are escaped. */
export type CelPointer = string | CelString | readonly (string | number | CelString)[];

function patch(op: string, at: CelPointer, rest: Readonly<Record<string, unknown>>): CelPatch {
  const from = rest.from as CelPointer | undefined;
  const recorder = recorderOf([at, from, rest.value]);
  const fields: [string, CelNode][] = [
    ['op', literal(op)],
    ['path', pointerNode(at, recorder)],
  ];
  if (from !== undefined) fields.push(['from', pointerNode(from, recorder)]);
  if ('value' in rest) fields.push(['value', toNode(rest.value, recorder, `jsonPatch.${op}`)]);
  return make(structNode('JSONPatch', fields), recorder) as CelPatch;
}

/** A pointer out of parts, each escaped. */
function pointerNode(at: CelPointer, recorder: Recorder | undefined): CelNode {
  if (!Array.isArray(at)) return toNode(at, recorder, 'jsonPatch');
  let text = '';
  let node: CelNode | undefined;
  const append = (part: CelNode) => {
    const before = node === undefined ? literal(text) : text === '' ? node : binaryNode('+', node, literal(text));
    node = binaryNode('+', before, part);
    text = '';
  };
  for (const part of at as readonly unknown[]) {
    text += '/';
    if (typeof part === 'string' || typeof part === 'number') {
      text += String(part).replaceAll('~', '~0').replaceAll('/', '~1');
    } else append(functionNode('jsonpatch.escapeKey', toNode(part, recorder, 'jsonPatch')));
  }
  if (node === undefined) return literal(text);
  return text === '' ? node : binaryNode('+', node, literal(text));
}

/** The operations of a JSON patch. A failed `test` skips the patch of this object, without an error. */
export const jsonPatch = {
  add: (path: CelPointer, value: unknown): CelPatch => patch('add', path, { value }),
  replace: (path: CelPointer, value: unknown): CelPatch => patch('replace', path, { value }),
  remove: (path: CelPointer): CelPatch => patch('remove', path, {}),
  test: (path: CelPointer, value: unknown): CelPatch => patch('test', path, { value }),
  move: (from: CelPointer, path: CelPointer): CelPatch => patch('move', path, { from }),
  copy: (from: CelPointer, path: CelPointer): CelPatch => patch('copy', path, { from }),
} as const;
