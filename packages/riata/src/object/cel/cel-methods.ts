import { CelCompileError } from './cel-compile-error.js';
import {
  andNode,
  binaryNode,
  type CelNode,
  callNode,
  functionNode,
  type LoopNode,
  literal,
  loopNode,
  nameNode,
  negativeNode,
  notNode,
  orNode,
  presentNode,
  settled,
  testNode,
  valueOr,
} from './cel-node.js';
import { type CallMethod, celProxy, memberOf, type Recorder, schemaOf, toNode, trustedOf } from './cel-proxy.js';
import { renderCel } from './render-cel.js';

/** A call of a method: its receiver and arguments. */
interface Call {
  readonly of: CelNode;
  readonly name: string;
  readonly args: readonly unknown[];
  readonly recorder: Recorder | undefined;
}

type Method = (call: Call) => CelNode;

/** The argument at an index, as a node. */
function argument({ of, name, args, recorder }: Call, index = 0): CelNode {
  if (index >= args.length) throw new CelCompileError(`${renderCel(of)}.${name} requires an argument`);
  return toNode(args[index], recorder, `${renderCel(of)}.${name}`);
}

/** All arguments, as nodes. */
const all = (call: Call): readonly CelNode[] => call.args.map((_, index) => argument(call, index));

/** A method of CEL whose result is a value. */
const value: Method = (call) => callNode(call.of, call.name, all(call));
/** A method of CEL whose result is true or false. */
const test: Method = (call) => testNode(value(call));
/** A function of CEL, under another name, that takes the receiver. */
const convert =
  (name: string): Method =>
  (call) =>
    functionNode(name, call.of, ...all(call));
const asks =
  (name: string): Method =>
  (call) =>
    testNode(functionNode(name, call.of, ...all(call)));

const compare =
  (operator: string): Method =>
  (call) => {
    const [left, right] = sameNumbers(call.of, argument(call));
    return testNode(binaryNode(operator, left, right));
  };

/** Quantities and versions have no operators. */
const ordered =
  (operator: string): Method =>
  (call) => {
    if (!isComparedByMethod(call.of)) return compare(operator)(call);
    return testNode(binaryNode(operator, callNode(call.of, 'compareTo', [argument(call)]), literal(0)));
  };

const comparedByMethod: ReadonlySet<string> = new Set(['quantity', 'semver']);

function isComparedByMethod(node: CelNode): boolean {
  if (node.op === 'condition') return isComparedByMethod(node.yes);
  if (node.op !== 'call') return false;
  if (node.of === undefined) return comparedByMethod.has(node.name);
  return (node.name === 'add' || node.name === 'sub') && isComparedByMethod(node.of);
}

const arithmetic =
  (operator: string, ofQuantity?: string): Method =>
  (call) => {
    if (ofQuantity !== undefined && isComparedByMethod(call.of)) return callNode(call.of, ofQuantity, [argument(call)]);
    const [left, right] = sameNumbers(call.of, argument(call), true);
    return binaryNode(operator, left, right, left.isDouble === true);
  };

/** Both as doubles if one is: CEL does not mix them. */
function sameNumbers(left: CelNode, right: CelNode, isArithmetic = false): readonly [CelNode, CelNode] {
  if (left.isDouble !== true && right.isDouble !== true) return [left, right];
  return [asDouble(left, isArithmetic), asDouble(right, isArithmetic)];
}

function asDouble(node: CelNode, isArithmetic: boolean): CelNode {
  if (node.op === 'literal') return { ...node, isDouble: true };
  // JSON without a schema has whole numbers as integers, whatever the field's type is.
  const isChain = node.op === 'select' || node.op === 'index' || node.op === 'name';
  return node.isDouble === true && !(isChain && isArithmetic) ? node : functionNode('double', node);
}

/** Both are absent, or both are there and the same. */
function equal(left: CelNode, right: CelNode): CelNode {
  const [a, b] = sameNumbers(left, right);
  const same = binaryNode('==', settled(a), settled(b));
  if (a.guards.length === 0 || b.guards.length === 0) return testNode({ ...same, guards: [...a.guards, ...b.guards] });
  const [hasA, hasB] = [presentNode(a.guards), presentNode(b.guards)];
  return andNode(binaryNode('==', hasA, hasB), orNode(notNode(hasA), same));
}

