import { CelCompileError } from './cel-compile-error.js';
import { plainBoolean, rootProxy } from './cel-methods.js';
import {
  binaryNode,
  type CelNode,
  functionNode,
  listNode,
  literal,
  mapNode,
  type NameNode,
  nameNode,
  settled,
  structNode,
  testNode,
  valueOr,
} from './cel-node.js';
import { Recorder, recordedOf, toNode } from './cel-proxy.js';
import { isCelIdentifier } from './cel-text.js';
import { type PresenceStyle, renderCel } from './render-cel.js';

/** A name that functions get, under its name in JavaScript: a root of CEL, or several below one name. */
export type CelRoot = NameNode | CelNode | { readonly [name: string]: CelNode };

/** How a function is compiled. */
export interface CompileOptions {
  /** In errors, e.g. `policy "own-registry": require`. */
  readonly subject: string;
  readonly roots: Readonly<Record<string, CelRoot>>;
  readonly style: PresenceStyle;
}

type CelFunction = (context: never) => unknown;

/** The CEL of a function that decides something. */
export function compileTest(run: CelFunction, options: CompileOptions): string {
  return compile(run, options, (result, recorder) => {
    if (typeof result === 'boolean') throw new CelCompileError(plainBoolean('the function'));
    return asBool(testNode(toNode(result, recorder, 'the result')));
  });
}

/** The CEL of a function that computes a value. */
export function compileValue(run: CelFunction, options: CompileOptions): string {
  return compile(run, options, (result, recorder) => settled(toNode(result, recorder, 'the result')));
}

/** The CEL of a function that makes a text, which is empty if something in it is absent. */
export function compileText(run: CelFunction, options: CompileOptions): string {
  return compile(run, options, (result, recorder) => {
    return asText(valueOr(toNode(result, recorder, 'the result'), literal('')));
  });
}

/** The CEL of a function that makes the fields of an object to apply: `Object{spec: Object.spec{…}}`. */
export function compileApply(run: CelFunction, options: CompileOptions): string {
  return compile(run, options, (result, recorder) => {
    if (recordedOf(result) !== undefined) return settled(toNode(result, recorder, 'the result'));
    if (typeof result !== 'object' || result === null || Array.isArray(result)) {
      throw new CelCompileError('the function must return an object with the fields to apply');
    }
    return structOf(result, 'Object', recorder);
  });
}

/** The CEL of a function that makes a JSON patch. */
export function compilePatch(run: CelFunction, options: CompileOptions): string {
  return compile(run, options, (result, recorder) => {
    if (recordedOf(result) === undefined && !Array.isArray(result)) {
      throw new CelCompileError('the function must return a list of jsonPatch.add(…), jsonPatch.remove(…) and so on');
    }
    return settled(toNode(result, recorder, 'the result'));
  });
}

function compile(
  run: CelFunction,
  { subject, roots, style }: CompileOptions,
  finish: (result: unknown, recorder: Recorder) => CelNode,
): string {
  if (typeof run !== 'function') throw new TypeError(`${subject}: requires a function`);
  const recorder = new Recorder([...Object.keys(roots), 'object', 'oldObject', 'params', 'self', 'oldSelf']);
  try {
    refuseShortCircuits(run);
    const context = Object.fromEntries(Object.entries(roots).map(([name, root]) => [name, rootOf(root, recorder)]));
    const result: unknown = (run as (context: unknown) => unknown)(context);
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new CelCompileError('the function must not be async');
    }
    if (result === undefined) throw new CelCompileError('the function returned nothing');
    const node = finish(result, recorder);
    const [dropped] = recorder.loose;
    if (dropped !== undefined) throw new CelCompileError(droppedText(renderCel(dropped, style)));
    return renderCel(node, style);
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    throw new CelCompileError(`${subject}: ${error.message}`, { cause: error });
  }
}

/** Of a type that the server knows for sure: fields of an object without a schema have any. */
function asBool(node: CelNode): CelNode {
  return isSure(node, 'bool') ? node : binaryNode('==', node, literal(true));
}

function asText(node: CelNode): CelNode {
  return isSure(node, 'string') ? node : functionNode('string', node);
}

/** Whether the type of an expression does not depend on the types of fields. */
function isSure(node: CelNode, type: 'bool' | 'string'): boolean {
  switch (node.op) {
    case 'literal':
      return typeof node.value === (type === 'bool' ? 'boolean' : 'string');
    case 'condition':
      return isSure(node.yes, type) && isSure(node.no, type);
    case 'binary':
      if (type === 'bool') return true;
      return node.operator === '+' && (isSure(node.left, type) || isSure(node.right, type));
    case 'name':
    case 'select':
    case 'index':
      return false;
    case 'call':
      return type === 'bool' || node.name === 'string';
    default:
      return type === 'bool' || node.op === 'raw';
  }
}

function droppedText(text: string): string {
  return `${text} is not part of the result; JavaScript's &&, !, ?:, === and if cannot be compiled: use and(…), not(…), when(…) and .equals, or remove it`;
}

function rootOf(root: CelRoot, recorder: Recorder): unknown {
  if ('op' in root && typeof root.op === 'string') return rootProxy(root as CelNode, recorder);
  const several = root as { readonly [name: string]: CelNode };
  return Object.fromEntries(Object.entries(several).map(([name, node]) => [name, rootProxy(node, recorder)]));
}

/**
 * An expression is an object and so is true to JavaScript: `a || b` and `a ?? b` are just `a`, and `b` never runs. Nothing
 * of that can be recorded, so the text of the function is looked at.
 */
function refuseShortCircuits(run: CelFunction): void {
  const code = Function.prototype.toString
    .call(run)
    .replace(
      /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/(?![*/ ])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*(?=\s*[),;.])/g,
      '""',
    );
  const found = /\|\||\?\?/.exec(code)?.[0];
  if (found === undefined) return;
  const remedy = found === '||' ? 'use or(…)' : 'use .orElse(…)';
  throw new CelCompileError(
    `the function has "${found}", which cannot be compiled; ${remedy}, and compute plain values outside of the function`,
  );
}

/** The fields of an object, as messages that are named by their path; as a map, where names cannot be fields. */
function structOf(fields: object, path: string, recorder: Recorder): CelNode {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const isStruct = entries.every(([name]) => isCelIdentifier(name));
  const made = entries.map(([name, value]) => [name, partOf(value, `${path}.${name}`, recorder)] as const);
  return settled(isStruct ? structNode(path, made) : mapNode(made));
}

function partOf(value: unknown, path: string, recorder: Recorder): CelNode {
  if (Array.isArray(value)) return listNode(value.map((item) => partOf(item, path, recorder)));
  if (typeof value !== 'object' || value === null) return settled(toNode(value, recorder, path));
  return structOf(value, path, recorder);
}

/** A root that is always there and has the fields of a whole object. */
export function objectRoot(name: string, facts: Parameters<typeof nameNode>[1] = {}): NameNode {
  return nameNode(name, { isObject: true, ...facts });
}
