import type { StructuralSchema } from '../schema/structural-schema.js';
import { getOwn } from '../value/own.js';
import { CelCompileError } from './cel-compile-error.js';
import { type CelNode, indexNode, listNode, literal, mapNode, selectNode } from './cel-node.js';
import { renderCel } from './render-cel.js';

/** By which a proxy gives away its node; no expression can have a field of that name. */
const recorded: unique symbol = Symbol('riata.cel');

/** An expression behind its proxy, and who records it. */
export interface Recorded {
  readonly node: CelNode;
  readonly recorder: Recorder | undefined;
}

/** Calls a method of an expression; `name` is the one that was called. */
export type CallMethod = (
  recorder: Recorder | undefined,
  of: CelNode,
  name: string,
  args: readonly unknown[],
) => unknown;

/** Keeps track of the expressions that one function makes, so that none is dropped unnoticed. */
export class Recorder {
  /** What was made and is part of no other expression yet. */
  readonly #loose = new Set<CelNode>();
  readonly #scopes: string[];

  /** `names` cannot be used for variables of loops. */
  constructor(names: readonly string[]) {
    this.#scopes = [...names];
  }

  made(node: CelNode): void {
    this.#loose.add(node);
  }

  used(node: CelNode): void {
    this.#loose.delete(node);
  }