/** A loop over a list, or over the keys of a map with the member as a second argument. */
function loop(macro: LoopNode['macro'], isTest: boolean): Method {
  return ({ of, name, args, recorder }) => {
    const [run] = args;
    const shown = `${renderCel(of)}.${name}`;
    if (typeof run !== 'function') throw new CelCompileError(`${shown} requires a function`);
    if (recorder === undefined) throw new CelCompileError(`${shown} requires a list of the function's own arguments`);
    return recorder.withVariable(of, (variable) => {
      const schema = schemaOf(of);
      const isMap = run.length > 1 || (schema?.items === undefined && schema?.additionalProperties !== undefined);
      const item = nameNode(variable, isMap ? {} : { schema: schema?.items, trusted: trustedOf(of) });
      const given = isMap ? [item, settled(memberOf(settled(of), item, false))] : [item];
      const result: unknown = run(...given.map((node) => rootProxy(node, recorder)));
      const body = toNode(result, recorder, `the function of ${shown}`);
      if (isTest && typeof result === 'boolean') throw new CelCompileError(plainBoolean(`the function of ${shown}`));
      return loopNode(macro, of, variable, isTest ? testNode(body) : body);
    });
  };
}

export function plainBoolean(where: string): string {
  return `${where} returned a plain boolean, not an expression; JavaScript's ===, !, && and || cannot be compiled: use .equals, not(…), and(…) and or(…)`;
}

const emptyLoop =
  (macro: LoopNode['macro'], whenEmpty: boolean): Method =>
  (call) =>
    testNode(loop(macro, true)(call), whenEmpty);

const zero =
  (name: string): Method =>
  (call) =>
    valueOr(callNode(call.of, name, all(call)), literal(0));

/** A call whose first argument is a pattern of RE2. */
const pattern: Method = (call) => {
  const [given] = call.args;
  if (!(given instanceof RegExp)) return value(call);
  if (given.flags !== '')
    throw new CelCompileError(
      `${renderCel(call.of)}.${call.name}: RE2 in CEL takes no flags, got ${given}; write (?i) into the pattern`,
    );
  return value({ ...call, args: [given.source, ...call.args.slice(1)] });
};

const words = (names: string, method: Method): Record<string, Method> =>
  Object.fromEntries(names.split(' ').map((name) => [name, method]));

/** Every method that an expression has. */
const methods: Readonly<Record<string, Method>> = {
  // Any value.
  has: (call) => {
    if (call.args.length === 0) return call.of.guards.length === 0 ? literal(true) : presentNode(call.of.guards);
    return testNode(binaryNode('in', argument(call), call.of));
  },
  orElse: (call) => {
    const [found, other] = sameNumbers(call.of, argument(call));
    return valueOr(found, other);
  },
  equals: (call) => equal(call.of, argument(call)),
  notEquals: (call) => notNode(equal(call.of, argument(call))),
  in: (call) => testNode(binaryNode('in', call.of, argument(call))),
  as: ({ of }) => of,
  isInt: ({ of }) => testNode(binaryNode('==', functionNode('type', of), nameNode('int'))),
  isString: ({ of }) => testNode(binaryNode('==', functionNode('type', of), nameNode('string'))),
  // Booleans.
  and: (call) => all(call).reduce((left, right) => andNode(left, testNode(right)), testNode(call.of)),
  or: (call) => all(call).reduce((left, right) => orNode(left, testNode(right)), testNode(call.of)),
  not: (call) => notNode(testNode(call.of)),
  implies: (call) => orNode(notNode(testNode(call.of)), testNode(argument(call))),
  // biome-ignore lint/suspicious/noThenProperty: it is what refuses to be one
  then: ({ of }) => {
    throw new CelCompileError(`${renderCel(of)} was awaited; the function must not be async`);
  },
  // Numbers, and what can be ordered.
  gt: ordered('>'),
  gte: ordered('>='),
  lt: ordered('<'),
  lte: ordered('<='),
  plus: arithmetic('+', 'add'),
  minus: arithmetic('-', 'sub'),
  times: arithmetic('*'),
  div: arithmetic('/'),
  mod: arithmetic('%'),
  negate: ({ of }) => negativeNode(of),
  // Conversions.
  toInt: convert('int'),
  toDouble: convert('double'),
  toText: convert('string'),
  asDuration: convert('duration'),
  asTimestamp: convert('timestamp'),
  asQuantity: convert('quantity'),
  asUrl: convert('url'),
  asIp: convert('ip'),
  asCidr: convert('cidr'),
  asSemver: convert('semver'),
  isQuantity: asks('isQuantity'),
  isUrl: asks('isURL'),
  isIp: asks('isIP'),
  isCidr: asks('isCIDR'),
  isSemver: asks('isSemver'),
  hasFormat: (call) => {
    const [name] = call.args;
    if (typeof name !== 'string')
      throw new CelCompileError(`${renderCel(call.of)}.hasFormat requires the name of a format`);
    const found = callNode(callNode(undefined, `format.${name}`, []), 'validate', [call.of]);
    return testNode(notNode(callNode(found, 'hasValue', [])));
  },
  // Strings.
  ...words('startsWith endsWith contains', test),
  matches: (call) => testNode(pattern(call)),
  find: pattern,
  findAll: pattern,
  ...words('lowerAscii upperAscii trim replace split substring charAt', value),
  concat: (call) => all(call).reduce((left, right) => binaryNode('+', left, right), call.of),
  // Lists and maps; one that is absent is empty.
  size: zero('size'),
  sum: zero('sum'),
  all: emptyLoop('all', true),
  exists: emptyLoop('exists', false),
  existsOne: emptyLoop('exists_one', false),
  map: loop('map', false),
  filter: loop('filter', true),
  includes: (call) => testNode(binaryNode('in', argument(call), call.of)),
  isEmpty: (call) => testNode(binaryNode('==', callNode(call.of, 'size', []), literal(0)), true),
  isSorted: (call) => testNode(value(call), true),
  at: (call) => memberOf(call.of, argument(call), true),
  get: (call) => memberOf(call.of, argument(call), true),
  ...words('min max indexOf lastIndexOf slice distinct flatten reverse sort', value),
  join: (call) => valueOr(value(call), literal('')),
  containsAll: (call) => testNode(functionNode('sets.contains', call.of, argument(call))),
  intersects: (call) => testNode(functionNode('sets.intersects', call.of, argument(call))),
  sameElements: (call) => testNode(functionNode('sets.equivalent', call.of, argument(call))),
  // The libraries of Kubernetes, by their own names.
  ...words('isGreaterThan isLessThan isInteger', test),
  ...words('compareTo asInteger asApproximateFloat', value),
  sign: convert('sign'),
  ...words('major minor patch', value),
  ...words('getScheme getHost getHostname getPort getEscapedPath getQuery', value),
  ...words(
    'isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast containsIP containsCIDR',
    test,
  ),
  ...words('family prefixLength masked ip', value),
  ...words(
    'getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds',
    value,
  ),
  ...words(
    'path group serviceAccount resource subresource namespace name fieldSelector labelSelector check reason error',
    value,
  ),
  ...words('allowed errored', test),
};

/** Calls the method of an expression. */
export const callMethod: CallMethod = (recorder, of, name, args) => {
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method === undefined) {
    throw new CelCompileError(
      `${renderCel(of)}.${name} is not a function that CEL has; the types of expressions list the vocabulary, and cel\`…\` takes text`,
    );
  }
  return celProxy(method({ of, name, args, recorder }), recorder, callMethod);
};

/** A proxy for a name, which need not be used. */
export function rootProxy(node: CelNode, recorder: Recorder | undefined): unknown {
  const proxy = celProxy(node, recorder, callMethod);
  recorder?.used(node);
  return proxy;
}