  get loose(): readonly CelNode[] {
    return [...this.#loose];
  }

  /** Runs a function with a variable of its own, named after the list that it comes from. */
  withVariable<T>(list: CelNode, run: (name: string) => T): T {
    const base = variableName(list);
    let name = base;
    for (let count = 2; this.#scopes.includes(name); count += 1) name = `${base}${count}`;
    this.#scopes.push(name);
    try {
      return run(name);
    } finally {
      this.#scopes.pop();
    }
  }
}

/** `containers` → `container`; anything without such a name → `item`. */
function variableName(list: CelNode): string {
  if (list.op === 'loop') return list.macro === 'filter' ? list.variable : 'item';
  const field = list.op === 'select' ? list.field : undefined;
  if (field === undefined || !/^[A-Za-z]{3,}s$/.test(field) || field.endsWith('ss')) return 'item';
  return field.endsWith('ies') ? `${field.slice(0, -3)}y` : field.slice(0, -1);
}

/** The expression behind a proxy; undefined for any other value. */
export function recordedOf(value: unknown): Recorded | undefined {
  if (typeof value !== 'function') return undefined;
  return (value as unknown as { readonly [recorded]?: Recorded })[recorded];
}

/** A proxy that records what is done with an expression. */
export function celProxy(node: CelNode, recorder: Recorder | undefined, call: CallMethod): unknown {
  recorder?.made(node);
  // A function, so that it can be called: only then it is known whether a name was meant as a field or as a method.
  const target = (): void => undefined;
  const refuse = (what: string, remedy: string) => () => {
    throw new CelCompileError(`${renderCel(node)} ${what}; ${remedy}`);
  };
  const iterating = refuse('cannot be iterated in JavaScript', 'use .all, .exists, .map or .filter');
  const changing = refuse('cannot be changed', 'expressions only read; use .mutate to change an object');
  return new Proxy(target, {
    get: (_, name) => {
      if (name === recorded) return { node, recorder } satisfies Recorded;
      if (name === Symbol.toPrimitive) return (hint: string) => refusePrimitive(node, hint);
      if (name === Symbol.iterator) return iterating;
      if (typeof name === 'symbol') return undefined;
      refuseUnknown(node);
      recorder?.used(node);
      return celProxy(fieldOf(node, name), recorder, call);
    },
    apply: (_, __, args: readonly unknown[]) => {
      if (node.op !== 'select') throw new CelCompileError(`${renderCel(node)} is not a function`);
      recorder?.used(node);
      return call(recorder, node.of, node.field, args);
    },
    has: refuse('cannot be searched with "in"', 'use .has() on the field, or .has(key) on a map'),
    ownKeys: refuse('cannot be spread or enumerated', 'name its fields, or use .all and .map'),
    set: changing,
    deleteProperty: changing,
    defineProperty: changing,
    construct: refuse('is not a constructor', 'expressions only read'),
  });
}

function refusePrimitive(node: CelNode, hint: string): never {
  const text = renderCel(node);
  const remedy =
    hint === 'string'
      ? 'use concat(…) to build a string, and .get(key) for a key'
      : hint === 'number'
        ? 'use .gt, .gte, .lt, .lte, .minus, .times, .div or .mod'
        : 'use .equals, .plus or concat(…)';
  throw new CelCompileError(`${text} is used with a JavaScript operator, which cannot be compiled; ${remedy}`);
}

/** A field of an expression, with what the schema knows about it. */
function fieldOf(of: CelNode, field: string): CelNode {
  const schema = schemaOf(of);
  if (schema?.additionalProperties !== undefined && schema.properties === undefined) {
    // A member of a map: there is no method of that name in the end.
    return selectNode(of, field, { optional: true, schema: schema.additionalProperties, trusted: trustedOf(of) });
  }
  const own =
    schema?.properties === undefined ? undefined : (getOwn(schema.properties, field) as StructuralSchema | undefined);
  const trusted = trustedOf(of);
  const isRoot = of.op === 'name' && (of.isComplete === true || (of.isObject === true && field === 'metadata'));
  const isRequired = own !== undefined && trusted && isAlwaysThere(schema as StructuralSchema, field, own);
  const isOpen = schema?.properties === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const isUnknown = own === undefined && !isOpen;
  return selectNode(of, field, { optional: !isRoot && !isRequired, schema: own, trusted, isUnknown });
}

function refuseUnknown(node: CelNode): void {
  if (node.op !== 'select' || node.isUnknown !== true) return;
  const known = Object.keys(schemaOf(node.of)?.properties ?? {}).join(', ');
  throw new CelCompileError(`${renderCel(node)}: the schema has no such field; ${renderCel(node.of)} has ${known}`);
}

function isAlwaysThere({ required = [] }: StructuralSchema, field: string, own: StructuralSchema): boolean {
  return (required.includes(field) || own.default !== undefined) && own.nullable !== true;
}

/** The schema of a value, as far as one is known. */
export function schemaOf(node: CelNode): StructuralSchema | undefined {
  if (node.op === 'name' || node.op === 'select' || node.op === 'index') return node.schema;
  return node.op === 'loop' && node.macro === 'filter' ? schemaOf(node.of) : undefined;
}

export function trustedOf(node: CelNode): boolean {
  if (node.op === 'name' || node.op === 'select' || node.op === 'index') return node.trusted;
  return node.op === 'loop' && node.macro === 'filter' && trustedOf(node.of);
}

/** A member of a map or list. */
export function memberOf(of: CelNode, key: CelNode, optional: boolean): CelNode {
  const schema = schemaOf(of);
  const inner = schema?.items ?? schema?.additionalProperties;
  return indexNode(of, key, { optional, schema: inner, trusted: trustedOf(of) });
}

/** A value of JavaScript, or an expression, as a node that becomes part of another one. */
export function toNode(value: unknown, recorder: Recorder | undefined, where: string): CelNode {
  const known = recordedOf(value);
  if (known !== undefined) {
    if (recorder !== undefined && known.recorder !== undefined && known.recorder !== recorder) {
      throw new CelCompileError(`${where}: ${renderCel(known.node)} belongs to another function`);
    }
    refuseUnknown(known.node);
    known.recorder?.used(known.node);
    return known.node;
  }
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
    case 'boolean':
      return literal(value);
    case 'object': {
      if (value === null) return literal(null);
      if (Array.isArray(value)) return listNode(value.map((item) => toNode(item, recorder, where)));
      const proto: unknown = Object.getPrototypeOf(value);
      if (proto !== Object.prototype && proto !== null) break;
      return mapNode(Object.entries(value).map(([key, item]) => [key, toNode(item, recorder, where)] as const));
    }
  }
  const shown =
    typeof value === 'function'
      ? 'a function'
      : typeof value === 'object'
        ? `a ${value?.constructor.name}`
        : String(value);
  throw new CelCompileError(
    `${where}: ${shown} is not a value that CEL knows; use strings, numbers, booleans, lists, plain objects or expressions`,
  );
}

/** The recorder of whichever argument has one. */
export function recorderOf(values: readonly unknown[]): Recorder | undefined {
  for (const value of values) {
    const found = recordedOf(value)?.recorder ?? (Array.isArray(value) ? recorderOf(value) : undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}
